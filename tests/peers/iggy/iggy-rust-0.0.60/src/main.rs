//! The crate iggy of 2023 behind the adapter contract, in the edition that the command names: its
//! byte-serialisable types as they are, the server's side of JSON by their serde forms, the client's by its HTTP
//! client, and a poll by its TCP client, which alone reaches the reader of messages: each from a server on the
//! loopback.
//!
//! `edition.rs` is written once and compiled against each crate; here stands what differs between them.

mod server;
mod web;

use std::io;

/// Parts of an error's text that leave no doubt about the class; most faults are an invalid command.
const CLASSES: [(&str, &str); 9] = [
    ("Too big message payload", "limit-exceeded"),
    ("Too big headers payload", "limit-exceeded"),
    ("Empty message payload", "bad-length"),
    ("Invalid messages count", "count-mismatch"),
    ("Invalid key value length", "bad-length"),
    ("missing field", "missing-field"),
    ("duplicate field", "duplicate-field"),
    ("unknown variant", "bad-kind"),
    ("EOF while parsing", "bad-json"),
];

macro_rules! edition {
    ($name:ident, $iggy:ident, $revision:literal, $header:path, { $($differs:item)* }) => {
        mod $name {
            use $header as header;
            use $iggy as iggy;
            const REVISION: &str = $revision;
            $($differs)*
            include!("edition.rs");
        }
    };
}

edition!(first, iggy_0_0_30, "0.0.30", iggy_0_0_30::header, {
    use iggy::models::message::Message as Polled;
    type Poll = Vec<Polled>;
    const PARTITION: fn(u32) -> u32 = |id| id;
    const PARTITION_SHOWN: fn(u32) -> u32 = |id| id;

    fn shown(_: &Polled, _: &mut Value) {}
    fn poll(messages: &Poll) -> (Value, &[Polled]) {
        (json!({}), messages)
    }
    fn poll_of(_: &Value, messages: Vec<Polled>) -> Result<Poll, Refusal> {
        Ok(messages)
    }
    fn polled(fields: &Value, one: Message) -> Result<Polled, Refusal> {
        let (offset, timestamp) = (whole(fields, "offset")?, whole(fields, "timestamp")?);
        Ok(Polled { offset, timestamp, id: one.id, headers: one.headers, length: one.length, payload: one.payload.to_vec() })
    }
});

/// A polled message from 0.0.40 on.
macro_rules! stated {
    () => {
        fn shown(one: &Polled, value: &mut Value) {
            (value["state"], value["checksum"]) = (json!(one.state), number(one.checksum));
        }
        fn polled(fields: &Value, one: Message) -> Result<Polled, Refusal> {
            let state = serde_json::from_value(fields["state"].clone()).map_err(|_| Refusal::beyond("state"))?;
            let (offset, timestamp, checksum) =
                (whole(fields, "offset")?, whole(fields, "timestamp")?, whole(fields, "checksum")?);
            Ok(Polled::create(offset, state, timestamp, one.id, one.payload, checksum, one.headers))
        }
    };
}

edition!(second, iggy_0_0_40, "0.0.40", iggy_0_0_40::models::header, {
    use iggy::models::message::Message as Polled;
    type Poll = Vec<Polled>;
    const PARTITION: fn(u32) -> u32 = |id| id;
    const PARTITION_SHOWN: fn(u32) -> u32 = |id| id;

    stated!();
    fn poll(messages: &Poll) -> (Value, &[Polled]) {
        (json!({}), messages)
    }
    fn poll_of(_: &Value, messages: Vec<Polled>) -> Result<Poll, Refusal> {
        Ok(messages)
    }
});

edition!(third, iggy_0_0_60, "0.0.60", iggy_0_0_60::models::header, {
    use iggy::models::messages::{Message as Polled, PolledMessages};
    use std::str::FromStr;
    type Poll = PolledMessages;
    const PARTITION: fn(u32) -> Option<u32> = Some;
    const PARTITION_SHOWN: fn(Option<u32>) -> u32 = |id| id.unwrap_or_default();

    stated!();
    fn poll(polled: &Poll) -> (Value, &[Polled]) {
        let place = json!({"partition_id": number(polled.partition_id), "current_offset": number(polled.current_offset)});
        (place, &polled.messages)
    }
    fn poll_of(value: &Value, messages: Vec<Polled>) -> Result<Poll, Refusal> {
        Ok(PolledMessages { partition_id: whole(value, "partition_id")?, current_offset: whole(value, "current_offset")?, messages })
    }
});

fn main() -> io::Result<()> {
    match std::env::args().nth(1).as_deref() {
        Some("0.0.30") => first::main(),
        Some("0.0.40") => second::main(),
        Some("0.0.60") => third::main(),
        _ => Err(io::Error::other("name an edition: 0.0.30, 0.0.40 or 0.0.60")),
    }
}
