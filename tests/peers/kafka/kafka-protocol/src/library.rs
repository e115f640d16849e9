//! What the library says of a batch beside its records, and the fields of a record, since 0.18.0.

use bytes::Bytes;
use kafka_protocol::records::RecordBatchDecoder;
use serde_json::{json, Value};
use shared_rust::values::number;
use shared_rust::{heap, Refusal};

pub const HEADER: &[&str] =
    &["baseOffset", "partitionLeaderEpoch", "baseTimestamp", "producerId", "producerEpoch", "baseSequence"];

/// The base sequences whose records' sequences are compared: of a batch without one the library counts on from -1.
pub const SEQUENCES: &[i32] = &[0, 4, 5, 7, i32::MAX - 1, i32::MAX];

/// The bits of the attributes that the encoder can write.
pub const KNOWN: i16 = 0x7f;

/// What the header of one batch says.
pub fn header(mut batch: Bytes) -> Result<Value, Refusal> {
    let infos = RecordBatchDecoder::decode_batch_info(&mut batch).map_err(|error| Refusal::of(format!("{error:#}")))?;
    let info = infos.first().ok_or_else(|| Refusal::of("a batch without a header"))?;
    Ok(heap::unlimited(|| json!({
        "baseOffset": number(info.min_offset), "partitionLeaderEpoch": number(info.partition_leader_epoch),
        "baseTimestamp": number(info.min_timestamp), "producerId": number(info.producer_id),
        "producerEpoch": number(info.producer_epoch), "baseSequence": number(info.base_sequence),
    })))
}

macro_rules! record {
    (delete_horizon: $horizon:expr, $($fields:tt)*) => { Record { delete_horizon: $horizon, $($fields)* } };
}
pub(crate) use record;
