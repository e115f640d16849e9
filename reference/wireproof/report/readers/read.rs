// SPDX-License-Identifier: Apache-2.0
// Read an export of wireproof: `rustc -O readers/read.rs && ./read`. Prints the number of cases and a digest of all.
use std::fs;

/// The text of a member at the start of a line, which has id and file; use serde_json for the rest.
fn member<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = line.split_once(&format!("\"{name}\":\""))?;
    rest.split_once('"').map(|(text, _)| text)
}

fn crc32(data: &[u8], crc: u32) -> u32 {
    !data.iter().fold(!crc, |crc, &byte| {
        (0..8).fold(crc ^ byte as u32, |crc, _| crc >> 1 ^ if crc & 1 == 1 { 0xedb88320 } else { 0 })
    })
}

fn main() -> std::io::Result<()> {
    let (mut count, mut digest) = (0, 0);
    for line in fs::read_to_string("cases.ndjson")?.lines() {
        let (head, _) = line.split_once(",\"format\":").expect("a case");
        let data = member(head, "file").map(fs::read).transpose()?.unwrap_or_default();
        // your codec here: "op" and "format" say what to do with `data` (of "input" for an encode),
        // "expect" what must come of it: "accept", "reject", or "either" of some behaviours
        digest = crc32(&data, crc32(format!("{}\n", member(head, "id").expect("an id")).as_bytes(), digest));
        count += 1;
    }
    println!("{count} {digest:08x}");
    Ok(())
}
