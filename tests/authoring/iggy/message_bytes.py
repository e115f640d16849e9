"""Bytes and values of Iggy from named parts: iggy.md §2 and §3. No code of the codec under test.

Functions in lower case give bytes; those that end in `_value` give the JSON form that stands for them.
"""

import base64
import json
import zlib
from struct import pack
from typing import Any

CODES = {
    "raw": 1,
    "string": 2,
    "bool": 3,
    "int8": 4,
    "int16": 5,
    "int32": 6,
    "int64": 7,
    "int128": 8,
    "uint8": 9,
    "uint16": 10,
    "uint32": 11,
    "uint64": 12,
    "uint128": 13,
    "float32": 14,
    "float64": 15,
}
STATES = {"available": 1, "unavailable": 10, "poisoned": 20, "marked_for_deletion": 30}
TS = 1692374400000000
"""Microseconds: the timestamp of the worked examples."""

Header = tuple[bytes, str, bytes]


def u8(number: int) -> bytes:
    return pack("<B", number)


def u32(number: int) -> bytes:
    return pack("<I", number)


def u64(number: int) -> bytes:
    return pack("<Q", number)


def u128(number: int) -> bytes:
    return pack("<QQ", number & (1 << 64) - 1, number >> 64)


# --- header maps ---


def entry(
    key: bytes, kind: int | str, value: bytes, *, key_len: int | None = None, val_len: int | None = None
) -> bytes:
    code = CODES[kind] if isinstance(kind, str) else kind
    sizes = (len(key) if key_len is None else key_len, len(value) if val_len is None else val_len)
    return u32(sizes[0]) + key + u8(code) + u32(sizes[1]) + value


def tlv(*headers: Header) -> bytes:
    return b"".join(entry(*header) for header in headers)


def map_value(*headers: Header) -> list[Any]:
    """Sorted by key, as a map is shown."""
    rows = sorted(headers, key=lambda header: header[0])
    return [[key.hex(), {"kind": kind, "value": value.hex()}] for key, kind, value in rows]


KEY1: Header = (b"key-1", "string", b"Value 1")
BLOG: tuple[Header, ...] = (
    (b"key 1", "string", b"value1"),
    (b"key-2", "bool", b"\x01"),
    (b"key_3", "uint64", u64(123456)),
)
ALL: tuple[Header, ...] = (
    (b"a", "raw", b"\x00\xff"),
    (b"b", "string", "é".encode()),
    (b"c", "bool", b"\x00"),
    (b"d", "int8", pack("<b", -1)),
    (b"e", "int16", pack("<h", -2)),
    (b"f", "int32", pack("<i", -3)),
    (b"g", "int64", pack("<q", -4)),
    (b"h", "int128", b"\xfb" + b"\xff" * 15),
    (b"i", "uint8", u8(255)),
    (b"j", "uint16", pack("<H", 258)),
    (b"k", "uint32", u32(0x01020304)),
    (b"l", "uint64", u64(0x0102030405060708)),
    (b"m", "uint128", u128(0x0102030405060708090A0B0C0D0E0F10)),
    (b"n", "float32", pack("<f", 1.5)),
    (b"o", "float64", pack("<d", 123.45)),
)
"""The values of W3."""


# --- identifiers and partitionings ---


def numeric(number: int) -> bytes:
    return b"\x01\x04" + u32(number)


def name(text: bytes) -> bytes:
    return b"\x02" + u8(len(text)) + text


def tagged(kind: int, value: bytes, length: int | None = None) -> bytes:
    return u8(kind) + u8(len(value) if length is None else length) + value


def kind_value(kind: str, value: bytes) -> dict[str, str]:
    return {"kind": kind, "value": value.hex()}


BALANCED = b"\x01\x00"
PLACE = numeric(1) + name(b"sample")
PLACE_VALUE = {"stream": kind_value("numeric", u32(1)), "topic": kind_value("string", b"sample")}


# --- messages ---


def body(
    payload: bytes, headers: bytes = b"", *, headers_len: int | None = None, payload_len: int | None = None
) -> bytes:
    sizes = (
        len(headers) if headers_len is None else headers_len,
        len(payload) if payload_len is None else payload_len,
    )
    return u32(sizes[0]) + headers + u32(sizes[1]) + payload


def sent(number: int, payload: bytes, headers: bytes = b"", **lengths: int) -> bytes:
    return u128(number) + body(payload, headers, **lengths)


def sent_value(number: int, payload: bytes, *headers: Header) -> dict[str, Any]:
    return {"id": str(number), "headers": map_value(*headers), "payload": payload.hex()}


def polled30(offset: int, payload: bytes, headers: bytes = b"", **lengths: int) -> bytes:
    return u64(offset) + u64(TS + offset) + u128(offset + 1) + body(payload, headers, **lengths)


def polled30_value(offset: int, payload: bytes, *headers: Header) -> dict[str, Any]:
    return {"offset": str(offset), "timestamp": str(TS + offset), **sent_value(offset + 1, payload, *headers)}


def polled40(
    offset: int,
    payload: bytes,
    headers: bytes = b"",
    *,
    state: int = 1,
    checksum: int | None = None,
    **lengths: int,
) -> bytes:
    check = zlib.crc32(payload) if checksum is None else checksum
    head = u64(offset) + u8(state) + u64(TS + offset) + u128(offset + 1) + u32(check)
    return head + body(payload, headers, **lengths)


def polled40_value(
    offset: int, payload: bytes, *headers: Header, state: str = "available", checksum: int | None = None
) -> dict[str, Any]:
    check = zlib.crc32(payload) if checksum is None else checksum
    rest = {"headers": map_value(*headers), "payload": payload.hex()}
    return {
        "offset": str(offset),
        "state": state,
        "timestamp": str(TS + offset),
        "id": str(offset + 1),
        "checksum": str(check),
        **rest,
    }


def stored30(
    offset: int, payload: bytes, headers: bytes = b"", *, checksum: int | None = None, **lengths: int
) -> bytes:
    check = zlib.crc32(payload) if checksum is None else checksum
    head = u64(offset) + u64(TS + offset) + u128(offset + 1) + u32(check)
    return head + body(payload, headers, **lengths)


def stored30_value(offset: int, payload: bytes, *headers: Header) -> dict[str, Any]:
    value = polled40_value(offset, payload, *headers)
    del value["state"]
    return value


HELLO, WORLD = b"hello", b"world"


# --- JSON ---


def b64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def text(tree: Any) -> bytes:
    return json.dumps(tree, separators=(",", ":"), ensure_ascii=False).encode()


def json_headers(*headers: Header) -> dict[str, Any]:
    return {key.decode(): {"kind": kind, "value": b64(value)} for key, kind, value in headers}


def unhex(digits: str) -> bytes:
    return bytes.fromhex(digits)
