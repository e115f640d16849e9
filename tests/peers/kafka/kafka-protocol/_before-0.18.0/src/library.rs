//! What the library says of a batch beside its records, and the fields of a record, before 0.18.0.

use bytes::Bytes;
use serde_json::{json, Value};
use shared_rust::Refusal;

pub const HEADER: &[&str] = &[];

/// Without the base sequence of a batch the sequences of its records are not compared.
pub const SEQUENCES: &[i32] = &[];

/// The bits of the attributes that the encoder can write: not that of a delete horizon.
pub const KNOWN: i16 = 0x3f;

/// The library does not show the header of a batch.
pub fn header(_: Bytes) -> Result<Value, Refusal> {
    Ok(json!({}))
}

macro_rules! record {
    (delete_horizon: $horizon:expr, $($fields:tt)*) => {{
        let _ = $horizon;
        Record { $($fields)* }
    }};
}
pub(crate) use record;
