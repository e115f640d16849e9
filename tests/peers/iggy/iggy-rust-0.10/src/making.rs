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

fn kind_of(fields: &Value) -> Result<HeaderKind, Refusal> {
    serde_json::from_value(fields["kind"].clone()).map_err(|_| Refusal::beyond("kind"))
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
        Some("balanced") => Err(Refusal::unasked("value")),
        Some("partition_id") => Ok(Partitioning::partition_id(u32_of(&value)?)),
        Some("messages_key") => Partitioning::messages_key(&value).map_err(Refusal::of),
        _ => Err(Refusal::beyond("kind")),
    }
}

fn consumer_of(fields: &Value) -> Result<Consumer, Refusal> {
    let id = place_of(&fields["id"])?;
    Ok(if fields["kind"] == "group" { Consumer::group(id) } else { Consumer::new(id) })
}

fn strategy_of(fields: &Value) -> Result<iggy::PollingStrategy, Refusal> {
    let kind: PollingKind = serde_json::from_value(fields["kind"].clone()).map_err(|_| Refusal::beyond("kind"))?;
    Ok(iggy::PollingStrategy { kind, value: whole(fields, "value")? })
}

fn headers_of(value: &Value) -> Result<Headers, Refusal> {
    let mut headers = Headers::new();
    for pair in list(value, "headers") {
        if headers.insert(key_of(&pair[0])?, value_of(&pair[1])?).is_some() {
            return Err(Refusal::unasked("headers"));
        }
    }
    Ok(headers)
}

/// A message as its builder makes it; when it was made, and a block that is no map, are put into its fields.
fn sent_of(fields: &Value) -> Result<IggyMessage, Refusal> {
    let map = headers_of(fields)?;
    let mut message = IggyMessage::builder()
        .id(whole(fields, "id")?)
        .payload(octets(fields, "payload")?.into())
        .maybe_user_headers((!map.is_empty()).then_some(map))
        .build()
        .map_err(Refusal::of)?;
    if !fields["origin_timestamp"].is_null() {
        message.header.origin_timestamp = whole(fields, "origin_timestamp")?;
    }
    kept(&mut message, fields)?;
    Ok(message)
}

/// A poll as the server makes it of stored messages.
fn poll_of(value: &Value) -> Result<PolledMessages, Refusal> {
    let messages = list(value, "messages").iter().map(polled_of).collect::<Result<Vec<_>, _>>()?;
    let (partition_id, current_offset) = (whole(value, "partition_id")?, whole(value, "current_offset")?);
    Ok(PolledMessages { partition_id, current_offset, count: messages.len() as u32, messages })
}

fn polled_of(fields: &Value) -> Result<IggyMessage, Refusal> {
    let (payload, map) = (octets(fields, "payload")?, headers_of(fields)?);
    let block = (!map.is_empty()).then(|| headers_written(&map));
    let header = IggyMessageHeader {
        checksum: whole(fields, "checksum")?,
        id: whole(fields, "id")?,
        offset: whole(fields, "offset")?,
        timestamp: whole(fields, "timestamp")?,
        origin_timestamp: whole(fields, "origin_timestamp")?,
        user_headers_length: block.as_ref().map_or(0, |block| block.len() as u32),
        payload_length: payload.len() as u32,
        ..IggyMessageHeader::default()
    };
    let mut message = IggyMessage { header, payload: payload.into(), user_headers: block.map(Bytes::from) };
    kept(&mut message, fields)?;
    Ok(message)
}
