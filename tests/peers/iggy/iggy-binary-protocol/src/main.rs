//! iggy_binary_protocol behind the adapter contract: the wire types of Iggy 0.11, as its SDK and its server
//! drive them. It leaves to its callers what a kind of header means, and to the server what a whole send is.

mod making;

use std::io;

use bytes::BytesMut;
use iggy_binary_protocol::requests::messages::{PollMessagesRequest, SendMessagesEncoder};
use iggy_binary_protocol::responses::messages::{PollMessagesResponse, SendMessagesResponse};
use iggy_binary_protocol::{
    encode_user_headers, WireDecode, WireEncode, WireError, WireIdentifier, WirePartitioning, WireUserHeaders, KIND_CONSUMER,
};
use serde_json::{json, Value};
use shared_rust::values::{hex, number};
use shared_rust::{locked_version, serve, Answer, Refusal, Request};

/// By their codes.
const KINDS: [&str; 16] = ["", "raw", "string", "bool", "int8", "int16", "int32", "int64", "int128", "uint8", "uint16",
    "uint32", "uint64", "uint128", "float32", "float64"];
const STRATEGIES: [&str; 6] = ["", "offset", "timestamp", "first", "last", "next"];

/// Parts of an error's text that leave no doubt about the class.
const CLASSES: [(&str, &str); 10] = [
    ("unexpected end of buffer", "truncated"),
    ("invalid utf-8", "bad-utf8"),
    ("unknown discriminant", "bad-kind"),
    ("header kind is 0", "bad-kind"),
    ("reserved bytes must be zero", "reserved-nonzero"),
    ("trailing bytes", "trailing-data"),
    ("do not tile message_count", "count-mismatch"),
    ("odd number of TLV", "truncated"),
    ("too large", "limit-exceeded"),
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
    let polled = ["partition_id", "current_offset", "messages[].checksum", "messages[].id", "messages[].offset",
        "messages[].timestamp", "messages[].origin_timestamp", "messages[].headers", "messages[].payload"];
    let revisions = json!({
        "iggy.headers/0.10": claim(&both, &all), "iggy.identifier/0.8": claim(&both, &all),
        "iggy.partitioning/0.9": claim(&both, &all), "iggy.poll-request/0.10": claim(&both, &all),
        "iggy.send/0.11": claim(&["encode"], &all), "iggy.poll/0.11": claim(&["decode"], &polled),
        "iggy.reply/0.11": claim(&both, &all),
    });
    json!({"protocol": 1, "name": "iggy-binary-protocol", "errors": "coarse", "window": 16, "cost": "fast",
           "version": locked_version(include_str!("../Cargo.lock"), "iggy_binary_protocol"), "revisions": revisions})
}

fn refused(error: WireError) -> Refusal {
    Refusal::of(error)
}

fn decoded(request: &Request) -> Result<(Value, Option<usize>), Refusal> {
    let data = &request.blob[..];
    Ok(match request.format.as_str() {
        "iggy.identifier" => {
            let (one, taken) = WireIdentifier::decode(data).map_err(refused)?;
            (place(&one), Some(taken))
        }
        "iggy.partitioning" => {
            let (one, taken) = WirePartitioning::decode(data).map_err(refused)?;
            (partitioning(&one), Some(taken))
        }
        "iggy.poll-request" => {
            let (one, taken) = PollMessagesRequest::decode(data).map_err(refused)?;
            (asked(&one), Some(taken))
        }
        "iggy.reply" => {
            let (one, taken) = SendMessagesResponse::decode(data).map_err(refused)?;
            let shown = one.confirmations.iter().map(|one| json!({"stream_id": number(one.stream_id),
                "topic_id": number(one.topic_id), "partition_id": number(one.partition_id),
                "base_offset": number(one.base_offset)}));
            (json!({"confirmations": shown.collect::<Vec<_>>()}), Some(taken))
        }
        "iggy.poll" => (polled(data)?, None),
        _ => (json!({"headers": headers(data).map_err(refused)?}), None),
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

fn partitioning(one: &WirePartitioning) -> Value {
    match one {
        WirePartitioning::Balanced => tagged("balanced", &[]),
        WirePartitioning::PartitionId(id) => tagged("partition_id", &id.to_le_bytes()),
        WirePartitioning::MessagesKey(key) => tagged("messages_key", key),
    }
}

fn asked(one: &PollMessagesRequest) -> Value {
    let kind = if one.consumer.kind == KIND_CONSUMER { "consumer" } else { "group" };
    let strategy = STRATEGIES.get(one.strategy.kind as usize).copied().unwrap_or("unknown");
    json!({"consumer": {"kind": kind, "id": place(&one.consumer.id)}, "stream": place(&one.stream_id),
           "topic": place(&one.topic_id), "partition_id": one.partition_id.map(number),
           "strategy": {"kind": strategy, "value": number(one.strategy.value)}, "count": number(one.count),
           "auto_commit": one.auto_commit})
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

/// The messages up to the first error, and that; a block of headers that does not read as one is shown as it came.
fn polled(data: &[u8]) -> Result<Value, Refusal> {
    let response = PollMessagesResponse::decode(data).map_err(refused)?;
    let mut value = json!({"partition_id": number(response.header.partition_id),
        "current_offset": number(response.header.current_offset), "messages": []});
    for one in response.messages {
        let one = one.map_err(|error| refused(error))?;
        let block = headers(one.user_headers).map_or_else(|_| hex(Some(one.user_headers)), Value::from);
        let shown = json!({"checksum": number(one.checksum), "id": number(one.id), "offset": number(one.offset),
            "timestamp": number(one.timestamp), "origin_timestamp": number(one.origin_timestamp), "headers": block,
            "payload": hex(Some(one.payload))});
        value["messages"].as_array_mut().map(|messages| messages.push(shown));
    }
    Ok(value)
}

fn encoded(format: &str, value: &Value) -> Result<Vec<u8>, Refusal> {
    let mut buffer = BytesMut::new();
    match format {
        "iggy.identifier" => making::place(value)?.encode(&mut buffer),
        "iggy.partitioning" => making::partitioning(value)?.encode(&mut buffer),
        "iggy.poll-request" => making::request(value)?.encode(&mut buffer),
        "iggy.reply" => making::reply(value)?.encode(&mut buffer),
        "iggy.headers" => encode_user_headers(&making::borrowed(&making::headers(value)?), &mut buffer),
        _ => {
            let (stream, topic) = (making::place(&value["stream"])?, making::place(&value["topic"])?);
            let (key, messages) = (making::partitioning(&value["partitioning"])?, making::messages(value)?);
            let raw: Vec<_> = messages.iter().map(making::Message::raw).collect();
            SendMessagesEncoder::encode(&mut buffer, &stream, &topic, &key, &raw).map_err(refused)?;
        }
    }
    Ok(buffer.to_vec())
}
