//! iggy 0.0.30 behind the adapter contract: its byte-serialisable types as they are, JSON by their serde forms,
//! and a poll by its TCP client, which alone reaches the reader of messages, from a server on the loopback.

mod poll;
mod values;

use std::io;

use iggy::bytes_serializable::BytesSerializable;
use iggy::header::{HeaderKey, HeaderValue};
use iggy::identifier::Identifier;
use iggy::messages::send_messages::{Partitioning, SendMessages};
use iggy::models::message::Message as Polled;
use iggy::validatable::Validatable;
use serde_json::{json, Value};
use shared_rust::{locked_version, serve, Answer, Refusal, Request};
use std::collections::HashMap;

/// Parts of an error's text that leave no doubt about the class; most faults are an invalid command.
const CLASSES: [(&str, &str); 8] = [
    ("Too big message payload", "limit-exceeded"),
    ("Too big headers payload", "limit-exceeded"),
    ("Empty message payload", "bad-length"),
    ("Invalid messages count", "count-mismatch"),
    ("Invalid key value length", "bad-length"),
    ("missing field", "missing-field"),
    ("duplicate field", "duplicate-field"),
    ("EOF while parsing", "bad-json"),
];

fn main() -> io::Result<()> {
    let mut poll = poll::Poll::new()?;
    serve(hello(), &CLASSES, |request| match (request.op.as_str(), request.format.as_str()) {
        ("decode", "iggy.poll") => Ok(whole(json!({"messages": messages(&poll.answered(&request.blob)?)}))),
        ("decode", _) => decoded(request),
        ("encode", _) => values::encoded(&request.format, &request.value).map(Answer::Bytes),
        _ => Ok(Answer::Unsupported),
    })
}

fn hello() -> Value {
    let claim = |ops: &[&str], profiles: &[&str]| json!({"ops": ops, "profiles": profiles});
    let both = ["decode", "encode"];
    let revisions = json!({
        "iggy.identifier/0.0.30": claim(&both, &["reader"]), "iggy.partitioning/0.0.30": claim(&both, &["reader"]),
        "iggy.headers/0.0.30": claim(&both, &["reader"]), "iggy.poll/0.0.30": claim(&["decode"], &["reader"]),
        "iggy.send/0.0.30": claim(&both, &["reader", "produce"]), // one reader, the server's
        "iggy.json.send/0.0.30": claim(&both, &["reader"]), "iggy.json.poll/0.0.30": claim(&both, &["reader"]),
    });
    json!({"protocol": 1, "name": "iggy-rust-0.0.30", "errors": "coarse", "window": 16, "cost": "fast",
           "version": locked_version(include_str!("../Cargo.lock"), "iggy"), "revisions": revisions})
}

/// A value of which the library does not say how many bytes it took.
fn whole(value: Value) -> Answer {
    Answer::Value(value, None)
}

fn decoded(request: &Request) -> Result<Answer, Refusal> {
    let data = &request.blob[..];
    Ok(match request.format.as_str() {
        "iggy.identifier" => {
            let identifier = Identifier::from_bytes(data).map_err(Refusal::of)?;
            let taken = identifier.get_size_bytes() as usize;
            Answer::Value(values::tagged(&identifier.kind, &identifier.value), Some(taken))
        }
        "iggy.partitioning" => {
            let partitioning = Partitioning::from_bytes(data).map_err(Refusal::of)?;
            let taken = partitioning.get_size_bytes() as usize;
            Answer::Value(values::tagged(&partitioning.kind, &partitioning.value), Some(taken))
        }
        "iggy.headers" => {
            let headers = HashMap::<HeaderKey, HeaderValue>::from_bytes(data).map_err(Refusal::of)?;
            whole(json!({"headers": values::headers(Some(&headers))}))
        }
        "iggy.send" => whole(sent(&SendMessages::from_bytes(data).map_err(Refusal::of)?, true)),
        "iggy.json.send" => {
            let command: SendMessages = serde_json::from_slice(data).map_err(Refusal::of)?;
            command.validate().map_err(Refusal::of)?; // as the server does with the body of a request
            whole(sent(&command, false))
        }
        "iggy.json.poll" => {
            let polled: Vec<Polled> = serde_json::from_slice(data).map_err(Refusal::of)?;
            whole(json!({"messages": messages(&polled)}))
        }
        _ => Answer::Unsupported,
    })
}

/// A send; in JSON the stream and the topic stand in the path of the request.
fn sent(command: &SendMessages, placed: bool) -> Value {
    let messages = command.messages.iter().map(|one| values::message(one.id, one.headers.as_ref(), &one.payload));
    let partitioning = values::tagged(&command.partitioning.kind, &command.partitioning.value);
    let mut value = json!({"partitioning": partitioning, "messages": messages.collect::<Vec<_>>()});
    if placed {
        value["stream"] = values::tagged(&command.stream_id.kind, &command.stream_id.value);
        value["topic"] = values::tagged(&command.topic_id.kind, &command.topic_id.value);
    }
    value
}

fn messages(polled: &[Polled]) -> Vec<Value> {
    let shown = |one: &Polled| {
        let mut value = values::message(one.id, one.headers.as_ref(), &one.payload);
        value["offset"] = shared_rust::values::number(one.offset);
        value["timestamp"] = shared_rust::values::number(one.timestamp);
        value
    };
    polled.iter().map(shown).collect()
}
