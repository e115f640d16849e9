//! The crate iggy_common 0.11 behind the adapter contract: the reply to a send over HTTP, as the server writes it
//! and the HTTP client reads it, by its serde form. What else the crates of 0.11 have is in iggy-binary-protocol.

use std::io;

use iggy_common::{SendMessagesConfirmationResponse, SendMessagesConfirmations, SendMessagesResponse};
use serde_json::{json, Value};
use shared_rust::values::{list, number, whole};
use shared_rust::{locked_version, serve, Answer, Refusal};

/// Parts of an error's text that leave no doubt about the class.
const CLASSES: [(&str, &str); 4] = [
    ("missing field", "missing-field"),
    ("duplicate field", "duplicate-field"),
    ("invalid type", "type-mismatch"),
    ("EOF while parsing", "bad-json"),
];

fn main() -> io::Result<()> {
    serve(hello(), &CLASSES, |request| match request.op.as_str() {
        "decode" => decoded(&request.blob).map(|value| Answer::Value(value, None)),
        "encode" => encoded(&request.value).map(Answer::Bytes),
        _ => Ok(Answer::Unsupported),
    })
}

fn hello() -> Value {
    let claim = json!({"ops": ["decode", "encode"], "profiles": ["reader"], "observes": []});
    json!({"protocol": 1, "name": "iggy-rust-0.11", "errors": "coarse", "window": 16, "cost": "fast",
           "version": locked_version(include_str!("../Cargo.lock"), "iggy_common"),
           "revisions": {"iggy.json.reply/0.11": claim}})
}

/// Before it reads JSON, the HTTP client takes a body of no bytes for no confirmations, in a function that cannot
/// be called from here.
fn decoded(data: &[u8]) -> Result<Value, Refusal> {
    if data.is_empty() {
        return Err(Refusal::unasked("an empty body: the HTTP client reads it"));
    }
    let read: SendMessagesConfirmations = serde_json::from_slice(data).map_err(Refusal::of)?;
    let shown = SendMessagesResponse::from(read).confirmations.into_iter().map(|one| json!({
        "stream_id": number(one.stream_id), "topic_id": number(one.topic_id),
        "partition_id": number(one.partition_id), "base_offset": number(one.base_offset)}));
    Ok(json!({"confirmations": shown.collect::<Vec<_>>()}))
}

fn encoded(value: &Value) -> Result<Vec<u8>, Refusal> {
    let confirmations = list(value, "confirmations").iter().map(confirmation).collect::<Result<_, _>>()?;
    let written = SendMessagesConfirmations::from(SendMessagesResponse { confirmations });
    serde_json::to_vec(&written).map_err(Refusal::of)
}

fn confirmation(fields: &Value) -> Result<SendMessagesConfirmationResponse, Refusal> {
    Ok(SendMessagesConfirmationResponse {
        stream_id: whole(fields, "stream_id")?,
        topic_id: whole(fields, "topic_id")?,
        partition_id: whole(fields, "partition_id")?,
        base_offset: whole(fields, "base_offset")?,
    })
}
