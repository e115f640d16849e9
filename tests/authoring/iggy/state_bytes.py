"""Bytes and values of Iggy's binary formats out of a table of their fields in wire order: iggy.md §2 to §7.

A layout is a text: the path and the type of each field, in the order of the wire. A row has the values of the
fields by path. No code of the codec under test.
"""

import zlib
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import xxhash

from tests.authoring.iggy.headers_from_0_9 import block, keyed_value
from tests.authoring.iggy.message_bytes import kind_value, map_value, tlv

Layout = tuple[tuple[str, str], ...]
Row = Mapping[str, Any]
Made = tuple[bytes, Any]
"""The bytes of a body, and its value."""

NUMBERS = {"u8": 1, "u16": 2, "u32": 4, "u64": 8, "u128": 16}
KINDS = {
    "id": ("numeric", "string"),
    "key": ("balanced", "partition_id", "messages_key"),
    "consumer": ("consumer", "group", "external_group"),
    "strategy": ("offset", "timestamp", "first", "last", "next"),
}
"""The names of kinds, whose codes begin at 1."""
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
        f"length size, offset u64, state state, {_CHECKED}, headers_len len:headers, headers map, payload data"
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
    f"{_NAMED}, wait_us u64, request_timeout_us u64, min_count u32, count u32, max_bytes u32, auto_commit flag,"
    " targets_count gap:4"
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


# --- bytes and values ---


def parts(fields: Layout, row: Row) -> dict[str, bytes]:
    """Return the bytes of each field; a length, a size and a checksum are computed where the row has none."""
    found = {path: _part(kind, row, path) for path, kind in fields}
    for path, kind in fields:
        if kind.startswith("len:") and path not in row:
            found[path] = little(len(found[kind[4:]]), 4)
    if fields[0][1] == "size" and fields[0][0] not in row:
        found[fields[0][0]] = little(sum(len(part) for part in found.values()) - 4, 4)
    for path, kind in fields:
        if path in row:
            continue
        behind = b"".join(part for name, part in found.items() if name != path)
        if kind == "crc":
            found[path] = little(zlib.crc32(found["payload"]), 4)
        elif kind == "wide-crc":
            found[path] = little(zlib.crc32(behind), 8)
        elif kind == "xxh3":
            found[path] = little(xxhash.xxh3_64_intdigest(behind), 8)
    return found


def packed(fields: Layout, row: Row) -> bytes:
    """Return the bytes of a row."""
    return b"".join(parts(fields, row).values())


def little(number: int, size: int) -> bytes:
    return number.to_bytes(size, "little")


SIZES = {**NUMBERS, "len": 4, "size": 4, "crc": 4, "wide-crc": 8, "xxh3": 8}


def _part(kind: str, row: Row, path: str) -> bytes:
    value = row.get(path)
    name, _, detail = kind.partition(":")
    if isinstance(value, bytes):
        return value
    if name == "gap" or name in SIZES:
        return little(value or 0, int(detail) if name == "gap" else SIZES[name])
    if kind == "present":
        return little(row.get(path, row.get("partition_id") is not None), 1)
    return _OTHERS[kind](value)


def _kind(kind: str, value: Any) -> bytes:
    """Return the code of a kind by name, the first one where there is none; a number stands for itself."""
    code = value if isinstance(value, int) else KINDS[kind].index(value or KINDS[kind][0]) + 1
    return little(code, 1)


def _named(kind: str, value: tuple[str, bytes]) -> bytes:
    return _kind(kind, value[0]) + little(len(value[1]), 1) + value[1]


_OTHERS: Mapping[str, Callable[[Any], bytes]] = {
    "flag": lambda value: little(int(value or 0), 1),
    "state": lambda value: little(value if isinstance(value, int) else STATES[value or "available"], 1),
    **{kind: partial(_kind, kind) for kind in ("consumer", "strategy")},
    **{kind: partial(_named, kind) for kind in ("id", "key")},
    "map": lambda value: tlv(*(value or ())),
    "keyed": lambda value: block(*(value or ())),
    "data": lambda _: b"",
}
"""The bytes of what is no number, by its type."""


def shown(fields: Layout, row: Row) -> dict[str, Any]:
    """Return the value of a row: nested by the dots of its paths, without lengths and gaps."""
    made = parts(fields, row)
    value: dict[str, Any] = {}
    for path, kind in fields:
        if kind.split(":")[0] in ("len", "size", "gap", "present"):
            continue
        at, *steps = (value, *path.split("."))
        for step in steps[:-1]:
            at = at.setdefault(step, {})
        at[steps[-1]] = _shown(kind, row.get(path), made[path])
    return value


def _shown(kind: str, value: Any, made: bytes) -> Any:
    if isinstance(value, bytes):
        return value.hex()
    if kind in SIZES:
        return None if value is None and kind == "u32" else str(int.from_bytes(made, "little"))
    return _VALUES[kind](value)


_VALUES: Mapping[str, Callable[[Any], Any]] = {
    "flag": bool,
    "state": lambda value: value or "available",
    "consumer": lambda value: value or "consumer",
    "strategy": lambda value: value or "offset",
    **{kind: lambda value: kind_value(*value) for kind in ("id", "key")},
    "map": lambda value: map_value(*(value or ())),
    "keyed": lambda value: keyed_value(*(value or ())),
    "data": lambda _: "",
}
"""The value of what is no number, by its type."""


def batch(revision: str, row: Row, frames: Sequence[bytes]) -> bytes:
    """Return a batch of frames; its length, its count and its checksum are computed where the row has none."""
    has_producer = row.get("producer.producer_id") is not None
    fixed: dict[str, Any] = {
        "batch_length": 256 + sum(map(len, frames)),
        "message_count": len(frames),
        **({"flags": int(has_producer)} if revision != "0.11" else {}),
        **row,
    }
    made = parts(BATCHES[revision], fixed)
    covered = [part for path, part in made.items() if path not in ("batch_checksum", "reserved")][:5]
    covered.append(made["message_count"])
    if has_producer:
        covered += [b"\1", *(made[f"producer.{name}"] for name in ("producer_id", "epoch", "base_sequence"))]
    seal = xxhash.xxh3_64_intdigest(b"".join((*covered, *(one[:8] for one in frames))))
    made["batch_checksum"] = little(row.get("batch_checksum", seal), 8)
    return b"".join((*made.values(), *frames))


def batch_shown(revision: str, row: Row, data: bytes) -> dict[str, Any]:
    """Return the value of the header of a batch, from its row and its bytes."""
    value = shown(BATCHES[revision], row)
    if revision != "0.11" and row.get("producer.producer_id") is None:
        value["producer"] = None
    seal, count = data[40:48], data[48:52]
    numbers = {"message_count": count, "batch_checksum": seal}
    return value | {name: str(int.from_bytes(part, "little")) for name, part in numbers.items()}


def frame_shown(head: Row, row: Row) -> dict[str, Any]:
    """Return the value of a frame, with what follows from the header of its batch."""
    top = 1 << 64
    return {
        **shown(FRAME, row),
        "offset": str((head.get("base_offset", 0) + row.get("offset_delta", 0)) % top),
        "timestamp": str(head.get("base_timestamp", 0)),
        "origin_timestamp": str((head.get("origin_timestamp", 0) + row.get("timestamp_delta", 0)) % top),
    }
