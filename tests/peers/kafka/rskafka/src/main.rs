//! rskafka behind the adapter contract: a log by the `Records` of a fetch response, a batch by its
//! `RecordBatch`, from the protocol module that its feature `unstable-fuzzing` opens.
//!
//! A log is read whole or not at all. Of a record it shows deltas; the offset and the timestamp that a
//! consumer gets are made of them in `client::partition::extract_records`, which no feature opens, and here
//! in the same way: the first timestamp and the delta, whatever the type of the timestamp.

use std::io::{self, Cursor};

use rskafka::chrono::{TimeZone, Utc};
use rskafka::protocol::primitives::Records;
use rskafka::protocol::record::{
    ControlBatchOrRecords, Record, RecordBatch, RecordBatchCompression, RecordBatchTimestampType, RecordHeader,
};
use rskafka::protocol::traits::{ReadType, WriteType};
use serde_json::{json, Value};
use shared_rust::values::{bytes, check, hex, list, number, whole};
use shared_rust::{heap, locked_version, serve, Answer, Refusal};

const CODECS: [RecordBatchCompression; 5] = [
    RecordBatchCompression::NoCompression, RecordBatchCompression::Gzip, RecordBatchCompression::Snappy,
    RecordBatchCompression::Lz4, RecordBatchCompression::Zstd,
];
const APPEND_TIME: i16 = 0x08;
const TRANSACTIONAL: i16 = 0x10;
const KNOWN: i16 = 0x1f;
const SHOWN: [&str; 16] = [
    "baseOffset", "partitionLeaderEpoch", "lastOffsetDelta", "baseTimestamp", "maxTimestamp", "producerId",
    "producerEpoch", "baseSequence", "records[].offsetDelta", "records[].timestampDelta", "records[].offset",
    "records[].timestamp", "records[].key", "records[].value", "records[].headers",
    "records[].timestampType",
];

/// Parts of an error's text that leave no doubt about the class.
const CLASSES: [(&str, &str); 17] = [
    ("Record batch len too small", "bad-length"),
    ("Invalid magic number", "bad-magic"),
    ("CRC error", "crc-mismatch"),
    ("Invalid compression type", "unknown-codec"),
    ("control record", "bad-control"),
    ("control batch record", "bad-control"),
    ("trailing bytes after RecordBatch", "trailing-data"),
    ("trailing bytes after Record", "length-mismatch"),
    ("Data left in", "trailing-data"),
    ("Unterminated varint", "bad-varint"),
    ("invalid utf-8", "bad-utf8"),
    ("incomplete utf-8", "bad-utf8"),
    ("snappy", "decompress-failed"),
    ("Snappy", "decompress-failed"),
    ("gzip", "decompress-failed"),
    ("deflate", "decompress-failed"),
    ("LZ4 error", "decompress-failed"),
];

fn main() -> io::Result<()> {
    serve(hello(), &CLASSES, |request| match request.op.as_str() {
        _ if request.asks_the_consumer() => Ok(Answer::Unsupported),
        "decode" => decoded(&request.blob),
        "encode" => encoded(&request.value),
        _ => Ok(Answer::Unsupported),
    })
}

fn hello() -> Value {
    let claim = |ops: &[&str], observes: &[&str]| {
        let observes: Vec<_> = observes.iter().map(|name| format!("batches[].{name}")).collect();
        json!({"ops": ops, "codecs": ["none", "gzip", "snappy", "lz4", "zstd"], "profiles": ["reader"],
               "observes": observes, "features": ["headers", "empty-batch", "log-append-time", "delete-horizon",
               "idempotent", "transactional", "control-batch", "partial-tail"]})
    };
    let nothing = json!({"ops": []}); // it supports the latest generation only, it says
    let revisions = json!({"kafka.batch/v0": nothing, "kafka.batch/v1": nothing,
        "kafka.batch/v2": claim(&["encode"], &[]), "kafka.log/mixed": claim(&["decode"], &SHOWN)});
    json!({"protocol": 1, "name": "rskafka", "errors": "coarse", "window": 16, "cost": "fast",
           "version": locked_version(include_str!("../Cargo.lock"), "rskafka"), "revisions": revisions})
}

fn decoded(data: &[u8]) -> Result<Answer, Refusal> {
    let nothing = |text: String| Refusal::of(text).after(json!({"batches": []}));
    let field = [&(data.len() as i32).to_be_bytes(), data].concat();
    let records = Records::read(&mut Cursor::new(field)).map_err(|error| nothing(error.to_string()))?;
    heap::unlimited(|| {
        let batches: Result<Vec<Value>, String> = records.0.iter().map(entry).collect();
        Ok(Answer::Value(json!({"batches": batches.map_err(nothing)?}), None))
    })
}

fn entry(batch: &RecordBatch) -> Result<Value, String> {
    let records: Result<Vec<Value>, String> = match &batch.records {
        ControlBatchOrRecords::ControlBatch(_) => Ok(vec![]), // a type without a record
        ControlBatchOrRecords::Records(records) => records.iter().map(|record| shown(batch, record)).collect(),
    };
    Ok(json!({
        "baseOffset": number(batch.base_offset), "partitionLeaderEpoch": number(batch.partition_leader_epoch),
        "lastOffsetDelta": number(batch.last_offset_delta), "baseTimestamp": number(batch.first_timestamp),
        "maxTimestamp": number(batch.max_timestamp), "producerId": number(batch.producer_id),
        "producerEpoch": number(batch.producer_epoch), "baseSequence": number(batch.base_sequence),
        "records": records?,
    }))
}

fn shown(batch: &RecordBatch, record: &Record) -> Result<Value, String> {
    let timestamp = batch.first_timestamp.checked_add(record.timestamp_delta).ok_or("Timestamp overflow")?;
    Utc.timestamp_millis_opt(timestamp).single().ok_or("Not a valid timestamp")?;
    let headers = record.headers.iter().map(|one| json!([hex(Some(one.key.as_bytes())), hex(Some(&one.value))]));
    let kind = match batch.timestamp_type {
        RecordBatchTimestampType::CreateTime => "create",
        RecordBatchTimestampType::LogAppendTime => "log-append",
    };
    Ok(json!({
        "timestampType": kind,
        "offset": number(batch.base_offset.wrapping_add(record.offset_delta.into())), "timestamp": number(timestamp),
        "offsetDelta": number(record.offset_delta), "timestampDelta": number(record.timestamp_delta),
        "key": hex(record.key.as_deref()), "value": hex(record.value.as_deref()),
        "headers": headers.collect::<Vec<_>>(),
    }))
}

/// A control batch is a type to this library, with no place for what stands in its record.
fn encoded(value: &Value) -> Result<Answer, Refusal> {
    let attributes: i16 = whole(value, "attributes")?;
    let codec = CODECS.get((attributes & 7) as usize).copied();
    check("attributes", attributes & !KNOWN == 0 && codec.is_some())?;
    check("magic", whole::<i8>(value, "magic")? == 2)?;
    let records: Result<Vec<Record>, Refusal> = list(value, "records").iter().map(asked).collect();
    let append_time = attributes & APPEND_TIME != 0;
    let batch = RecordBatch {
        base_offset: whole(value, "baseOffset")?, partition_leader_epoch: whole(value, "partitionLeaderEpoch")?,
        last_offset_delta: whole(value, "lastOffsetDelta")?, first_timestamp: whole(value, "baseTimestamp")?,
        max_timestamp: whole(value, "maxTimestamp")?, producer_id: whole(value, "producerId")?,
        producer_epoch: whole(value, "producerEpoch")?, base_sequence: whole(value, "baseSequence")?,
        records: ControlBatchOrRecords::Records(records?), compression: codec.unwrap_or(CODECS[0]),
        is_transactional: attributes & TRANSACTIONAL != 0,
        timestamp_type: if append_time { RecordBatchTimestampType::LogAppendTime } else { RecordBatchTimestampType::CreateTime },
    };
    let mut out = Vec::new();
    batch.write(&mut out).map_err(Refusal::of)?;
    Ok(Answer::Bytes(out))
}

fn asked(record: &Value) -> Result<Record, Refusal> {
    check("records[].attributes", whole::<i8>(record, "attributes")? == 0)?;
    let mut headers = Vec::new();
    for pair in list(record, "headers") {
        let key = bytes(&pair[0], "headers")?.and_then(|key| String::from_utf8(key).ok());
        let (Some(key), Some(value)) = (key, bytes(&pair[1], "headers")?) else {
            return Err(Refusal::unasked("records[].headers"));
        };
        headers.push(RecordHeader { key, value });
    }
    let (timestamp_delta, offset_delta) = (whole(record, "timestampDelta")?, whole(record, "offsetDelta")?);
    let (key, value) = (bytes(&record["key"], "key")?, bytes(&record["value"], "value")?);
    Ok(Record { timestamp_delta, offset_delta, key, value, headers })
}
