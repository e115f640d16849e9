//! Requests that wait, codes 106 and 109, and the reply to 109, by the library's types.

use iggy_binary_protocol::requests::messages::{DeferredPollMessagesRequest, FetchMessagesRequest, FetchMessagesTarget};
use iggy_binary_protocol::responses::messages::{FetchMessagesResponse, FetchMessagesSection};
use iggy_binary_protocol::WireDecode;
use serde_json::{json, Value};
use shared_rust::values::{list, number, whole};
use shared_rust::Refusal;

use crate::{asked, consumer, making, place, records, refused, strategy};

type Shown = Result<(Value, Option<usize>), Refusal>;

pub fn deferred(data: &[u8]) -> Shown {
    let (one, taken) = DeferredPollMessagesRequest::decode(data).map_err(refused)?;
    let mut value = asked(&one.poll);
    value["wait_us"] = number(one.wait_us);
    value["min_count"] = number(one.min_count);
    value["max_bytes"] = number(one.max_bytes);
    value["request_timeout_us"] = number(one.request_timeout_us);
    Ok((value, Some(taken)))
}

pub fn fetch(data: &[u8]) -> Shown {
    let (one, taken) = FetchMessagesRequest::decode(data).map_err(refused)?;
    let targets: Vec<_> = one.targets.iter().map(target).collect();
    let value = json!({"consumer": consumer(&one.consumer), "stream": place(&one.stream_id),
        "topic": place(&one.topic_id), "wait_us": number(one.wait_us),
        "request_timeout_us": number(one.request_timeout_us), "min_count": number(one.min_count),
        "count": number(one.count), "max_bytes": number(one.max_bytes), "auto_commit": one.auto_commit,
        "targets": targets});
    Ok((value, Some(taken)))
}

fn target(one: &FetchMessagesTarget) -> Value {
    json!({"partition_id": number(one.partition_id), "strategy": strategy(&one.strategy),
           "max_bytes": number(one.max_bytes), "incarnation": number(one.incarnation),
           "owner_generation": number(one.owner_generation)})
}

/// The sections of a reply; the library gives their records as bytes, which are read as those of a poll.
pub fn sections(data: &[u8]) -> Result<Value, Refusal> {
    let reply = FetchMessagesResponse::decode(data).map_err(refused)?;
    let shown = reply.sections.iter().map(section).collect::<Result<Vec<_>, _>>()?;
    Ok(json!({"sections": shown}))
}

fn section(one: &FetchMessagesSection<'_>) -> Result<Value, Refusal> {
    let (head, (batches, messages)) = (one.header, records(one.records)?);
    Ok(json!({"partition_id": number(head.partition_id), "status": number(head.status),
        "current_offset": number(head.current_offset), "incarnation": number(head.context.incarnation),
        "owner_generation": number(head.context.owner_generation), "metadata_op": number(head.context.metadata_op),
        "next_offset": number(head.next_offset), "batches": batches, "messages": messages}))
}

pub fn deferred_of(value: &Value) -> Result<DeferredPollMessagesRequest, Refusal> {
    Ok(DeferredPollMessagesRequest {
        poll: making::request(value)?,
        wait_us: whole(value, "wait_us")?,
        min_count: whole(value, "min_count")?,
        max_bytes: whole(value, "max_bytes")?,
        request_timeout_us: whole(value, "request_timeout_us")?,
    })
}

/// The request, checked as the library asks of a sender that builds one.
pub fn fetch_of(value: &Value) -> Result<FetchMessagesRequest, Refusal> {
    let request = FetchMessagesRequest {
        consumer: making::consumer(&value["consumer"])?,
        stream_id: making::place(&value["stream"])?,
        topic_id: making::place(&value["topic"])?,
        wait_us: whole(value, "wait_us")?,
        request_timeout_us: whole(value, "request_timeout_us")?,
        min_count: whole(value, "min_count")?,
        count: whole(value, "count")?,
        max_bytes: whole(value, "max_bytes")?,
        auto_commit: value["auto_commit"] == true,
        targets: list(value, "targets").iter().map(target_of).collect::<Result<_, _>>()?,
    };
    request.validate().map_err(refused)?;
    Ok(request)
}

fn target_of(fields: &Value) -> Result<FetchMessagesTarget, Refusal> {
    Ok(FetchMessagesTarget {
        partition_id: whole(fields, "partition_id")?,
        strategy: making::strategy(&fields["strategy"])?,
        max_bytes: whole(fields, "max_bytes")?,
        incarnation: whole(fields, "incarnation")?,
        owner_generation: whole(fields, "owner_generation")?,
    })
}
