"""Bytes of Kafka entries from named parts, with the value that the format document gives them.

Nothing here comes from the codec under test: integers are packed by `struct`, checksums come from their own
libraries, values are put together from the parts by the rules of kafka.md §1.3, §1.8 and §2.2.
"""

import struct
import zlib
from typing import Any

import google_crc32c

T = 1700000000000

Json = Any


i8, i16, i32, i64, u32 = (struct.Struct(f">{code}").pack for code in "bhiqI")


def varint(value: int, pad: int = 0) -> bytes:
    """Zigzag, base 128; `pad` adds that many overlong bytes."""
    out = bytearray(base128(value << 1 if value >= 0 else (-value << 1) - 1))
    for _ in range(pad):
        out[-1] |= 0x80
        out.append(0)
    return bytes(out)


def base128(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes((*out, value))


def nullable(data: bytes | None) -> bytes:
    """varint length and bytes; null is -1."""
    return varint(-1) if data is None else varint(len(data)) + data


def header(key: bytes, value: bytes | None) -> bytes:
    return varint(len(key)) + key + nullable(value)


def hexed(data: bytes | None) -> str | None:
    return None if data is None else data.hex()


def body(
    key: bytes | None = None,
    value: bytes | None = None,
    headers: tuple[tuple[bytes, bytes | None], ...] = (),
    *,
    ts: int = 0,
    off: int = 0,
    attributes: int = 0,
) -> bytes:
    """The part of a v2 record that its length counts: kafka.md §1.3, fields 2 to 9."""
    return b"".join(
        (
            i8(attributes), varint(ts), varint(off), nullable(key), nullable(value),
            varint(len(headers)), *(header(k, v) for k, v in headers),
        )
    )  # fmt: skip


def framed(data: bytes, delta: int = 0) -> bytes:
    """A record body under its length, which is `delta` too high."""
    return varint(len(data) + delta) + data


def record(key: bytes | None = None, value: bytes | None = None, headers: Any = (), **more: int) -> bytes:
    return framed(body(key, value, headers, **more))


def record_value(
    key: bytes | None = None,
    value: bytes | None = None,
    headers: Any = (),
    *,
    ts: int = 0,
    off: int = 0,
    attributes: int = 0,
    base: int = 0,
    base_ts: int = T,
    append: int | None = None,
    control: Json = None,
) -> Json:
    return {
        "attributes": str(attributes),
        "timestampDelta": str(ts),
        "offsetDelta": str(off),
        "key": hexed(key),
        "value": hexed(value),
        "headers": [[hexed(k), hexed(v)] for k, v in headers],
        "offset": str(wrap64(base + off)),
        "timestamp": str(wrap64(base_ts + ts) if append is None else append),
        "control": control,
    }


def wrap64(value: int) -> int:
    return (value + (1 << 63)) % (1 << 64) - (1 << 63)


def batch(
    records: bytes,
    count: int,
    *,
    base: int = 0,
    epoch: int = 0,
    magic: int = 2,
    attributes: int = 0,
    last: int | None = None,
    base_ts: int = T,
    max_ts: int = T,
    pid: int = -1,
    pepoch: int = -1,
    seq: int = -1,
    crc: int | None = None,
    length: int | None = None,
) -> bytes:
    """A v2 batch of 61 header bytes and `records` as they stand."""
    tail = (
        struct.pack(">hiqqqhii", attributes, max(count - 1, 0) if last is None else last,
                    base_ts, max_ts, pid, pepoch, seq, count) + records
    )  # fmt: skip
    size = 49 + len(records) if length is None else length
    seal = google_crc32c.value(tail) if crc is None else crc
    return i64(base) + i32(size) + i32(epoch) + i8(magic) + u32(seal) + tail


def batch_value(
    records: list[Json],
    *,
    base: int = 0,
    epoch: int = 0,
    attributes: int = 0,
    last: int | None = None,
    base_ts: int = T,
    max_ts: int = T,
    pid: int = -1,
    pepoch: int = -1,
    seq: int = -1,
) -> Json:
    return {
        "baseOffset": str(base),
        "partitionLeaderEpoch": str(epoch),
        "magic": "2",
        "attributes": str(attributes),
        "lastOffsetDelta": str(max(len(records) - 1, 0) if last is None else last),
        "baseTimestamp": str(base_ts),
        "maxTimestamp": str(max_ts),
        "producerId": str(pid),
        "producerEpoch": str(pepoch),
        "baseSequence": str(seq),
        "records": records,
    }


def message(
    magic: int,
    key: bytes | None = None,
    value: bytes | None = None,
    *,
    offset: int = 0,
    attributes: int = 0,
    ts: int = T,
    crc: int | None = None,
    size: int | None = None,
    extra: bytes = b"",
    raw: bytes | None = None,
) -> bytes:
    """A v0 or v1 message; `raw` stands for key and value as they are on the wire."""
    fields = raw if raw is not None else lengthed(key) + lengthed(value)
    tail = i8(magic) + struct.pack(">B", attributes) + (i64(ts) if magic else b"") + fields + extra
    seal = zlib.crc32(tail) if crc is None else crc
    return i64(offset) + i32(len(tail) + 4 if size is None else size) + u32(seal) + tail


def lengthed(data: bytes | None) -> bytes:
    """int32 length and bytes; null is -1."""
    return i32(-1) if data is None else i32(len(data)) + data


def message_value(
    magic: int,
    key: bytes | None = None,
    value: bytes | None = None,
    *,
    offset: int = 0,
    attributes: int = 0,
    ts: int = T,
    messages: list[Json] | None = None,
) -> Json:
    return {
        "offset": str(offset),
        "magic": str(magic),
        "attributes": str(attributes),
        "timestamp": str(ts if magic else -1),
        "key": hexed(key),
        "value": hexed(value),
        "messages": messages,
    }
