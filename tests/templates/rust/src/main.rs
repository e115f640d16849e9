//! An adapter for wireproof: one file of Rust, and serde_json.
//!
//!     cargo build --release && wireproof check 'exec:target/release/adapter' --run 'iggy.identifier/**'
//!
//! As it stands it is a whole codec of a small format, Iggy's identifier: kind (1 byte), length (1 byte), value.
//! Put yours in its place: NAME, VERSION, claims, decode, encode. What is below "the wire" can stay as it is.

use std::io::{self, ErrorKind, Read, Write};
use std::panic;

use serde_json::{json, Value};

const NAME: &str = "my-codec";
const VERSION: &str = env!("CARGO_PKG_VERSION");
/// "exact": the classes of refusals are judged too; "coarse": only that it refuses; "none": it has no reasons.
const ERRORS: &str = "exact";

/// Why there is no answer: bytes or a value that the codec does not take, with a class of the contract, where,
/// and a text; or a question that it cannot be asked.
enum No {
    Refused(&'static str, usize, String),
    Unsupported(String),
}

fn refused<T>(class: &'static str, at: usize, text: impl Into<String>) -> Result<T, No> {
    Err(No::Refused(class, at, text.into()))
}

// --- the codec: yours goes here ---

/// What the codec can do, by format and revision (`wireproof show` lists them). Only what is claimed is asked.
/// May hold more: codecs, profiles, features, and observes, the fields that it shows, if not all.
fn claims() -> Value {
    json!({
        "iggy.identifier/0.0.30": {"ops": ["decode", "encode"]},
        "iggy.identifier/0.8": {"ops": ["decode", "encode"]},
    })
}

const KINDS: [&str; 3] = ["", "numeric", "string"];

/// The value that stands at the start of `data`, and how many bytes it takes.
fn decode(revision: &str, data: &[u8]) -> Result<(Value, usize), No> {
    let Some(&first) = data.first() else { return refused("truncated", 0, "no kind") };
    let kind = match KINDS.get(first as usize) {
        Some(&kind) if first > 0 => kind,
        _ => return refused("bad-kind", 0, format!("kind {first}")),
    };
    let Some(&length) = data.get(1) else { return refused("truncated", 1, "no length") };
    if length == 0 || (kind == "numeric" && length != 4) {
        return refused("bad-length", 1, format!("{kind} of {length} bytes"));
    }
    let end = 2 + length as usize;
    let Some(content) = data.get(2..end) else {
        return refused("truncated", 2, format!("{length} bytes announced, {} there", data.len() - 2));
    };
    if kind == "string" && std::str::from_utf8(content).is_err() {
        return refused("bad-utf8", 2, "no UTF-8");
    }
    if kind == "numeric" && revision == "0.0.30" && content == [0; 4] {
        return refused("invalid-value", 2, "0 names nothing before 0.8");
    }
    Ok((json!({"kind": kind, "value": hex(content)}), end))
}

/// The bytes of a value in the form that `decode` gives it.
fn encode(revision: &str, value: &Value) -> Result<Vec<u8>, No> {
    let kind = KINDS.iter().position(|&kind| value["kind"] == kind).unwrap_or(0);
    let content = unhex(value["value"].as_str().unwrap_or_default());
    let Ok(length) = u8::try_from(content.len()) else {
        return refused("invalid-value", 0, format!("{} bytes", content.len()));
    };
    let wire = [&[kind as u8, length], content.as_slice()].concat();
    match decode(revision, &wire) {
        Err(No::Refused(_, _, text)) => refused("invalid-value", 0, text), // what does not decode again is no value
        _ => Ok(wire),
    }
}

// --- the wire: u32 big-endian length, a JSON header of that length, then as many raw bytes as "blob" says ---

#[allow(dead_code)] // a codec need not use it
fn hex(data: &[u8]) -> String {
    data.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[allow(dead_code)]
fn unhex(text: &str) -> Vec<u8> {
    (0..text.len() / 2).filter_map(|at| u8::from_str_radix(&text[2 * at..2 * at + 2], 16).ok()).collect()
}

fn answer(head: &Value, blob: &[u8]) -> (Value, Option<Vec<u8>>) {
    if !head["hello"].is_null() {
        let hello = json!({"protocol": 1, "name": NAME, "version": VERSION, "revisions": claims(),
            "errors": ERRORS, "window": 64});
        return (json!({"hello": hello}), None);
    }
    let id = &head["id"];
    match panic::catch_unwind(|| asked(head, blob)) {
        Ok(Ok((mut said, data))) => {
            said["id"] = id.clone();
            said["outcome"] = "accepted".into();
            (said, data)
        }
        Ok(Err(No::Refused(class, at, text))) => {
            (json!({"id": id, "outcome": "refused", "class": class, "at": at, "text": text}), None)
        }
        Ok(Err(No::Unsupported(text))) => (json!({"id": id, "outcome": "unsupported", "text": text}), None),
        // a panic would have ended any other caller: a crash
        Err(_) => (json!({"id": id, "outcome": "crashed", "text": "panic"}), None),
    }
}

fn asked(head: &Value, blob: &[u8]) -> Result<(Value, Option<Vec<u8>>), No> {
    let [op, format, revision] = ["op", "format", "revision"].map(|name| head[name].as_str().unwrap_or_default());
    let ops = &claims()[format!("{format}/{revision}")]["ops"];
    match op {
        _ if !ops.as_array().is_some_and(|ops| ops.contains(&op.into())) => {
            Err(No::Unsupported(format!("no {op} of {format}/{revision}")))
        }
        "decode" => decode(revision, blob).map(|(value, end)| (json!({"value": value, "consumed": end}), None)),
        _ => Ok((json!({}), Some(encode(revision, &head["value"])?))),
    }
}

fn main() -> io::Result<()> {
    let (mut input, mut output) = (io::stdin().lock(), io::stdout().lock());
    loop {
        let mut length = [0; 4];
        match input.read_exact(&mut length) {
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(()),
            read => read?,
        }
        let head: Value = serde_json::from_slice(&take(&mut input, u32::from_be_bytes(length).into())?)?;
        let blob = take(&mut input, head["blob"].as_u64().unwrap_or(0))?;
        let (mut said, data) = answer(&head, &blob);
        if let Some(data) = &data {
            said["blob"] = data.len().into();
        }
        let header = serde_json::to_vec(&said)?;
        let frame = [&(header.len() as u32).to_be_bytes(), header.as_slice(), &data.unwrap_or_default()].concat();
        output.write_all(&frame)?;
        output.flush()?;
    }
}

fn take(input: &mut impl Read, size: u64) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; size as usize];
    input.read_exact(&mut bytes).map(|()| bytes)
}
