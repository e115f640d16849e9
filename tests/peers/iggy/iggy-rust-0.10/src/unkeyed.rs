// Headers to 0.8: a key is text.

use std::str::FromStr;

fn order(key: &HeaderKey) -> String {
    key.as_str().to_string()
}

fn entry(key: &HeaderKey, one: &HeaderValue) -> Value {
    let value = with_number(tagged(&one.kind.to_string(), &one.value), typed!(one.kind, one));
    json!([hex(Some(key.as_str().as_bytes())), value])
}

fn key_of(field: &Value) -> Result<HeaderKey, Refusal> {
    let key = bytes(field, "key")?.ok_or_else(|| Refusal::beyond("key"))?;
    HeaderKey::new(&text(key, "key")?).map_err(Refusal::of)
}

/// The constructor of each kind; bytes that are none of its kind cannot be given to it.
fn value_of(fields: &Value) -> Result<HeaderValue, Refusal> {
    let value = octets(fields, "value")?;
    macro_rules! of {
        ($number:ty, $make:ident) => {
            HeaderValue::$make(<$number>::from_le_bytes(value[..].try_into().map_err(|_| Refusal::beyond("value"))?))
        };
    }
    let made = match kind_of(fields)? {
        HeaderKind::Raw => HeaderValue::from_raw(&value),
        HeaderKind::String => HeaderValue::from_str(&text(value, "value")?),
        HeaderKind::Bool if value == [0] || value == [1] => HeaderValue::from_bool(value == [1]),
        HeaderKind::Bool => return Err(Refusal::beyond("value")),
        HeaderKind::Int8 => of!(i8, from_int8),
        HeaderKind::Int16 => of!(i16, from_int16),
        HeaderKind::Int32 => of!(i32, from_int32),
        HeaderKind::Int64 => of!(i64, from_int64),
        HeaderKind::Int128 => of!(i128, from_int128),
        HeaderKind::Uint8 => of!(u8, from_uint8),
        HeaderKind::Uint16 => of!(u16, from_uint16),
        HeaderKind::Uint32 => of!(u32, from_uint32),
        HeaderKind::Uint64 => of!(u64, from_uint64),
        HeaderKind::Uint128 => of!(u128, from_uint128),
        HeaderKind::Float32 => of!(f32, from_float32),
        HeaderKind::Float64 => of!(f64, from_float64),
    };
    made.map_err(Refusal::of)
}
