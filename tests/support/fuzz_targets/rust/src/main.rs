//! The same target as `batch_target.c`, for libFuzzer as cargo-fuzz builds it.
#![no_main]

use libfuzzer_sys::fuzz_target;

fn big_endian(data: &[u8], at: usize) -> u32 {
    data[at..at + 4].iter().fold(0, |number, byte| number << 8 | u32::from(*byte))
}

fn crc32c(data: &[u8]) -> u32 {
    let bit = |crc: u32, _| if crc & 1 == 1 { crc >> 1 ^ 0x82f6_3b78 } else { crc >> 1 };
    !data.iter().fold(u32::MAX, |crc, byte| (0..8).fold(crc ^ u32::from(*byte), bit))
}

fuzz_target!(|data: &[u8]| {
    if data.len() < 61 || data[16] != 2 || big_endian(data, 8) as usize != data.len() - 12 {
        return;
    }
    if big_endian(data, 17) == crc32c(&data[21..]) && big_endian(data, 57) == 3 && data[22] & 7 == 1 {
        panic!("three records, compressed with gzip");
    }
});
