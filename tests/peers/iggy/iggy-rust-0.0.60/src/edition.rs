// Compiled once for each edition, inside a module that names its crate `iggy` and says what differs.

use std::collections::HashMap;
use std::io;

use header::{HeaderKey, HeaderKind, HeaderValue};
use iggy::bytes_serializable::BytesSerializable;
use iggy::client::{Client, MessageClient};
use iggy::consumer::{Consumer, ConsumerKind};
use iggy::http::client::HttpClient;
use iggy::identifier::Identifier;
use iggy::messages::poll_messages::{PollMessages, PollingStrategy};
use iggy::messages::send_messages::{Message, Partitioning, SendMessages};
use iggy::tcp::client::TcpClient;
use iggy::validatable::Validatable;
use serde_json::{json, Value};
use shared_rust::values::{bytes, hex, list, number, whole};
use shared_rust::{serve, Answer, Refusal, Request};

type Headers = HashMap<HeaderKey, HeaderValue>;

pub fn main() -> io::Result<()> {
    let server = crate::server::Server::new()?;
    let web = crate::web::Web::new(&server.runtime)?;
    let over_http = HttpClient::new(&web.address).map_err(io::Error::other)?;
    serve(hello(), &crate::CLASSES, |request| match (request.op.as_str(), request.format.as_str()) {
        ("decode", "iggy.poll") => {
            server.serve(&request.blob);
            let polled = server.runtime.block_on(polled_at(&server.address));
            Ok(Answer::Value(poll_shown(&polled?), None))
        }
        ("decode", "iggy.json.poll") => {
            web.serve(&request.blob);
            let polled = server.runtime.block_on(over_http.poll_messages(&PollMessages::default()));
            Ok(Answer::Value(poll_shown(&polled.map_err(Refusal::of)?), None))
        }
        ("encode", "iggy.json.send") => {
            let mut command = send_of(&request.value)?;
            server.runtime.block_on(over_http.send_messages(&mut command)).map_err(Refusal::of)?;
            Ok(Answer::Bytes(web.posted()))
        }
        ("decode", _) => decoded(request),
        ("encode", _) => encoded(&request.format, &request.value).map(Answer::Bytes),
        _ => Ok(Answer::Unsupported),
    })
}

/// On a connection of its own: the client of 0.0.40 leaves a body of one byte unread, and what it reads next
/// would begin there.
async fn polled_at(address: &str) -> Result<Poll, Refusal> {
    let mut client = TcpClient::new(address).map_err(Refusal::of)?;
    client.connect().await.map_err(Refusal::of)?;
    client.poll_messages(&PollMessages::default()).await.map_err(Refusal::of)
}

fn hello() -> Value {
    let claim = |ops: &[&str], profiles: &[&str]| json!({"ops": ops, "profiles": profiles, "observes": ["*"]});
    let both = ["decode", "encode"];
    let mut revisions = json!({
        "iggy.identifier/0.0.30": claim(&both, &["reader"]), "iggy.partitioning/0.0.30": claim(&both, &["reader"]),
        "iggy.headers/0.0.30": claim(&both, &["reader"]), "iggy.poll-request/0.0.30": claim(&both, &["reader"]),
        "iggy.send/0.0.30": claim(&both, &["reader", "produce"]), // one reader, the server's
        "iggy.json.send/0.0.30": claim(&both, &["reader"]),
    });
    revisions[format!("iggy.poll/{REVISION}")] = claim(&["decode"], &["reader"]);
    revisions[format!("iggy.json.poll/{REVISION}")] = claim(&both, &["reader"]);
    json!({"protocol": 1, "name": format!("iggy-rust-{REVISION}"), "errors": "coarse", "window": 16, "cost": "fast",
           "version": REVISION, "revisions": revisions}) // the manifest pins it
}

fn decoded(request: &Request) -> Result<Answer, Refusal> {
    let data = &request.blob[..];
    let (value, taken) = match request.format.as_str() {
        "iggy.identifier" => {
            let one = Identifier::from_bytes(data).map_err(Refusal::of)?;
            (place(&one), Some(one.get_size_bytes() as usize))
        }
        "iggy.partitioning" => {
            let one = Partitioning::from_bytes(data).map_err(Refusal::of)?;
            (tagged(&one.kind.to_string(), &one.value), Some(one.get_size_bytes() as usize))
        }
        "iggy.headers" => (json!({"headers": headers(&Headers::from_bytes(data).map_err(Refusal::of)?)}), None),
        "iggy.poll-request" => (request_shown(&PollMessages::from_bytes(data).map_err(Refusal::of)?), None),
        "iggy.send" => {
            let command = SendMessages::from_bytes(data).map_err(Refusal::of)?;
            let mut value = sent(&command);
            (value["stream"], value["topic"]) = (place(&command.stream_id), place(&command.topic_id));
            (value, None)
        }
        _ => {
            let command: SendMessages = serde_json::from_slice(data).map_err(Refusal::of)?;
            command.validate().map_err(Refusal::of)?; // as the server does with the body of a request
            (sent(&command), None)
        }
    };
    Ok(Answer::Value(value, taken))
}

fn encoded(format: &str, value: &Value) -> Result<Vec<u8>, Refusal> {
    match format {
        "iggy.identifier" => Ok(place_of(value)?.as_bytes()),
        "iggy.partitioning" => Ok(partitioning_of(value)?.as_bytes()),
        "iggy.headers" => Ok(headers_of(value)?.as_bytes()),
        "iggy.poll-request" => Ok(request_of(value)?.as_bytes()),
        "iggy.send" => {
            let (stream_id, topic_id) = (place_of(&value["stream"])?, place_of(&value["topic"])?);
            Ok(SendMessages { stream_id, topic_id, ..send_of(value)? }.as_bytes())
        }
        _ => {
            let one = |fields| polled(fields, message_of(fields)?);
            let messages = list(value, "messages").iter().map(one).collect::<Result<_, _>>()?;
            serde_json::to_vec(&poll_of(value, messages)?).map_err(Refusal::of)
        }
    }
}

fn tagged(kind: &str, value: &[u8]) -> Value {
    json!({"kind": kind, "value": hex(Some(value))})
}

fn place(one: &Identifier) -> Value {
    tagged(&one.kind.to_string(), &one.value)
}

/// The map, in the order of its keys: its own changes from run to run.
fn headers(map: &Headers) -> Vec<Value> {
    let mut entries: Vec<(&HeaderKey, &HeaderValue)> = map.iter().collect();
    entries.sort_by_key(|(key, _)| key.as_str());
    let pair = |(key, one): (&HeaderKey, &HeaderValue)| {
        let mut value = tagged(&one.kind.to_string(), &one.value);
        value["typed"] = typed(one);
        json!([hex(Some(key.as_str().as_bytes())), value])
    };
    entries.into_iter().map(pair).collect()
}

/// What the accessor of the kind returns; null where it refuses the bytes.
fn typed(one: &HeaderValue) -> Value {
    match one.kind {
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

fn digits<T: ToString, E>(found: Result<T, E>) -> Value {
    found.map_or(Value::Null, |number| json!(number.to_string()))
}

fn message(id: u128, map: &Option<Headers>, payload: &[u8]) -> Value {
    json!({"id": number(id), "headers": map.as_ref().map(headers).unwrap_or_default(), "payload": hex(Some(payload))})
}

/// A send; in JSON the stream and the topic stand in the path of the request.
fn sent(command: &SendMessages) -> Value {
    let messages = command.messages.iter().map(|one| message(one.id, &one.headers, &one.payload));
    let partitioning = tagged(&command.partitioning.kind.to_string(), &command.partitioning.value);
    json!({"partitioning": partitioning, "messages": messages.collect::<Vec<_>>()})
}

fn poll_shown(polled: &Poll) -> Value {
    let (mut value, messages) = poll(polled);
    let one = |one: &Polled| {
        let mut value = message(one.id, &one.headers, &one.payload);
        (value["offset"], value["timestamp"]) = (number(one.offset), number(one.timestamp));
        shown(one, &mut value);
        value
    };
    value["messages"] = messages.iter().map(one).collect();
    value
}

fn request_shown(one: &PollMessages) -> Value {
    let kind = if one.consumer.kind == ConsumerKind::Consumer { "consumer" } else { "group" };
    json!({"consumer": {"kind": kind, "id": number(one.consumer.id)}, "stream": place(&one.stream_id),
           "topic": place(&one.topic_id), "partition_id": number(PARTITION_SHOWN(one.partition_id)),
           "strategy": {"kind": one.strategy.kind.to_string(), "value": number(one.strategy.value)},
           "count": number(one.count), "auto_commit": one.auto_commit})
}
include!("making.rs");
