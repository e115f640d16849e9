// Headers from 0.9 on: a key is a field of a kind, as a value is.

fn order(key: &HeaderKey) -> (u8, Vec<u8>) {
    (key.kind().as_code(), key.as_bytes().to_vec())
}

fn entry(key: &HeaderKey, one: &HeaderValue) -> Value {
    let field = |kind: HeaderKind, value: &[u8], number| with_number(tagged(&kind.to_string(), value), number);
    json!([field(key.kind(), key.as_bytes(), typed!(key.kind(), key)),
           field(one.kind(), one.as_bytes(), typed!(one.kind(), one))])
}

fn key_of(fields: &Value) -> Result<HeaderKey, Refusal> {
    field_of(fields)
}

fn value_of(fields: &Value) -> Result<HeaderValue, Refusal> {
    field_of(fields)
}

/// The conversion of each kind; bytes that are none of its kind cannot be given to it.
fn field_of<T>(fields: &Value) -> Result<iggy::HeaderField<T>, Refusal> {
    let value = octets(fields, "value")?;
    macro_rules! of {
        ($number:ty) => {
            Ok(<$number>::from_le_bytes(value[..].try_into().map_err(|_| Refusal::beyond("value"))?).into())
        };
    }
    match kind_of(fields)? {
        HeaderKind::Raw => iggy::HeaderField::try_from(value).map_err(Refusal::of),
        HeaderKind::String => iggy::HeaderField::try_from(text(value, "value")?).map_err(Refusal::of),
        HeaderKind::Bool if value == [0] || value == [1] => Ok((value == [1]).into()),
        HeaderKind::Bool => Err(Refusal::beyond("value")),
        HeaderKind::Int8 => of!(i8),
        HeaderKind::Int16 => of!(i16),
        HeaderKind::Int32 => of!(i32),
        HeaderKind::Int64 => of!(i64),
        HeaderKind::Int128 => of!(i128),
        HeaderKind::Uint8 => of!(u8),
        HeaderKind::Uint16 => of!(u16),
        HeaderKind::Uint32 => of!(u32),
        HeaderKind::Uint64 => of!(u64),
        HeaderKind::Uint128 => of!(u128),
        HeaderKind::Float32 => of!(f32),
        HeaderKind::Float64 => of!(f64),
    }
}
