//! The crate iggy_common behind the adapter contract, in the edition that the command names: its types of the
//! wire, what its clients read of a poll and write of a send, and JSON by its serde forms.
//!
//! `edition.rs` and `making.rs` are written once and compiled against each crate, with the parts that fit it:
//! headers with or without kinds of keys, and bytes by the types themselves or, at last, by wire types.

mod aside;

use std::io;

/// Parts of an error's text that leave no doubt about the class; most faults are an invalid command.
const CLASSES: [(&str, &str); 14] = [
    ("Too big message payload", "limit-exceeded"),
    ("Too big headers payload", "limit-exceeded"),
    ("Invalid reserved field", "reserved-nonzero"),
    ("unexpected end of buffer", "truncated"),
    ("invalid utf-8", "bad-utf8"),
    ("unknown discriminant", "bad-kind"),
    ("header kind is 0", "bad-kind"),
    ("odd number of TLV", "truncated"),
    ("Invalid messages count", "count-mismatch"),
    ("Invalid key value length", "bad-length"),
    ("missing field", "missing-field"),
    ("duplicate field", "duplicate-field"),
    ("unknown variant", "bad-kind"),
    ("EOF while parsing", "bad-json"),
];

/// What the accessor of its kind returns for a value, or for a key of a kind.
macro_rules! typed {
    ($kind:expr, $one:expr) => {
        match $kind {
            HeaderKind::Raw | HeaderKind::String => Value::Null,
            HeaderKind::Bool => $one.as_bool().map_or(Value::Null, Value::Bool),
            HeaderKind::Int8 => digits($one.as_int8()),
            HeaderKind::Int16 => digits($one.as_int16()),
            HeaderKind::Int32 => digits($one.as_int32()),
            HeaderKind::Int64 => digits($one.as_int64()),
            HeaderKind::Int128 => digits($one.as_int128()),
            HeaderKind::Uint8 => digits($one.as_uint8()),
            HeaderKind::Uint16 => digits($one.as_uint16()),
            HeaderKind::Uint32 => digits($one.as_uint32()),
            HeaderKind::Uint64 => digits($one.as_uint64()),
            HeaderKind::Uint128 => digits($one.as_uint128()),
            HeaderKind::Float32 => digits($one.as_float32()),
            HeaderKind::Float64 => digits($one.as_float64()),
        }
    };
}

macro_rules! edition {
    ($name:ident, $iggy:ident, $revision:literal, $formats:tt, [$($part:literal),*], { $($differs:item)* }) => {
        mod $name {
            use $iggy as iggy;
            const REVISION: &str = $revision;
            const REVISIONS: Revisions = Revisions $formats;
            $($differs)*
            $(include!($part);)*
            include!("edition.rs");
            include!("making.rs");
        }
    };
}

/// To 0.9 no client encrypts headers: they are a map (4ca3cf2b3).
macro_rules! mapped {
    () => {
        fn kept(_: &mut IggyMessage, fields: &Value) -> Result<(), Refusal> {
            shared_rust::values::check("headers", !fields["headers"].is_string())
        }
    };
}

/// To 0.8 the reader of a send stands in the server's crate; the one here is a panic.
macro_rules! unread {
    () => {
        const SEND: [&str; 1] = ["encode"];
        fn send_read(_: &[u8]) -> Result<Value, Refusal> {
            Err(Refusal::unasked("a send: the server's crate reads it"))
        }
    };
}

edition!(v7, iggy_0_7, "0.7.0",
    { headers: "0.0.30", identifier: "0.0.30", partitioning: "0.0.30", request: "0.0.92", message: "0.7",
      json_send: "0.7", json_poll: "0.7" },
    ["unkeyed.rs", "serial.rs"], {
    type Headers = std::collections::HashMap<HeaderKey, HeaderValue>;
    mapped!();
    unread!();

    /// No partition is 0.
    fn partition(value: &Value) -> Result<Option<u32>, Refusal> {
        Ok(Some(whole(value, "partition_id")?))
    }
    fn partition_shown(id: Option<u32>) -> Value {
        number(id.unwrap_or_default())
    }
});

/// A partition from 0.8.0 on.
macro_rules! flagged {
    () => {
        fn partition(value: &Value) -> Result<Option<u32>, Refusal> {
            (!value["partition_id"].is_null()).then(|| whole(value, "partition_id")).transpose()
        }
        fn partition_shown(id: Option<u32>) -> Value {
            id.map(number).into()
        }
    };
}

edition!(v8, iggy_0_8, "0.8.0",
    { headers: "0.0.30", identifier: "0.8", partitioning: "0.0.30", request: "0.8", message: "0.8",
      json_send: "0.8", json_poll: "0.7" },
    ["unkeyed.rs", "serial.rs"], {
    type Headers = std::collections::HashMap<HeaderKey, HeaderValue>;
    mapped!();
    unread!();
    flagged!();
});

edition!(v9, iggy_0_9, "0.9.0",
    { headers: "0.9", identifier: "0.8", partitioning: "0.9", request: "0.8", message: "0.9",
      json_send: "0.9", json_poll: "0.9" },
    ["keyed.rs", "serial.rs", "sending.rs"], {
    type Headers = std::collections::HashMap<HeaderKey, HeaderValue>;
    mapped!();
    flagged!();
});

edition!(v10, iggy_0_10, "0.10.0",
    { headers: "0.10", identifier: "0.8", partitioning: "0.9", request: "0.10", message: "0.9",
      json_send: "0.10", json_poll: "0.10" },
    ["keyed.rs", "wire.rs", "sending.rs"], {
    type Headers = std::collections::BTreeMap<HeaderKey, HeaderValue>;
    flagged!();

    /// A block that is no map, as the client leaves it that encrypts.
    fn kept(message: &mut IggyMessage, fields: &Value) -> Result<(), Refusal> {
        if let Some(block) = bytes(&fields["headers"], "headers")? {
            message.header.user_headers_length = block.len() as u32;
            message.user_headers = Some(block.into());
        }
        Ok(())
    }
});

/// The revisions of the formats that an edition speaks; sends and polls have one of their own.
struct Revisions {
    headers: &'static str,
    identifier: &'static str,
    partitioning: &'static str,
    request: &'static str,
    message: &'static str,
    json_send: &'static str,
    json_poll: &'static str,
}

fn main() -> io::Result<()> {
    match std::env::args().nth(1).as_deref() {
        Some("0.7") => v7::main(),
        Some("0.8") => v8::main(),
        Some("0.9") => v9::main(),
        Some("0.10") => v10::main(),
        _ => Err(io::Error::other("name an edition: 0.7, 0.8, 0.9 or 0.10")),
    }
}
