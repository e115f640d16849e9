// From 0.9 on the server's batch stands in the crate. The server takes the parts of a send off its connection one after
// the other, as they are taken off the body here; where the body ends before its part, it would wait for more.

const SEND: [&str; 2] = ["decode", "encode"];

fn send_read(mut data: &[u8]) -> Result<Value, Refusal> {
    let length = u32_of(part(&mut data, 4)?)? as usize;
    let (mut value, count) = metadata(part(&mut data, length)?)?;
    let index = part(&mut data, count * iggy::INDEX_SIZE)?;
    let index = iggy::IggyIndexesMut::from_bytes(pooled(index), 0);
    let batch = iggy::IggyMessagesBatchMut::from_indexes_and_messages(index, pooled(data));
    batch.validate().map_err(Refusal::of)?;
    let one = |one: iggy::IggyMessageView<'_>| {
        let map = one.user_headers_map().ok().flatten();
        json!({"id": number(one.header().id()), "origin_timestamp": number(one.header().origin_timestamp()),
               "headers": block(map, one.user_headers()), "payload": hex(Some(one.payload()))})
    };
    value["messages"] = batch.iter().map(one).collect();
    Ok(value)
}

fn part<'a>(data: &mut &'a [u8], length: usize) -> Result<&'a [u8], Refusal> {
    let (part, rest) = data.split_at_checked(length).ok_or_else(|| Refusal::of("unexpected end of buffer"))?;
    *data = rest;
    Ok(part)
}

/// Its buffers come from a pool, which the server may be told to do without.
fn pooled(data: &[u8]) -> iggy::PooledBuffer {
    let none = iggy::MemoryPoolConfigOther { enabled: false, size: iggy::IggyByteSize::from(0), bucket_capacity: 1 };
    iggy::MemoryPool::init_pool(&none);
    data.into()
}
