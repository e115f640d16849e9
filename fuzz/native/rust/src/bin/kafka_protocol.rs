//! The record batches of kafka-protocol: a log, batch by batch, and the header of each.
#![no_main]

use bytes::Bytes;
use kafka_protocol::records::RecordBatchDecoder;
use libfuzzer_sys::fuzz_target;
use native_targets::survived;

fuzz_target!(|data: &[u8]| {
    survived(|| {
        let mut rest = Bytes::copy_from_slice(data);
        let _ = RecordBatchDecoder::decode_batch_info(&mut rest.clone());
        while !rest.is_empty() && RecordBatchDecoder::decode(&mut rest).is_ok() {}
    });
});
