// Compiled once for each edition, inside a module that names its crate `iggy` and says what differs.

use std::io;

use bytes::Bytes;
use iggy::{
    Consumer, ConsumerKind, HeaderKey, HeaderKind, HeaderValue, Identifier, IggyMessage, IggyMessageHeader,
    IggyMessagesBatch, Partitioning, PolledMessages, PollingKind, SendMessages, Validatable,
};
use serde_json::{json, Value};
use shared_rust::values::{bytes, hex, list, number, whole};
use shared_rust::{serve, Answer, Refusal, Request};

use crate::aside::aside;
use crate::Revisions;

pub fn main() -> io::Result<()> {
    serve(hello(), &crate::CLASSES, |request| match request.op.as_str() {
        "decode" => aside(|| decoded(request)),
        "encode" => aside(|| encoded(&request.format, &request.value)).map(Answer::Bytes),
        _ => Ok(Answer::Unsupported),
    })
}

fn hello() -> Value {
    let claim = |ops: &[&str]| json!({"ops": ops, "profiles": ["reader"], "observes": ["*"]});
    let both = claim(&["decode", "encode"]);
    let revisions: serde_json::Map<String, Value> = [
        ("iggy.headers", REVISIONS.headers, both.clone()),
        ("iggy.identifier", REVISIONS.identifier, both.clone()),
        ("iggy.partitioning", REVISIONS.partitioning, both.clone()),
        ("iggy.poll-request", REVISIONS.request, both.clone()),
        ("iggy.send", REVISIONS.message, claim(&SEND)),
        ("iggy.poll", REVISIONS.message, claim(&["decode"])), // the writer is a panic
        ("iggy.json.send", REVISIONS.json_send, both.clone()),
        ("iggy.json.poll", REVISIONS.json_poll, both),
    ]
    .into_iter()
    .map(|(format, revision, claim)| (format!("{format}/{revision}"), claim))
    .collect();
    let name = format!("iggy-rust-{}", REVISION.trim_end_matches(".0"));
    json!({"protocol": 1, "name": name, "errors": "coarse", "window": 16, "cost": "fast", "version": REVISION, // pinned
           "revisions": revisions})
}

fn decoded(request: &Request) -> Result<Answer, Refusal> {
    let data = Bytes::copy_from_slice(&request.blob);
    let (value, taken) = match request.format.as_str() {
        "iggy.identifier" => place_read(data)?,
        "iggy.partitioning" => partitioning_read(data)?,
        "iggy.poll-request" => request_read(data)?,
        "iggy.headers" => (json!({"headers": headers(&headers_read(data)?)}), None),
        "iggy.send" => (send_read(&data)?, None),
        "iggy.poll" => (polled(&PolledMessages::from_bytes(data).map_err(Refusal::of)?), None),
        "iggy.json.send" => {
            let command: SendMessages = serde_json::from_slice(&data).map_err(Refusal::of)?;
            command.validate().map_err(Refusal::of)?; // as the server does with the body of a request
            (sent(&command), None)
        }
        _ => (polled(&serde_json::from_slice(&data).map_err(Refusal::of)?), None),
    };
    Ok(Answer::Value(value, taken))
}

fn encoded(format: &str, value: &Value) -> Result<Vec<u8>, Refusal> {
    match format {
        "iggy.identifier" => place_written(&place_of(value)?),
        "iggy.partitioning" => partitioning_written(&partitioning_of(value)?),
        "iggy.poll-request" => request_written(value),
        "iggy.headers" => Ok(headers_written(&headers_of(value)?)),
        "iggy.send" => {
            let (stream, topic) = (place_of(&value["stream"])?, place_of(&value["topic"])?);
            let messages = list(value, "messages").iter().map(sent_of).collect::<Result<Vec<_>, _>>()?;
            send_written(&stream, &topic, &partitioning_of(&value["partitioning"])?, &messages)
        }
        "iggy.json.send" => {
            let messages = list(value, "messages").iter().map(sent_of).collect::<Result<Vec<_>, _>>()?;
            let (partitioning, batch) = (partitioning_of(&value["partitioning"])?, IggyMessagesBatch::from(&messages));
            serde_json::to_vec(&SendMessages { partitioning, batch, ..SendMessages::default() }).map_err(Refusal::of)
        }
        _ => serde_json::to_vec(&poll_of(value)?).map_err(Refusal::of),
    }
}

fn tagged(kind: &str, value: &[u8]) -> Value {
    json!({"kind": kind, "value": hex(Some(value))})
}

/// The map, in the order of its keys: its own may change from run to run.
fn headers(map: &Headers) -> Vec<Value> {
    let mut entries: Vec<(&HeaderKey, &HeaderValue)> = map.iter().collect();
    entries.sort_by_key(|(key, _)| order(key));
    entries.into_iter().map(|(key, value)| entry(key, value)).collect()
}

/// What an accessor returns; null where it refuses the bytes.
fn digits<T: ToString, E>(found: Result<T, E>) -> Value {
    found.map_or(Value::Null, |number| json!(number.to_string()))
}

fn with_number(mut shown: Value, number: Value) -> Value {
    shown["typed"] = number;
    shown
}

/// What the accessor makes of a block; one that it makes nothing of is shown as it came.
fn block(map: Option<Headers>, raw: Option<&[u8]>) -> Value {
    map.map_or_else(|| raw.map_or_else(|| json!([]), |raw| hex(Some(raw))), |map| headers(&map).into())
}

/// A send; in JSON the stream and the topic stand in the path of the request.
fn sent(command: &SendMessages) -> Value {
    let one = |one: iggy::IggyMessageView<'_>| {
        let map = one.user_headers_map().ok().flatten();
        json!({"id": number(one.header().id()), "headers": block(map, one.user_headers()), "payload": hex(Some(one.payload()))})
    };
    let partitioning = tagged(&command.partitioning.kind.to_string(), &command.partitioning.value);
    json!({"partitioning": partitioning, "messages": command.batch.iter().map(one).collect::<Vec<_>>()})
}

fn polled(polled: &PolledMessages) -> Value {
    let one = |one: &IggyMessage| {
        let (head, map) = (&one.header, one.user_headers_map().ok().flatten());
        json!({"checksum": number(head.checksum), "id": number(head.id), "offset": number(head.offset),
               "timestamp": number(head.timestamp), "origin_timestamp": number(head.origin_timestamp),
               "headers": block(map, one.user_headers.as_deref()), "payload": hex(Some(&one.payload))})
    };
    json!({"partition_id": number(polled.partition_id), "current_offset": number(polled.current_offset),
           "messages": polled.messages.iter().map(one).collect::<Vec<_>>()})
}
