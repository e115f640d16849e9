//! kafka-protocol behind the adapter contract: a log by `RecordBatchDecoder::decode` again and again, as
//! `decode_all` reads it, which would not show what came before an error; batches by `RecordBatchEncoder`.
//!
//! A record says most of what its batch's header says, a batch without records nothing: what the header
//! says is asked of `decode_batch_info`, which releases before 0.18.0 do not have. The last offset delta and the
//! greatest timestamp are not shown.

mod library;

use std::io;

use bytes::{Bytes, BytesMut};
use indexmap::IndexMap;
use kafka_protocol::protocol::StrBytes;
use kafka_protocol::records::{
    Compression, Record, RecordBatchDecoder, RecordBatchEncoder, RecordEncodeOptions, TimestampType,
};
use serde_json::{json, Value};
use shared_rust::values::{bytes, check, hex, list, number, whole};
use shared_rust::{heap, locked_version, serve, Answer, Refusal, Request};

const CODECS: [Compression; 5] =
    [Compression::None, Compression::Gzip, Compression::Snappy, Compression::Lz4, Compression::Zstd];
const APPEND_TIME: i16 = 0x08;
const TRANSACTIONAL: i16 = 0x10;
const CONTROL: i16 = 0x20;
const HORIZON: i16 = 0x40;
const SHOWN: [&str; 7] = [
    "magic", "records[].offset", "records[].timestamp", "records[].key", "records[].value", "records[].headers",
    "records[].timestampType",
];

/// Parts of an error's text that leave no doubt about the class.
const CLASSES: [(&str, &str); 16] = [
    ("message sets v", "bad-magic"),
    ("Unknown record batch version", "bad-magic"),
    ("Unexpected negative batch size", "bad-length"),
    ("Cyclic redundancy check failed", "crc-mismatch"),
    ("Unknown compression algorithm", "unknown-codec"),
    ("Unexpected negative record header key", "null-not-allowed"),
    ("Unexpected negative record", "negative-length"),
    ("invalid utf-8", "bad-utf8"),
    ("incomplete utf-8", "bad-utf8"),
    ("Failed to decompress", "decompress-failed"),
    ("failed to decompress", "decompress-failed"),
    ("expected some bytes in snappy stream", "decompress-failed"),
    ("failed to read snappy header", "decompress-failed"),
    ("failed to get snappy uncompressed length", "decompress-failed"),
    ("not enough bytes to read compressed block", "decompress-failed"),
    ("not enough bytes for block", "decompress-failed"),
];

fn main() -> io::Result<()> {
    serve(hello(), &CLASSES, |request| match request.op.as_str() {
        _ if request.asks_the_consumer() => Ok(Answer::Unsupported),
        "decode" => log(request),
        "encode" => encoded(&request.value),
        _ => Ok(Answer::Unsupported),
    })
}

fn hello() -> Value {
    let features = ["headers", "empty-batch", "log-append-time", "delete-horizon", "idempotent", "transactional",
        "control-batch", "partial-tail"];
    let claim = |ops: &[&str], observes: &[&str]| {
        let observes: Vec<_> = observes.iter().map(|name| format!("batches[].{name}")).collect();
        json!({"ops": ops, "codecs": ["none", "gzip", "snappy", "lz4", "zstd"], "features": features,
               "profiles": ["reader"], "observes": observes})
    };
    let mut log = claim(&["decode"], &[library::HEADER, &SHOWN].concat());
    if let Some(observes) = log["observes"].as_array_mut() {
        observes.extend(library::SEQUENCES.iter().map(|base| json!(format!("batches[baseSequence={base}].records[].sequence"))));
    }
    let nothing = json!({"ops": []}); // message sets are unsupported, it says
    let revisions = json!({"kafka.batch/v0": nothing, "kafka.batch/v1": nothing,
        "kafka.batch/v2": claim(&["encode"], &[]), "kafka.log/mixed": log});
    json!({"protocol": 1, "name": "kafka-protocol", "errors": "coarse", "window": 16, "cost": "fast",
           "version": locked_version(include_str!("../Cargo.lock"), "kafka-protocol"), "revisions": revisions})
}

fn log(request: &Request) -> Result<Answer, Refusal> {
    let mut rest = Bytes::from(request.blob.clone());
    let mut batches = Vec::new();
    while !rest.is_empty() {
        match entry(&mut rest) {
            Ok(batch) => batches.push(batch),
            Err(refusal) => return Err(refusal.after(json!({ "batches": batches }))),
        }
    }
    Ok(Answer::Value(heap::unlimited(|| json!({ "batches": batches })), Some(request.blob.len())))
}

fn entry(rest: &mut Bytes) -> Result<Value, Refusal> {
    let whole = rest.clone();
    let set = RecordBatchDecoder::decode(rest).map_err(|error| Refusal::of(format!("{error:#}")))?;
    let mut batch = library::header(whole.slice(..whole.len() - rest.len()))?;
    heap::unlimited(|| {
        batch["magic"] = number(set.version);
        batch["records"] = set.records.iter().map(shown).collect();
    });
    Ok(batch)
}

fn shown(record: &Record) -> Value {
    let headers = record.headers.iter().map(|(key, value)| json!([hex(Some(key.as_bytes())), hex(value.as_deref())]));
    let kind = match record.timestamp_type {
        TimestampType::Creation => "create",
        TimestampType::LogAppend => "log-append",
    };
    json!({"offset": number(record.offset), "timestamp": number(record.timestamp), "key": hex(record.key.as_deref()),
           "value": hex(record.value.as_deref()), "headers": headers.collect::<Vec<_>>(),
           "sequence": number(record.sequence), "timestampType": kind})
}

/// The encoder makes the header of its records: it is not asked for what it would make otherwise.
fn encoded(value: &Value) -> Result<Answer, Refusal> {
    let attributes: i16 = whole(value, "attributes")?;
    let codec = CODECS.get((attributes & 7) as usize);
    check("attributes", attributes & !library::KNOWN == 0 && codec.is_some())?;
    let records: Vec<Record> = list(value, "records").iter().map(|one| asked(value, one, attributes)).collect::<Result<_, _>>()?;
    let (offsets, stamps): (Vec<i64>, Vec<i64>) = records.iter().map(|one| (one.offset, one.timestamp)).unzip();
    let (base, base_stamp): (i64, i64) = (whole(value, "baseOffset")?, whole(value, "baseTimestamp")?);
    let last = whole::<i32>(value, "lastOffsetDelta")?;
    check("records", !records.is_empty())?;
    check("baseOffset", offsets.iter().min() == Some(&base))?;
    check("lastOffsetDelta", offsets.iter().max() == Some(&(base.wrapping_add(last.into()))))?;
    check("baseTimestamp", stamps.iter().min() == Some(&base_stamp))?;
    check("maxTimestamp", stamps.iter().max() == Some(&whole(value, "maxTimestamp")?))?;
    let mut buffer = BytesMut::new();
    let options = RecordEncodeOptions { version: whole(value, "magic")?, compression: *codec.unwrap_or(&CODECS[0]) };
    RecordBatchEncoder::encode(&mut buffer, &records, &options).map_err(|error| Refusal::of(format!("{error:#}")))?;
    Ok(Answer::Bytes(buffer.to_vec()))
}

fn asked(batch: &Value, record: &Value, attributes: i16) -> Result<Record, Refusal> {
    let delta: i32 = whole(record, "offsetDelta")?;
    check("records[].attributes", whole::<i8>(record, "attributes")? == 0)?;
    let mut headers = IndexMap::new();
    for pair in list(record, "headers") {
        let key = bytes(&pair[0], "headers")?.and_then(|key| StrBytes::try_from(Bytes::from(key)).ok());
        let value = bytes(&pair[1], "headers")?.map(Bytes::from);
        let same = headers.insert(key.ok_or_else(|| Refusal::unasked("records[].headers"))?, value);
        check("records[].headers", same.is_none())?;
    }
    Ok(library::record! {
        delete_horizon: attributes & HORIZON != 0,
        transactional: attributes & TRANSACTIONAL != 0, control: attributes & CONTROL != 0,
        partition_leader_epoch: whole(batch, "partitionLeaderEpoch")?,
        producer_id: whole(batch, "producerId")?, producer_epoch: whole(batch, "producerEpoch")?,
        timestamp_type: if attributes & APPEND_TIME == 0 { TimestampType::Creation } else { TimestampType::LogAppend },
        offset: whole::<i64>(batch, "baseOffset")?.wrapping_add(delta.into()),
        sequence: whole::<i32>(batch, "baseSequence")?.wrapping_add(delta),
        timestamp: whole::<i64>(batch, "baseTimestamp")?.wrapping_add(whole(record, "timestampDelta")?),
        key: bytes(&record["key"], "key")?.map(Bytes::from), value: bytes(&record["value"], "value")?.map(Bytes::from),
        headers,
    })
}
