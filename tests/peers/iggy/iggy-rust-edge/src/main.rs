//! The crates iggy and iggy_common of a pre-release behind the adapter contract: a poll by the HTTP client, from a
//! server on the loopback that has the path of deferred polls alone, and a send as the server reads it and the HTTP
//! client writes it, by its serde form.

mod web;

use std::io;
use std::sync::Arc;

use bytes::Bytes;
use iggy::prelude::{
    Consumer, HeaderKey, HeaderKind, HeaderValue, HttpClient, HttpClientConfig, Identifier, IggyMessage,
    IggyMessageHeader, MessageClient, PartitionContext, Partitioning, PollOptions, PolledMessages, PollingStrategy,
    SendMessages, Validatable,
};
use iggy_common::wire_conversions::user_headers_to_wire;
use iggy_common::{HeaderField, IggyMessagesBatch, IggyMessageView, UserHeaders};
use serde_json::{json, Value};
use shared_rust::values::{bytes, hex, list, number, whole};
use shared_rust::{locked_version, serve, Answer, Refusal};
use tokio::runtime::{Builder, Runtime};

use web::Web;

/// Parts of an error's text that leave no doubt about the class.
const CLASSES: [(&str, &str); 5] = [
    ("Too big message payload", "limit-exceeded"),
    ("Too big headers payload", "limit-exceeded"),
    ("Invalid messages count", "count-mismatch"),
    ("duplicate field", "duplicate-field"),
    ("EOF while parsing", "bad-json"),
];

fn main() -> io::Result<()> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let web = Web::new(&runtime)?;
    let config = HttpClientConfig { api_url: web.address.clone(), jwt: Some("token".into()), ..Default::default() };
    let client = HttpClient::create(Arc::new(config)).map_err(io::Error::other)?;
    serve(hello(), &CLASSES, |request| match (request.op.as_str(), request.format.as_str()) {
        ("decode", "iggy.json.poll") => {
            web.serve(&request.blob);
            poll(&runtime, &client).map(|value| Answer::Value(value, None))
        }
        ("decode", _) => sent(&request.blob).map(|value| Answer::Value(value, None)),
        ("encode", "iggy.json.poll") => written(&poll_of(&request.value)?),
        ("encode", _) => written(&send_of(&request.value)?),
        _ => Ok(Answer::Unsupported),
    })
}

fn hello() -> Value {
    let claim = json!({"ops": ["decode", "encode"], "profiles": ["reader"], "observes": ["*"]});
    json!({"protocol": 1, "name": "iggy-rust-edge", "errors": "coarse", "window": 16, "cost": "fast",
           "version": locked_version(include_str!("../Cargo.lock"), "iggy_common"),
           "revisions": {"iggy.json.send/0.11.1-edge": claim, "iggy.json.poll/0.11.1-edge": claim}})
}

fn written(one: &impl serde::Serialize) -> Result<Answer, Refusal> {
    serde_json::to_vec(one).map(Answer::Bytes).map_err(Refusal::of)
}

fn poll(runtime: &Runtime, client: &HttpClient) -> Result<Value, Refusal> {
    let place = Identifier::numeric(1).map_err(Refusal::of)?;
    let (consumer, strategy) = (Consumer::default(), PollingStrategy::first());
    let call = client.poll_messages(&place, &place, 1, &consumer, &strategy, PollOptions::default());
    let polled = runtime.block_on(call).map_err(Refusal::of)?;
    let one = |one: &IggyMessage| {
        let (head, map) = (&one.header, one.user_headers_map().ok().flatten());
        json!({"checksum": number(head.checksum), "id": number(head.id), "offset": number(head.offset),
               "timestamp": number(head.timestamp), "origin_timestamp": number(head.origin_timestamp),
               "headers": block(map, one.user_headers.as_deref()), "payload": hex(Some(&one.payload))})
    };
    Ok(json!({"context": context(&polled.context()), "partition_id": number(polled.partition_id),
              "current_offset": number(polled.current_offset),
              "messages": polled.messages.iter().map(one).collect::<Vec<_>>()}))
}

fn sent(data: &[u8]) -> Result<Value, Refusal> {
    let command: SendMessages = serde_json::from_slice(data).map_err(Refusal::of)?;
    command.validate().map_err(Refusal::of)?; // as the server does with the body of a request
    let one = |one: IggyMessageView<'_>| {
        let map = one.user_headers_map().ok().flatten();
        json!({"id": number(one.header().id()), "headers": block(map, one.user_headers()),
               "payload": hex(Some(one.payload()))})
    };
    let partitioning = tagged(&command.partitioning.kind.to_string(), &command.partitioning.value);
    Ok(json!({"partitioning": partitioning, "messages": command.batch.iter().map(one).collect::<Vec<_>>(),
              "context": command.context.as_ref().map(context)}))
}

fn context(one: &PartitionContext) -> Value {
    json!({"incarnation": number(one.incarnation), "owner_generation": number(one.owner_generation),
           "metadata_op": number(one.metadata_op)})
}

fn tagged(kind: &str, value: &[u8]) -> Value {
    json!({"kind": kind, "value": hex(Some(value))})
}

/// What the accessor makes of a block; one that it makes nothing of is shown as it came.
fn block(map: Option<UserHeaders>, raw: Option<&[u8]>) -> Value {
    let field = |kind: HeaderKind, value: &[u8], typed: Value| {
        let mut shown = tagged(&kind.to_string(), value);
        shown["typed"] = typed;
        shown
    };
    map.map_or_else(
        || raw.map_or_else(|| json!([]), |raw| hex(Some(raw))),
        |map| {
            map.iter()
                .map(|(key, one)| {
                    json!([field(key.kind(), key.as_bytes(), typed(key)), field(one.kind(), one.as_bytes(), typed(one))])
                })
                .collect()
        },
    )
}

/// What the accessor of its kind returns; null where it refuses the bytes.
fn typed<T>(one: &HeaderField<T>) -> Value {
    fn digits<T: ToString, E>(found: Result<T, E>) -> Value {
        found.map_or(Value::Null, number)
    }
    match one.kind() {
        HeaderKind::Raw | HeaderKind::String => Value::Null,
        HeaderKind::Bool => one.as_bool().map_or(Value::Null, Value::Bool),
        HeaderKind::Int8 => digits(one.as_int8()),
        HeaderKind::Int16 => digits(one.as_int16()),
        HeaderKind::Int32 => digits(one.as_int32()),
        HeaderKind::Int64 => digits(one.as_int64()),
        HeaderKind::Int128 => digits(one.as_int128()),
        HeaderKind::Uint8 => digits(one.as_uint8()),
        HeaderKind::Uint16 => digits(one.as_uint16()),
        HeaderKind::Uint32 => digits(one.as_uint32()),
        HeaderKind::Uint64 => digits(one.as_uint64()),
        HeaderKind::Uint128 => digits(one.as_uint128()),
        HeaderKind::Float32 => digits(one.as_float32()),
        HeaderKind::Float64 => digits(one.as_float64()),
    }
}

// --- of values in their JSON form, the library's types, by the library's own constructors ---

fn octets(fields: &Value, name: &str) -> Result<Vec<u8>, Refusal> {
    bytes(&fields[name], name)?.ok_or_else(|| Refusal::beyond(name))
}

fn partitioning_of(fields: &Value) -> Result<Partitioning, Refusal> {
    let value = octets(fields, "value")?;
    match fields["kind"].as_str() {
        Some("balanced") if value.is_empty() => Ok(Partitioning::balanced()),
        Some("balanced") => Err(Refusal::unasked("value")),
        Some("partition_id") => {
            let id = value[..].try_into().map_err(|_| Refusal::beyond("value"))?;
            Ok(Partitioning::partition_id(u32::from_le_bytes(id)))
        }
        Some("messages_key") => Partitioning::messages_key(&value).map_err(Refusal::of),
        _ => Err(Refusal::beyond("kind")),
    }
}

fn context_of(fields: &Value) -> Result<PartitionContext, Refusal> {
    Ok(PartitionContext {
        incarnation: whole(fields, "incarnation")?,
        owner_generation: whole(fields, "owner_generation")?,
        metadata_op: whole(fields, "metadata_op")?,
    })
}

/// The constructor of bytes of a kind; bytes that are none of its kind are not given to it.
fn field_of<T>(fields: &Value) -> Result<HeaderField<T>, Refusal> {
    let value = octets(fields, "value")?;
    let kind: HeaderKind = serde_json::from_value(fields["kind"].clone()).map_err(|_| Refusal::beyond("kind"))?;
    let size = match kind {
        HeaderKind::Raw => None,
        HeaderKind::String => {
            std::str::from_utf8(&value).map_err(|_| Refusal::beyond("value"))?;
            None
        }
        HeaderKind::Bool if value == [0] || value == [1] => None,
        HeaderKind::Bool => return Err(Refusal::beyond("value")),
        HeaderKind::Int8 | HeaderKind::Uint8 => Some(1),
        HeaderKind::Int16 | HeaderKind::Uint16 => Some(2),
        HeaderKind::Int32 | HeaderKind::Uint32 | HeaderKind::Float32 => Some(4),
        HeaderKind::Int64 | HeaderKind::Uint64 | HeaderKind::Float64 => Some(8),
        HeaderKind::Int128 | HeaderKind::Uint128 => Some(16),
    };
    if size.is_some_and(|size| size != value.len()) {
        return Err(Refusal::beyond("value"));
    }
    HeaderField::from_raw(kind, &value).map_err(Refusal::of)
}

fn headers_of(value: &Value) -> Result<UserHeaders, Refusal> {
    let mut headers = UserHeaders::new();
    for pair in list(value, "headers") {
        let (key, one): (HeaderKey, HeaderValue) = (field_of(&pair[0])?, field_of(&pair[1])?);
        if headers.insert(key, one).is_some() {
            return Err(Refusal::unasked("headers"));
        }
    }
    Ok(headers)
}

/// A block that is no map, such as what an encrypting client makes of one, is put into its field.
fn kept(message: &mut IggyMessage, fields: &Value) -> Result<(), Refusal> {
    if fields["headers"].is_string() {
        let block = octets(fields, "headers")?;
        message.header.user_headers_length = block.len() as u32;
        message.user_headers = Some(block.into());
    }
    Ok(())
}

fn send_of(value: &Value) -> Result<SendMessages, Refusal> {
    let messages = list(value, "messages").iter().map(sent_of).collect::<Result<Vec<_>, _>>()?;
    let command = SendMessages {
        partitioning: partitioning_of(&value["partitioning"])?,
        batch: IggyMessagesBatch::from(&messages),
        context: (!value["context"].is_null()).then(|| context_of(&value["context"])).transpose()?,
        ..SendMessages::default()
    };
    command.validate().map_err(Refusal::of)?;
    Ok(command)
}

fn sent_of(fields: &Value) -> Result<IggyMessage, Refusal> {
    let map = headers_of(fields)?;
    let mut message = IggyMessage::builder()
        .id(whole(fields, "id")?)
        .payload(octets(fields, "payload")?.into())
        .maybe_user_headers((!map.is_empty()).then_some(map))
        .build()
        .map_err(Refusal::of)?;
    kept(&mut message, fields)?;
    Ok(message)
}

fn poll_of(value: &Value) -> Result<PolledMessages, Refusal> {
    let messages = list(value, "messages").iter().map(polled_of).collect::<Result<Vec<_>, _>>()?;
    let (partition_id, current_offset) = (whole(value, "partition_id")?, whole(value, "current_offset")?);
    let context = context_of(&value["context"])?;
    Ok(PolledMessages::new(context, partition_id, current_offset, messages.len() as u32, messages))
}

fn polled_of(fields: &Value) -> Result<IggyMessage, Refusal> {
    let (payload, map) = (octets(fields, "payload")?, headers_of(fields)?);
    let block = (!map.is_empty()).then(|| user_headers_to_wire(&map).into_bytes());
    let header = IggyMessageHeader {
        checksum: whole(fields, "checksum")?,
        id: whole(fields, "id")?,
        offset: whole(fields, "offset")?,
        timestamp: whole(fields, "timestamp")?,
        origin_timestamp: whole(fields, "origin_timestamp")?,
        user_headers_length: block.as_ref().map_or(0, |block| block.len() as u32),
        payload_length: payload.len() as u32,
        ..IggyMessageHeader::default()
    };
    let mut message = IggyMessage { header, payload: payload.into(), user_headers: block.map(Bytes::from) };
    kept(&mut message, fields)?;
    Ok(message)
}
