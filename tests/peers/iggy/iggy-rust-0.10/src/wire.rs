// From 0.10 on the wire types of iggy_binary_protocol write and read, as the clients and the server of that edition
// have them do; the types of the crate are made of them and into them.

use bytes::BytesMut;
use iggy::wire_conversions::{
    consumer_to_wire, identifier_to_wire, partitioning_to_wire, polling_strategy_to_wire, user_headers_from_wire,
    user_headers_to_wire,
};
use wire_0_10::codec::{WireDecode, WireEncode};
use wire_0_10::primitives::partitioning::WirePartitioning;
use wire_0_10::requests::messages::{PollMessagesRequest, RawMessage, SendMessagesEncoder, SendMessagesHeader};
use wire_0_10::{WireIdentifier, WireUserHeaders};

type Read = Result<(Value, Option<usize>), Refusal>;

fn named(one: &WireIdentifier) -> Value {
    match one {
        WireIdentifier::Numeric(id) => tagged("numeric", &id.to_le_bytes()),
        WireIdentifier::String(name) => tagged("string", name.as_bytes()),
    }
}

fn place_read(data: Bytes) -> Read {
    let (one, taken) = WireIdentifier::decode(&data).map_err(Refusal::of)?;
    Ok((named(&one), Some(taken)))
}

fn place_written(one: &Identifier) -> Result<Vec<u8>, Refusal> {
    Ok(identifier_to_wire(one).map_err(Refusal::of)?.to_bytes().into())
}

fn partitioning_read(data: Bytes) -> Read {
    let (one, taken) = WirePartitioning::decode(&data).map_err(Refusal::of)?;
    Ok((chosen(&one), Some(taken)))
}

fn chosen(one: &WirePartitioning) -> Value {
    match one {
        WirePartitioning::Balanced => tagged("balanced", &[]),
        WirePartitioning::PartitionId(id) => tagged("partition_id", &id.to_le_bytes()),
        WirePartitioning::MessagesKey(key) => tagged("messages_key", key),
    }
}

fn partitioning_written(one: &Partitioning) -> Result<Vec<u8>, Refusal> {
    Ok(partitioning_to_wire(one).map_err(Refusal::of)?.to_bytes().into())
}

fn headers_read(data: Bytes) -> Result<Headers, Refusal> {
    user_headers_from_wire(&WireUserHeaders::from_bytes(data).map_err(Refusal::of)?).map_err(Refusal::of)
}

fn headers_written(map: &Headers) -> Vec<u8> {
    user_headers_to_wire(map).into_bytes().into()
}

fn request_read(data: Bytes) -> Read {
    let (one, taken) = PollMessagesRequest::decode(&data).map_err(Refusal::of)?;
    let consumer = ConsumerKind::from_code(one.consumer.kind).map_err(Refusal::of)?;
    let strategy = PollingKind::from_code(one.strategy.kind).map_err(Refusal::of)?;
    let kind = if consumer == ConsumerKind::Consumer { "consumer" } else { "group" };
    let shown = json!({"consumer": {"kind": kind, "id": named(&one.consumer.id)}, "stream": named(&one.stream_id),
        "topic": named(&one.topic_id), "partition_id": partition_shown(one.partition_id),
        "strategy": {"kind": strategy.to_string(), "value": number(one.strategy.value)},
        "count": number(one.count), "auto_commit": one.auto_commit});
    Ok((shown, Some(taken)))
}

fn request_written(value: &Value) -> Result<Vec<u8>, Refusal> {
    let request = PollMessagesRequest {
        consumer: consumer_to_wire(&consumer_of(&value["consumer"])?).map_err(Refusal::of)?,
        stream_id: identifier_to_wire(&place_of(&value["stream"])?).map_err(Refusal::of)?,
        topic_id: identifier_to_wire(&place_of(&value["topic"])?).map_err(Refusal::of)?,
        partition_id: partition(value)?,
        strategy: polling_strategy_to_wire(&strategy_of(&value["strategy"])?),
        count: whole(value, "count")?,
        auto_commit: value["auto_commit"] == true,
    };
    Ok(request.to_bytes().into())
}

fn send_written(
    stream: &Identifier,
    topic: &Identifier,
    partitioning: &Partitioning,
    messages: &[IggyMessage],
) -> Result<Vec<u8>, Refusal> {
    let (stream, topic) = (identifier_to_wire(stream), identifier_to_wire(topic));
    let (stream, topic) = (stream.map_err(Refusal::of)?, topic.map_err(Refusal::of)?);
    let partitioning = partitioning_to_wire(partitioning).map_err(Refusal::of)?;
    let raw: Vec<RawMessage<'_>> = messages.iter().map(raw).collect();
    let mut buffer = BytesMut::new();
    SendMessagesEncoder::encode(&mut buffer, &stream, &topic, &partitioning, &raw);
    Ok(buffer.to_vec())
}

fn raw(one: &IggyMessage) -> RawMessage<'_> {
    let (id, origin_timestamp) = (one.header.id, one.header.origin_timestamp);
    RawMessage { id, origin_timestamp, headers: one.user_headers.as_deref(), payload: &one.payload }
}

/// What stands before the messages of a send, and their count.
fn metadata(data: &[u8]) -> Result<(Value, usize), Refusal> {
    let (head, _) = SendMessagesHeader::decode(data).map_err(Refusal::of)?;
    let shown = json!({"stream": named(&head.stream_id), "topic": named(&head.topic_id),
        "partitioning": chosen(&head.partitioning)});
    Ok((shown, head.messages_count as usize))
}
