//! Values between their JSON form and the library's types, which its own constructors make.

use std::collections::HashMap;
use std::fmt::Display;

use iggy::bytes_serializable::BytesSerializable;
use iggy::header::{HeaderKey, HeaderKind, HeaderValue};
use iggy::identifier::Identifier;
use iggy::messages::send_messages::{Message, Partitioning, SendMessages};
use iggy::models::message::Message as Polled;
use serde_json::{json, Value};
use shared_rust::values::{bytes, hex, list, number, whole};
use shared_rust::Refusal;

type Headers = HashMap<HeaderKey, HeaderValue>;

pub fn tagged(kind: &impl Display, value: &[u8]) -> Value {
    json!({"kind": kind.to_string(), "value": hex(Some(value))})
}

/// The map, in the order of its keys: its own changes from run to run.
pub fn headers(map: Option<&Headers>) -> Vec<Value> {
    let mut entries: Vec<(&HeaderKey, &HeaderValue)> = map.into_iter().flatten().collect();
    entries.sort_by_key(|(key, _)| key.as_str());
    let pair = |(key, value): (&HeaderKey, &HeaderValue)| {
        json!([hex(Some(key.as_str().as_bytes())), tagged(&value.kind, &value.value)])
    };
    entries.into_iter().map(pair).collect()
}

pub fn message(id: u128, map: Option<&Headers>, payload: &[u8]) -> Value {
    json!({"id": number(id), "headers": headers(map), "payload": hex(Some(payload))})
}

pub fn encoded(format: &str, value: &Value) -> Result<Vec<u8>, Refusal> {
    match format {
        "iggy.identifier" => Ok(identifier(value)?.as_bytes()),
        "iggy.partitioning" => Ok(partitioning(value)?.as_bytes()),
        "iggy.headers" => Ok(map(value)?.as_bytes()),
        "iggy.send" => {
            let (stream_id, topic_id) = (identifier(&value["stream"])?, identifier(&value["topic"])?);
            Ok(SendMessages { stream_id, topic_id, ..send(value)? }.as_bytes())
        }
        "iggy.json.send" => serde_json::to_vec(&send(value)?).map_err(Refusal::of),
        _ => {
            let messages: Vec<Polled> = list(value, "messages").iter().map(polled).collect::<Result<_, _>>()?;
            serde_json::to_vec(&messages).map_err(Refusal::of)
        }
    }
}

fn octets(fields: &Value, name: &str) -> Result<Vec<u8>, Refusal> {
    bytes(&fields[name], name)?.ok_or_else(|| Refusal::beyond(name))
}

fn text(data: Vec<u8>, name: &str) -> Result<String, Refusal> {
    String::from_utf8(data).map_err(|_| Refusal::beyond(name))
}

fn u32_of(value: &[u8]) -> Result<u32, Refusal> {
    value.try_into().map(u32::from_le_bytes).map_err(|_| Refusal::beyond("value"))
}

fn identifier(fields: &Value) -> Result<Identifier, Refusal> {
    let value = octets(fields, "value")?;
    match fields["kind"].as_str() {
        Some("numeric") => Identifier::numeric(u32_of(&value)?).map_err(Refusal::of),
        Some("string") => Identifier::named(&text(value, "value")?).map_err(Refusal::of),
        _ => Err(Refusal::beyond("kind")),
    }
}

fn partitioning(fields: &Value) -> Result<Partitioning, Refusal> {
    let value = octets(fields, "value")?;
    match fields["kind"].as_str() {
        Some("balanced") if value.is_empty() => Ok(Partitioning::balanced()),
        Some("partition_id") => Ok(Partitioning::partition_id(u32_of(&value)?)),
        Some("messages_key") => Partitioning::messages_key(&value).map_err(Refusal::of),
        Some("balanced") => Err(Refusal::unasked("value")),
        _ => Err(Refusal::beyond("kind")),
    }
}

fn send(value: &Value) -> Result<SendMessages, Refusal> {
    let messages = list(value, "messages").iter().map(sent).collect::<Result<_, _>>()?;
    Ok(SendMessages { partitioning: partitioning(&value["partitioning"])?, messages, ..SendMessages::default() })
}

fn sent(fields: &Value) -> Result<Message, Refusal> {
    let payload = octets(fields, "payload")?;
    let headers = map(fields)?;
    let headers = (!headers.is_empty()).then_some(headers);
    Ok(Message { id: whole(fields, "id")?, length: payload.len() as u32, payload: payload.into(), headers })
}

fn polled(fields: &Value) -> Result<Polled, Refusal> {
    let Message { id, headers, length, payload } = sent(fields)?;
    let (offset, timestamp) = (whole(fields, "offset")?, whole(fields, "timestamp")?);
    Ok(Polled { offset, timestamp, id, headers, length, payload: payload.to_vec() })
}

fn map(fields: &Value) -> Result<Headers, Refusal> {
    let mut headers = Headers::new();
    for pair in list(fields, "headers") {
        let key = bytes(&pair[0], "key")?.ok_or_else(|| Refusal::beyond("key"))?;
        let key = HeaderKey::new(&text(key, "key")?).map_err(Refusal::of)?;
        if headers.insert(key, header(&pair[1])?).is_some() {
            return Err(Refusal::unasked("headers"));
        }
    }
    Ok(headers)
}

/// The constructor of each kind; bytes that are none of its kind cannot be given to it.
fn header(fields: &Value) -> Result<HeaderValue, Refusal> {
    let value = octets(fields, "value")?;
    let kind: HeaderKind = serde_json::from_value(fields["kind"].clone()).map_err(Refusal::of)?;
    macro_rules! of {
        ($number:ty, $make:ident) => {
            HeaderValue::$make(<$number>::from_le_bytes(value[..].try_into().map_err(|_| Refusal::beyond("value"))?))
        };
    }
    let made = match kind {
        HeaderKind::Raw => HeaderValue::from_raw(&value),
        HeaderKind::String => HeaderValue::from_str(&text(value, "value")?),
        HeaderKind::Bool if value == [0] || value == [1] => HeaderValue::from_bool(value == [1]),
        HeaderKind::Bool => return Err(Refusal::beyond("value")),
        HeaderKind::Int8 => of!(i8, from_int8),
        HeaderKind::Int16 => of!(i16, from_int16),
        HeaderKind::Int32 => of!(i32, from_int32),
        HeaderKind::Int64 => of!(i64, from_int64),
        HeaderKind::Int128 => of!(i128, from_int128),
        HeaderKind::Uint8 => of!(u8, from_uint8),
        HeaderKind::Uint16 => of!(u16, from_uint16),
        HeaderKind::Uint32 => of!(u32, from_uint32),
        HeaderKind::Uint64 => of!(u64, from_uint64),
        HeaderKind::Uint128 => of!(u128, from_uint128),
        HeaderKind::Float32 => of!(f32, from_float32),
        HeaderKind::Float64 => of!(f64, from_float64),
    };
    made.map_err(Refusal::of)
}
