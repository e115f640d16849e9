// To 0.9 the types write and read themselves: `BytesSerializable`.

use iggy::{BytesSerializable, IdKind, PollMessages, Sizeable};

type Read = Result<(Value, Option<usize>), Refusal>;

fn size(one: &impl Sizeable) -> Option<usize> {
    Some(one.get_size_bytes().as_bytes_usize())
}

fn place(one: &Identifier) -> Value {
    tagged(if one.kind == IdKind::Numeric { "numeric" } else { "string" }, &one.value)
}

fn place_read(data: Bytes) -> Read {
    let one = Identifier::from_bytes(data).map_err(Refusal::of)?;
    Ok((place(&one), size(&one)))
}

fn place_written(one: &Identifier) -> Result<Vec<u8>, Refusal> {
    Ok(one.to_bytes().into())
}

fn partitioning_read(data: Bytes) -> Read {
    let one = Partitioning::from_bytes(data).map_err(Refusal::of)?;
    Ok((tagged(&one.kind.to_string(), &one.value), size(&one)))
}

fn partitioning_written(one: &Partitioning) -> Result<Vec<u8>, Refusal> {
    Ok(one.to_bytes().into())
}

fn headers_read(data: Bytes) -> Result<Headers, Refusal> {
    Headers::from_bytes(data).map_err(Refusal::of)
}

fn headers_written(map: &Headers) -> Vec<u8> {
    map.to_bytes().into()
}

fn request_read(data: Bytes) -> Read {
    let one = PollMessages::from_bytes(data).map_err(Refusal::of)?;
    one.validate().map_err(Refusal::of)?; // as the server does with each command
    let kind = if one.consumer.kind == ConsumerKind::Consumer { "consumer" } else { "group" };
    let shown = json!({"consumer": {"kind": kind, "id": place(&one.consumer.id)}, "stream": place(&one.stream_id),
        "topic": place(&one.topic_id), "partition_id": partition_shown(one.partition_id),
        "strategy": {"kind": one.strategy.kind.to_string(), "value": number(one.strategy.value)},
        "count": number(one.count), "auto_commit": one.auto_commit});
    Ok((shown, None))
}

fn request_written(value: &Value) -> Result<Vec<u8>, Refusal> {
    let (stream, topic) = (place_of(&value["stream"])?, place_of(&value["topic"])?);
    let (consumer, strategy) = (consumer_of(&value["consumer"])?, strategy_of(&value["strategy"])?);
    let (count, commit) = (whole(value, "count")?, value["auto_commit"] == true);
    Ok(PollMessages::bytes(&stream, &topic, partition(value)?, &consumer, &strategy, count, commit).into())
}

fn send_written(
    stream: &Identifier,
    topic: &Identifier,
    partitioning: &Partitioning,
    messages: &[IggyMessage],
) -> Result<Vec<u8>, Refusal> {
    Ok(SendMessages::bytes(stream, topic, partitioning, messages).into())
}

/// What stands before the messages of a send, and their count; to 0.8 nothing asks for it.
#[allow(dead_code)]
fn metadata(data: &[u8]) -> Result<(Value, usize), Refusal> {
    let stream = Identifier::from_raw_bytes(data).map_err(Refusal::of)?;
    let mut at = size(&stream).unwrap_or_default();
    let topic = Identifier::from_raw_bytes(&data[at..]).map_err(Refusal::of)?;
    at += size(&topic).unwrap_or_default();
    let partitioning = Partitioning::from_raw_bytes(&data[at..]).map_err(Refusal::of)?;
    at += size(&partitioning).unwrap_or_default();
    let shown = tagged(&partitioning.kind.to_string(), &partitioning.value);
    let count = data.get(at..at + 4).ok_or_else(|| Refusal::of("the metadata ends inside the count of messages"))?;
    Ok((json!({"stream": place(&stream), "topic": place(&topic), "partitioning": shown}), u32_of(count)? as usize))
}
