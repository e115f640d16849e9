//! Of values in their JSON form, the library's types, by the library's own constructors.

use bytes::BytesMut;
use iggy_binary_protocol::batch::BatchProducer;
use iggy_binary_protocol::requests::messages::{PollMessagesRequest, RawMessage};
use iggy_binary_protocol::{encode_user_headers, WireConsumer, WireIdentifier, WirePartitioning, WirePollingStrategy};
use serde_json::Value;
use shared_rust::values::{bytes, list, whole};
use shared_rust::Refusal;

use crate::{KINDS, STRATEGIES};

type Entry = (u8, Vec<u8>, u8, Vec<u8>);

pub struct Message {
    id: u128,
    origin_timestamp: u64,
    headers: Vec<u8>,
    payload: Vec<u8>,
}

impl Message {
    pub fn raw(&self) -> RawMessage<'_> {
        let headers = (!self.headers.is_empty()).then_some(&self.headers[..]);
        RawMessage { id: self.id, origin_timestamp: self.origin_timestamp, headers, payload: &self.payload }
    }
}

fn octets(fields: &Value, name: &str) -> Result<Vec<u8>, Refusal> {
    bytes(&fields[name], name)?.ok_or_else(|| Refusal::beyond(name))
}

fn u32_of(value: &[u8]) -> Result<u32, Refusal> {
    value.try_into().map(u32::from_le_bytes).map_err(|_| Refusal::beyond("value"))
}

fn code(names: &[&str], kind: &Value) -> Result<u8, Refusal> {
    let at = names.iter().position(|name| !name.is_empty() && kind == name).ok_or_else(|| Refusal::beyond("kind"))?;
    Ok(at as u8)
}

pub fn place(fields: &Value) -> Result<WireIdentifier, Refusal> {
    let value = octets(fields, "value")?;
    match fields["kind"].as_str() {
        Some("numeric") => Ok(WireIdentifier::numeric(u32_of(&value)?)),
        Some("string") => {
            let name = String::from_utf8(value).map_err(|_| Refusal::beyond("value"))?;
            WireIdentifier::named(name).map_err(Refusal::of)
        }
        _ => Err(Refusal::beyond("kind")),
    }
}

pub fn partitioning(fields: &Value) -> Result<WirePartitioning, Refusal> {
    let value = octets(fields, "value")?;
    match fields["kind"].as_str() {
        Some("balanced") if value.is_empty() => Ok(WirePartitioning::Balanced),
        Some("balanced") => Err(Refusal::beyond("value")), // there is no place for one
        Some("partition_id") => Ok(WirePartitioning::PartitionId(u32_of(&value)?)),
        Some("messages_key") => WirePartitioning::messages_key(value).map_err(Refusal::of),
        _ => Err(Refusal::beyond("kind")),
    }
}

pub fn consumer(fields: &Value) -> Result<WireConsumer, Refusal> {
    let id = place(&fields["id"])?;
    Ok(match fields["kind"].as_str() {
        Some("group") => WireConsumer::consumer_group(id),
        Some("external_group") => WireConsumer::external_group(id),
        _ => WireConsumer::consumer(id),
    })
}

pub fn strategy(fields: &Value) -> Result<WirePollingStrategy, Refusal> {
    Ok(WirePollingStrategy { kind: code(&STRATEGIES, &fields["kind"])?, value: whole(fields, "value")? })
}

pub fn request(value: &Value) -> Result<PollMessagesRequest, Refusal> {
    let partition_id = if value["partition_id"].is_null() { None } else { Some(whole(value, "partition_id")?) };
    Ok(PollMessagesRequest {
        consumer: consumer(&value["consumer"])?,
        stream_id: place(&value["stream"])?,
        topic_id: place(&value["topic"])?,
        partition_id,
        strategy: strategy(&value["strategy"])?,
        count: whole(value, "count")?,
        auto_commit: value["auto_commit"] == true,
    })
}

pub fn producer(value: &Value) -> Result<Option<BatchProducer>, Refusal> {
    let fields = &value["producer"];
    if fields.is_null() {
        return Ok(None);
    }
    let (id, epoch) = (whole(fields, "producer_id")?, whole(fields, "epoch")?);
    let made = BatchProducer::new(id, epoch, whole(fields, "base_sequence")?);
    made.map(Some).ok_or_else(|| Refusal::beyond("producer"))
}

pub fn headers(value: &Value) -> Result<Vec<Entry>, Refusal> {
    let pair = |pair: &Value| -> Result<_, Refusal> {
        let (key, value) = (&pair[0], &pair[1]);
        Ok((code(&KINDS, &key["kind"])?, octets(key, "value")?, code(&KINDS, &value["kind"])?, octets(value, "value")?))
    };
    list(value, "headers").iter().map(pair).collect()
}

pub fn borrowed(entries: &[Entry]) -> Vec<(u8, &[u8], u8, &[u8])> {
    entries.iter().map(|(kind, key, other, value)| (*kind, &key[..], *other, &value[..])).collect()
}

pub fn messages(value: &Value) -> Result<Vec<Message>, Refusal> {
    list(value, "messages").iter().map(message).collect()
}

fn message(fields: &Value) -> Result<Message, Refusal> {
    let headers = if let Some(block) = bytes(&fields["headers"], "headers")? {
        block
    } else {
        let mut block = BytesMut::new();
        encode_user_headers(&borrowed(&headers(fields)?), &mut block);
        block.to_vec()
    };
    let (id, origin_timestamp) = (whole(fields, "id")?, whole(fields, "origin_timestamp")?);
    Ok(Message { id, origin_timestamp, headers, payload: octets(fields, "payload")? })
}
