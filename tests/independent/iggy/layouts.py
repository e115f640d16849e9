"""The layouts of Iggy's binary formats as tables of their fields in wire order: iggy.md §2 to §7.

A layout is a text: the path and the type of each field. `reader` reads bytes by these tables, and `parts`
writes them. No code of the codec under test.
"""

Layout = tuple[tuple[str, str], ...]

KINDS = {
    "id": ("numeric", "string"),
    "key": ("balanced", "partition_id", "messages_key"),
    "consumer": ("consumer", "group", "external_group"),
    "strategy": ("offset", "timestamp", "first", "last", "next"),
}
"""The names of kinds, whose codes begin at 1."""
NUMBERS = {"u8": 1, "u16": 2, "u32": 4, "u64": 8, "u128": 16}
CHECKSUMS = {"crc": 4, "wide-crc": 8, "xxh3": 8}
"""The bytes of a number, and of a checksum of the payload, or of all that is behind it."""
STATES = {"available": 1, "unavailable": 10, "poisoned": 20, "marked_for_deletion": 30}


def layout(text: str) -> Layout:
    """Return the fields of a text: `path type, path type`."""
    return tuple((path, kind) for path, kind in (part.split() for part in text.split(",")))


# --- the layouts ---

PLACE = "stream id, topic id"
_TO = f"{PLACE}, partitioning key"
_BODY = "headers_len len:headers, headers map, payload_len len:payload, payload data"
_CHECKED = "timestamp u64, id u128, checksum crc"
_LENGTHS = "user_headers_length len:headers, payload_length len:payload"
_PREFIX = "partition_id u32, current_offset u64, count gap:4"
_CONTEXT = "incarnation u64, owner_generation u64, metadata_op u64"
_FROM = "strategy.kind strategy, strategy.value u64"
_ASKED = f"{_FROM}, count u32, auto_commit flag"
_NAMED = f"consumer.kind consumer, consumer.id id, {PLACE}"
_POLLED7 = "id u128, offset u64, timestamp u64, origin_timestamp u64"
_SENT7 = "checksum gap:8, id u128, offset gap:8, timestamp gap:8, origin_timestamp u64"

DESTINATION = layout(_TO)
PREFIXES = {
    "0.0.30": layout("count gap:4"),
    "0.0.40": layout("count gap:4"),
    **dict.fromkeys(("0.0.60", "0.7", "0.8", "0.9", "0.11"), layout(_PREFIX)),
    "0.11.1-edge": layout(f"{_PREFIX}, {_CONTEXT}"),
}
SENT = {
    "0.0.30": layout(f"id u128, {_BODY}"),
    "0.7": layout(f"{_SENT7}, {_LENGTHS}, payload data, headers map"),
    "0.8": layout(f"{_SENT7}, {_LENGTHS}, payload data, headers map"),
    "0.9": layout(f"{_SENT7}, {_LENGTHS}, reserved gap:8, payload data, headers keyed"),
}
POLLED = {
    "0.0.30": layout(f"offset u64, timestamp u64, id u128, {_BODY}"),
    "0.0.40": layout(f"offset u64, state state, {_CHECKED}, {_BODY}"),
    "0.0.60": layout(f"offset u64, state state, {_CHECKED}, {_BODY}"),
    "0.7": layout(f"checksum wide-crc, {_POLLED7}, {_LENGTHS}, payload data, headers map"),
    "0.8": layout(f"checksum xxh3, {_POLLED7}, {_LENGTHS}, payload data, headers map"),
    "0.9": layout(f"checksum xxh3, {_POLLED7}, {_LENGTHS}, reserved gap:8, payload data, headers keyed"),
}
STORED = {
    "0.0.30": layout(f"offset u64, {_CHECKED}, {_BODY}"),
    "0.2.7": layout(
        f"length size, offset u64, state state, {_CHECKED}, headers_len len:headers,"
        " headers map, payload data"
    ),
    **{revision: POLLED[revision] for revision in ("0.0.40", "0.7", "0.8", "0.9")},
}
RETAINED = layout("base_offset u64, length gap:4, last_offset_delta u32, max_timestamp u64")
"""The header of a batch of 0.2.7; its length is of the messages behind the header."""
FRAME = layout(
    f"checksum xxh3, id u128, offset_delta u32, timestamp_delta u32, {_LENGTHS}, reserved gap:8,"
    " payload data, headers keyed"
)
_BATCH = (
    "partition_id u64, base_offset u64, base_timestamp u64, origin_timestamp u64, batch_length gap:8,"
    " batch_checksum gap:8, message_count gap:4"
)
BATCHES = {
    "0.11": layout(f"{_BATCH}, reserved gap:204"),
    "0.11.1-edge": layout(
        f"{_BATCH}, flags gap:1, before_producer_id gap:3, producer.producer_id u64, producer.epoch u16,"
        " before_base_sequence gap:2, producer.base_sequence u32, reserved gap:184"
    ),
}
REQUESTS = {
    "0.0.30": layout(f"consumer.kind consumer, consumer.id u32, {PLACE}, partition_id u32, {_ASKED}"),
    "0.0.92": layout(f"{_NAMED}, partition_id u32, {_ASKED}"),
    **dict.fromkeys(
        ("0.8", "0.10", "0.11.1-edge"),
        layout(f"{_NAMED}, partition_flag present, partition_id u32, {_ASKED}"),
    ),
}
DEFERRED = (
    *REQUESTS["0.11.1-edge"],
    *layout("wait_us u64, min_count u32, max_bytes u32, request_timeout_us u64"),
)
FETCH_REQUEST = layout(
    f"{_NAMED}, wait_us u64, request_timeout_us u64, min_count u32, count u32, max_bytes u32,"
    " auto_commit flag, targets_count gap:4"
)
TARGET = layout(f"partition_id u32, {_FROM}, max_bytes u32, incarnation u64, owner_generation u64")
SECTION = layout(
    f"partition_id u32, status u32, current_offset u64, messages_count gap:4, {_CONTEXT}, next_offset u64,"
    " records_len gap:4"
)
CLASSIC_FRAME = layout("length size, code u32, body data")
_VSR = "checksums gap:48, size gap:4, view gap:8, command gap:1, replica gap:67"
_REQUEST = (
    "client u128, request_checksum u128, timestamp u64, request u64, operation u8, padding gap:7,"
    " session u64, user_id u32, code u32"
)
_REPLY = (
    "request_checksum u128, context u128, client u128, op u64, commit u64, timestamp u64, request u64,"
    " operation u8, padding gap:7, status u32"
)
EVICTION = layout(
    f"{_VSR}, client u128, server_protocol_version u32, server_protocol_version_min u32, reserved gap:103,"
    " reason u8"
)
VSR = {
    "0.11": {
        5: layout(f"{_VSR}, {_REQUEST}, reserved gap:56, body data"),
        8: layout(f"{_VSR}, {_REPLY}, reserved gap:36, body data"),
        13: EVICTION,
    },
    "0.11.1-edge": {
        5: layout(
            f"{_VSR}, {_REQUEST}, partition_incarnation u64, owner_generation u64, minimum_metadata_op u64,"
            " reserved gap:32, body data"
        ),
        8: layout(
            f"{_VSR}, {_REPLY}, committed_result u8, reserved gap:3, partition_incarnation u64, tail gap:24,"
            " body data"
        ),
        13: EVICTION,
    },
}
CLASSIC_REPLY = layout("status u32, length len:body, body data")
CONFIRMATION = layout("stream_id u32, topic_id u32, partition_id u32, base_offset u64")
