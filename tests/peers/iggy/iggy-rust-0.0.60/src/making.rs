// Of values in their JSON form, the library's types, by the library's own constructors.

fn octets(fields: &Value, name: &str) -> Result<Vec<u8>, Refusal> {
    bytes(&fields[name], name)?.ok_or_else(|| Refusal::beyond(name))
}

fn text(data: Vec<u8>, name: &str) -> Result<String, Refusal> {
    String::from_utf8(data).map_err(|_| Refusal::beyond(name))
}

fn u32_of(value: &[u8]) -> Result<u32, Refusal> {
    value.try_into().map(u32::from_le_bytes).map_err(|_| Refusal::beyond("value"))
}

fn place_of(fields: &Value) -> Result<Identifier, Refusal> {
    let value = octets(fields, "value")?;
    match fields["kind"].as_str() {
        Some("numeric") => Identifier::numeric(u32_of(&value)?).map_err(Refusal::of),
        Some("string") => Identifier::named(&text(value, "value")?).map_err(Refusal::of),
        _ => Err(Refusal::beyond("kind")),
    }
}

fn partitioning_of(fields: &Value) -> Result<Partitioning, Refusal> {
    let value = octets(fields, "value")?;
    match fields["kind"].as_str() {
        Some("balanced") if value.is_empty() => Ok(Partitioning::balanced()),
        Some("partition_id") => Ok(Partitioning::partition_id(u32_of(&value)?)),
        Some("messages_key") => Partitioning::messages_key(&value).map_err(Refusal::of),
        Some("balanced") => Err(Refusal::unasked("value")),
        _ => Err(Refusal::beyond("kind")),
    }
}

fn request_of(value: &Value) -> Result<PollMessages, Refusal> {
    let id = whole(&value["consumer"], "id")?;
    let consumer = if value["consumer"]["kind"] == "group" { Consumer::group(id) } else { Consumer::new(id) };
    let number = whole(&value["strategy"], "value")?;
    let kind = serde_json::from_value(value["strategy"]["kind"].clone()).map_err(|_| Refusal::beyond("kind"))?;
    let command = PollMessages {
        consumer, stream_id: place_of(&value["stream"])?, topic_id: place_of(&value["topic"])?,
        partition_id: PARTITION(whole(value, "partition_id")?), strategy: PollingStrategy { kind, value: number },
        count: whole(value, "count")?, auto_commit: value["auto_commit"] == true,
    };
    command.validate().map_err(Refusal::of)?;
    Ok(command)
}

/// What the library's own reader of commands in text asks of one, `validate`, is asked here too.
fn send_of(value: &Value) -> Result<SendMessages, Refusal> {
    let messages = list(value, "messages").iter().map(message_of).collect::<Result<_, _>>()?;
    let partitioning = partitioning_of(&value["partitioning"])?;
    let command = SendMessages { partitioning, messages, ..SendMessages::default() };
    command.validate().map_err(Refusal::of)?;
    Ok(command)
}

fn message_of(fields: &Value) -> Result<Message, Refusal> {
    let payload = octets(fields, "payload")?;
    let headers = headers_of(fields)?;
    let headers = (!headers.is_empty()).then_some(headers);
    Ok(Message { id: whole(fields, "id")?, length: payload.len() as u32, payload: payload.into(), headers })
}

fn headers_of(fields: &Value) -> Result<Headers, Refusal> {
    let mut headers = Headers::new();
    for pair in list(fields, "headers") {
        let key = bytes(&pair[0], "key")?.ok_or_else(|| Refusal::beyond("key"))?;
        let key = HeaderKey::new(&text(key, "key")?).map_err(Refusal::of)?;
        if headers.insert(key, header_of(&pair[1])?).is_some() {
            return Err(Refusal::unasked("headers"));
        }
    }
    Ok(headers)
}

/// The constructor of each kind; bytes that are none of its kind cannot be given to it.
fn header_of(fields: &Value) -> Result<HeaderValue, Refusal> {
    let value = octets(fields, "value")?;
    let kind: HeaderKind = serde_json::from_value(fields["kind"].clone()).map_err(|_| Refusal::beyond("kind"))?;
    macro_rules! of {
        ($number:ty, $make:ident) => {
            HeaderValue::$make(<$number>::from_le_bytes(value[..].try_into().map_err(|_| Refusal::beyond("value"))?))
        };
    }
    let made = match kind {
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
