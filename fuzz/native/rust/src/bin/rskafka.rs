//! The record batches of rskafka, as the field of a fetch response: its length, then a log.
#![no_main]

use std::io::Cursor;

use libfuzzer_sys::fuzz_target;
use native_targets::survived;
use rskafka::protocol::primitives::Records;
use rskafka::protocol::traits::ReadType;

fuzz_target!(|data: &[u8]| {
    survived(|| {
        let field = [&(data.len() as i32).to_be_bytes(), data].concat();
        let _ = Records::read(&mut Cursor::new(field));
    });
});
