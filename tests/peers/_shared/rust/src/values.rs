//! Fields of a value in JSON: an integer is a decimal string, bytes are lower-case hex, null is no bytes.

use std::fmt::Write;
use std::str::FromStr;

use serde_json::Value;

use crate::Refusal;

/// An integer as a value has it.
pub fn number(number: impl ToString) -> Value {
    Value::String(number.to_string())
}

/// Bytes as a value has them.
pub fn hex(data: Option<&[u8]>) -> Value {
    data.map(|data| {
        data.iter().fold(String::with_capacity(2 * data.len()), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        })
    })
    .into()
}

/// The integer in the field `name`; the type that the library has for it says what is too much.
pub fn whole<T: FromStr>(fields: &Value, name: &str) -> Result<T, Refusal> {
    fields[name].as_str().and_then(|text| text.parse().ok()).ok_or_else(|| Refusal::beyond(name))
}

/// The bytes in the field `name`.
pub fn bytes(field: &Value, name: &str) -> Result<Option<Vec<u8>>, Refusal> {
    let Some(text) = field.as_str() else { return Ok(None) };
    let pairs = (0..text.len()).step_by(2);
    let data: Option<Vec<u8>> =
        pairs.map(|at| text.get(at..at + 2).and_then(|pair| u8::from_str_radix(pair, 16).ok())).collect();
    data.map(Some).ok_or_else(|| Refusal::beyond(name))
}

/// The objects in the list `name`.
pub fn list<'a>(fields: &'a Value, name: &str) -> &'a [Value] {
    fields[name].as_array().map(Vec::as_slice).unwrap_or_default()
}

/// Does not ask where the library decides the field `name` by itself, to something else than is wanted.
pub fn check(name: &str, possible: bool) -> Result<(), Refusal> {
    possible.then_some(()).ok_or_else(|| Refusal::unasked(name))
}
