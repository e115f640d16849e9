//! iggy_binary_protocol of a pre-release behind the adapter contract: what 0.11.1-edge changes on the wire.
//! A segment file is a sequence of its batches, each verified; frames are its headers, read from their bytes.

mod making;
mod waiting;

use std::io;

use bytemuck::checked::try_pod_read_unaligned;
use bytes::BytesMut;
use iggy_binary_protocol::batch::{decode_batch_slice, BatchHeader, BatchMessageView, BATCH_HEADER_SIZE};
use iggy_binary_protocol::primitives::consumer::KIND_EXTERNAL_GROUP;
use iggy_binary_protocol::requests::messages::{PollMessagesRequest, SendMessagesEncoder};
use iggy_binary_protocol::responses::messages::poll_messages::{PolledBatchesIterator, POLL_RESPONSE_HEADER_SIZE};
use iggy_binary_protocol::responses::messages::PollMessagesResponse;
use iggy_binary_protocol::{
    read_size_field, ConsensusHeader, EvictionHeader, ReplyHeader, RequestHeader, WireConsumer, WireDecode, WireEncode, WireError,
    WireIdentifier, WirePollingStrategy, WireUserHeaders, HEADER_SIZE, KIND_CONSUMER,
};
use serde_json::{json, Value};
use shared_rust::values::{hex, number};
use shared_rust::{locked_version, serve, Answer, Refusal, Request};

/// By their codes.
const KINDS: [&str; 16] = ["", "raw", "string", "bool", "int8", "int16", "int32", "int64", "int128", "uint8", "uint16",
    "uint32", "uint64", "uint128", "float32", "float64"];
const STRATEGIES: [&str; 6] = ["", "offset", "timestamp", "first", "last", "next"];

/// Parts of an error's text that leave no doubt about the class.
const CLASSES: [(&str, &str); 9] = [
    ("unexpected end of buffer", "truncated"),
    ("unknown discriminant", "bad-kind"),
    ("header kind is 0", "bad-kind"),
    ("reserved bytes must be zero", "reserved-nonzero"),
    ("producer section is malformed", "reserved-nonzero"),
    ("trailing bytes", "trailing-data"),
    ("do not tile message_count", "count-mismatch"),
    ("checksum", "crc-mismatch"),
    ("validation failed", "bad-length"),
];

fn main() -> io::Result<()> {
    serve(hello(), &CLASSES, |request| match request.op.as_str() {
        "decode" => decoded(request).map(|(value, taken)| Answer::Value(value, taken)),
        "encode" => encoded(&request.format, &request.value).map(Answer::Bytes),
        _ => Ok(Answer::Unsupported),
    })
}

fn hello() -> Value {
    let claim = |ops: &[&str], observes: &[&str]| json!({"ops": ops, "profiles": ["reader"], "observes": observes});
    let (both, all) = (["decode", "encode"], []);
    let revisions = json!({
        "iggy.poll-request/0.11.1-edge": claim(&both, &all),
        "iggy.deferred-poll-request/0.11.1-edge": claim(&both, &all),
        "iggy.fetch-request/0.11.1-edge": claim(&both, &all), "iggy.fetch/0.11.1-edge": claim(&["decode"], &all),
        "iggy.send/0.11.1-edge": claim(&["encode"], &all),
        "iggy.poll/0.11.1-edge": claim(&["decode"], &all), "iggy.log/0.11.1-edge": claim(&["decode"], &all),
        "iggy.frame/0.11.1-edge": claim(&["decode"], &all),
    });
    json!({"protocol": 1, "name": "iggy-binary-protocol-edge", "errors": "coarse", "window": 16, "cost": "fast",
           "version": locked_version(include_str!("../Cargo.lock"), "iggy_binary_protocol"), "revisions": revisions})
}

fn refused(error: WireError) -> Refusal {
    Refusal::of(error)
}

fn decoded(request: &Request) -> Result<(Value, Option<usize>), Refusal> {
    let data = &request.blob[..];
    Ok(match request.format.as_str() {
        "iggy.poll-request" => {
            let (one, taken) = PollMessagesRequest::decode(data).map_err(refused)?;
            (asked(&one), Some(taken))
        }
        "iggy.deferred-poll-request" => waiting::deferred(data)?,
        "iggy.fetch-request" => waiting::fetch(data)?,
        "iggy.fetch" => (waiting::sections(data)?, None),
        "iggy.frame" => framed(data)?,
        "iggy.log" => logged(data)?,
        _ => (polled(data)?, None),
    })
}

fn tagged(kind: &str, value: &[u8]) -> Value {
    json!({"kind": kind, "value": hex(Some(value))})
}

fn place(one: &WireIdentifier) -> Value {
    match one {
        WireIdentifier::Numeric(id) => tagged("numeric", &id.to_le_bytes()),
        WireIdentifier::String(name) => tagged("string", name.as_bytes()),
    }
}

fn asked(one: &PollMessagesRequest) -> Value {
    json!({"consumer": consumer(&one.consumer), "stream": place(&one.stream_id),
           "topic": place(&one.topic_id), "partition_id": one.partition_id.map(number),
           "strategy": strategy(&one.strategy), "count": number(one.count), "auto_commit": one.auto_commit})
}

fn consumer(one: &WireConsumer) -> Value {
    let kind = match one.kind {
        KIND_CONSUMER => "consumer",
        KIND_EXTERNAL_GROUP => "external_group",
        _ => "group",
    };
    json!({"kind": kind, "id": place(&one.id)})
}

fn strategy(one: &WirePollingStrategy) -> Value {
    let kind = STRATEGIES.get(one.kind as usize).copied().unwrap_or("unknown");
    json!({"kind": kind, "value": number(one.value)})
}

/// The block as the map that it is, by its keys; the library keeps the order of the wire, and what comes twice.
fn headers(data: &[u8]) -> Result<Vec<Value>, WireError> {
    let block = WireUserHeaders::from_slice(data)?;
    let mut entries: Vec<_> = block.iter().collect();
    entries.sort_by_key(|one| (one.key_kind.0, one.key));
    let kind = |code: u8| KINDS.get(code as usize).map_or_else(|| code.to_string(), |name| name.to_string());
    let pair = |one| -> Value {
        let iggy_binary_protocol::WireUserHeaderEntry { key_kind, key, value_kind, value } = one;
        json!([tagged(&kind(key_kind.0), key), tagged(&kind(value_kind.0), value)])
    };
    Ok(entries.into_iter().map(pair).collect())
}

/// The fields that a batch header has in every value.
fn head(one: &BatchHeader) -> Value {
    let producer = one.producer.map(|one| json!({"producer_id": number(one.producer_id()),
        "epoch": number(one.epoch()), "base_sequence": number(one.base_sequence())}));
    json!({"partition_id": number(one.partition_id), "base_offset": number(one.base_offset),
           "base_timestamp": number(one.base_timestamp), "origin_timestamp": number(one.origin_timestamp),
           "producer": producer, "batch_checksum": number(one.batch_checksum)})
}

fn message(batch: &BatchHeader, one: &BatchMessageView<'_>) -> Value {
    let block = headers(one.user_headers).map_or_else(|_| hex(Some(one.user_headers)), Value::from);
    let late = u64::from(one.header.timestamp_delta);
    json!({"checksum": number(one.header.checksum), "id": number(one.header.id),
           "offset_delta": number(one.header.offset_delta), "timestamp_delta": number(late), "headers": block,
           "payload": hex(Some(one.payload)),
           "offset": number(batch.base_offset.wrapping_add(u64::from(one.header.offset_delta))),
           "timestamp": number(batch.base_timestamp),
           "origin_timestamp": number(batch.origin_timestamp.wrapping_add(late))})
}

/// The batches of a whole response.
fn polled(data: &[u8]) -> Result<Value, Refusal> {
    let response = PollMessagesResponse::decode(data).map_err(refused)?;
    let context = response.header.context;
    let (batches, messages) = records(&data[POLL_RESPONSE_HEADER_SIZE..])?;
    Ok(json!({"partition_id": number(response.header.partition_id),
        "current_offset": number(response.header.current_offset), "incarnation": number(context.incarnation),
        "owner_generation": number(context.owner_generation), "metadata_op": number(context.metadata_op),
        "batches": batches, "messages": messages}))
}

/// The headers of the batches of a response, and all their messages; the reader of the library walks them first,
/// for their errors.
fn records(mut rest: &[u8]) -> Result<(Vec<Value>, Vec<Value>), Refusal> {
    for one in PolledBatchesIterator::new(rest) {
        one.map_err(refused)?;
    }
    let (mut batches, mut messages) = (Vec::new(), Vec::new());
    while !rest.is_empty() {
        let header = BatchHeader::decode(rest).map_err(refused)?;
        let batch = iggy_binary_protocol::batch::BatchRef::new(header, &rest[BATCH_HEADER_SIZE..header.total_size()]);
        messages.extend(batch.iter().map(|one| message(&header, &one)));
        let mut shown = head(&header);
        shown["message_count"] = number(header.message_count);
        batches.push(shown);
        rest = &rest[header.total_size()..];
    }
    Ok((batches, messages))
}

/// The whole batches of a file; its tail, if one is cut, is left.
fn logged(data: &[u8]) -> Result<(Value, Option<usize>), Refusal> {
    let (mut at, mut batches) = (0, Vec::new());
    while data.len() - at >= BATCH_HEADER_SIZE {
        let shown = |batches: &[Value]| json!({"batches": batches});
        let refused = |error: WireError, batches: &[Value]| Refusal::of(error).after(shown(batches));
        let header = BatchHeader::decode(&data[at..]).map_err(|error| refused(error, &batches))?;
        if data.len() - at < header.total_size() {
            break;
        }
        let batch = decode_batch_slice(&data[at..]).map_err(|error| refused(error, &batches))?;
        let mut one = head(&header);
        one["messages"] = batch.iter().map(|one| message(&header, &one)).collect();
        batches.push(one);
        at += header.total_size();
    }
    Ok((json!({"batches": batches}), Some(at)))
}

/// A frame by the headers of the library: they are records of plain bytes.
fn framed(data: &[u8]) -> Result<(Value, Option<usize>), Refusal> {
    let head = data.get(..HEADER_SIZE).ok_or_else(|| Refusal::of("unexpected end of buffer"))?;
    let size = read_size_field(head).map_or(0, |size| size as usize);
    let body = if size < HEADER_SIZE { Err("validation failed: size") } else { Ok(&data[HEADER_SIZE..]) };
    let body = body.map_err(Refusal::of)?.get(..size - HEADER_SIZE);
    let body = body.ok_or_else(|| Refusal::of("unexpected end of buffer"))?;
    let shown = header(head).ok_or_else(|| Refusal::of("unknown discriminant"))?;
    Ok((json!({"header": shown, "body": hex(Some(body))}), Some(size)))
}

/// A header of known codes that the library's own check takes.
fn read<H: ConsensusHeader>(head: &[u8]) -> Option<H> {
    try_pod_read_unaligned::<H>(head).ok().filter(|one| one.validate().is_ok())
}

fn header(head: &[u8]) -> Option<Value> {
    match head[60] {
        5 => read::<RequestHeader>(head).map(|one| json!({"client": number(one.client),
            "request_checksum": number(one.request_checksum), "timestamp": number(one.timestamp),
            "request": number(one.request), "operation": number(one.operation as u8),
            "session": number(one.session), "user_id": number(one.user_id),
            "code": number(u32::from_le_bytes(one.reserved)),
            "partition_incarnation": number(one.partition_incarnation),
            "owner_generation": number(one.owner_generation),
            "minimum_metadata_op": number(one.minimum_metadata_op)})),
        8 => read::<ReplyHeader>(head).map(|one| json!({"client": number(one.client),
            "request_checksum": number(one.request_checksum), "context": number(one.context),
            "op": number(one.op), "commit": number(one.commit), "timestamp": number(one.timestamp),
            "request": number(one.request), "operation": number(one.operation as u8),
            "status": number(one.status), "committed_result": number(one.reserved[0]),
            "partition_incarnation": number(one.partition_incarnation)})),
        13 => read::<EvictionHeader>(head).map(|one| json!({"client": number(one.client),
            "server_protocol_version": number(one.server_protocol_version),
            "server_protocol_version_min": number(one.server_protocol_version_min),
            "reason": number(one.reason as u8)})),
        _ => None,
    }
}

fn encoded(format: &str, value: &Value) -> Result<Vec<u8>, Refusal> {
    let mut buffer = BytesMut::new();
    match format {
        "iggy.poll-request" => making::request(value)?.encode(&mut buffer),
        "iggy.deferred-poll-request" => waiting::deferred_of(value)?.encode(&mut buffer),
        "iggy.fetch-request" => waiting::fetch_of(value)?.encode(&mut buffer),
        _ => send(value, &mut buffer)?,
    }
    Ok(buffer.to_vec())
}

fn send(value: &Value, buffer: &mut BytesMut) -> Result<(), Refusal> {
    let (stream, topic) = (making::place(&value["stream"])?, making::place(&value["topic"])?);
    let (key, messages) = (making::partitioning(&value["partitioning"])?, making::messages(value)?);
    let (raw, producer) = (messages.iter().map(making::Message::raw).collect::<Vec<_>>(), making::producer(value)?);
    SendMessagesEncoder::encode_with_producer(buffer, &stream, &topic, &key, producer, &raw).map_err(refused)
}
