"""The base of the mutants that repeat a bug of a released codec, and the input that shows each bug.

A trigger is written from what the tracker says about the bug, never from a case of the suite. The builders
make its bytes by hand; of the codec they use only the CRC-32C. Each mutant is one class; `history_kafka`,
`history_iggy` and `history_heka` list them.
"""

import zlib
from collections.abc import Callable
from struct import pack
from typing import ClassVar

from attrs import frozen

from tests.mutants.patched import Patched
from wireproof.adapters.contract import Request
from wireproof.cases.case import Op
from wireproof.wire.checksums import crc32c
from wireproof.wire.json_values import Json
from wireproof.wire.options import DEFAULT_OPTIONS, Options

NO_PRODUCER = (-1, -1, -1)
"""Producer id, producer epoch and base sequence of a producer that is not idempotent."""


class Panic(BaseException):
    """The end of a process in which the codec runs: a panic of Go or Rust, a read outside of the memory."""


@frozen
class Trigger:
    """The least input that shows a bug.

    Attributes:
        op: `decode`, `encode` or `scan`.
        format_id: such as `kafka.batch/v2`.
        data: the bytes to decode or scan, or a function that makes them if they are many.
        value: the value to encode, in JSON form, or a function that makes it.
        options: the options of the request.
    """

    op: Op
    format_id: str
    data: bytes | Callable[[], bytes] = b""
    value: "Json | Callable[[], Json]" = None
    options: Options = DEFAULT_OPTIONS

    def request(self) -> Request:
        """Return the request that the trigger means."""
        name, _, revision = self.format_id.partition("/")
        data = self.data() if callable(self.data) else self.data
        value = self.value() if callable(self.value) else self.value
        whole, chunks = (b"", (data,)) if self.op == "scan" else (data, ())
        return Request("1", self.op, name, revision, whole, value, chunks, self.options)


class Repeated(Patched):
    """The base of the mutants that repeat a bug.

    Attributes:
        bug: the link to the report or the correction.
        trigger: the least input that shows it.
    """

    bug: ClassVar[str] = ""
    trigger: ClassVar[Trigger]


# --- bytes of Kafka entries ---


def varint(value: int) -> bytes:
    """Return a zigzag varint."""
    raw, out = (value << 1) ^ (value >> 63), bytearray()
    while raw > 0x7F:
        out.append(raw & 0x7F | 0x80)
        raw >>= 7
    return bytes((*out, raw))


def _sized(data: bytes | None) -> bytes:
    return varint(-1) if data is None else varint(len(data)) + data


def record(
    offset_delta: int,
    key: bytes | None = None,
    value: bytes | None = b"v",
    *,
    headers: tuple[tuple[bytes, bytes | None], ...] = (),
    timestamp_delta: int = 0,
) -> bytes:
    """Return the bytes of a record of a v2 batch."""
    body = b"\0" + varint(timestamp_delta) + varint(offset_delta) + _sized(key) + _sized(value)
    body += varint(len(headers)) + b"".join(_sized(name) + _sized(data) for name, data in headers)
    return varint(len(body)) + body


def batch(
    base: int,
    records: bytes,
    count: int,
    *,
    attributes: int = 0,
    last: int | None = None,
    times: tuple[int, int] = (1000, 1000),
    producer: tuple[int, int, int] = NO_PRODUCER,
) -> bytes:
    """Return the bytes of a v2 batch; `records` are its bytes from 61 on, `times` base and maximum."""
    delta = max(count - 1, 0) if last is None else last
    covered = pack(">hiqqqhii", attributes, delta, *times, *producer, count) + records
    return pack(">qiibI", base, len(covered) + 9, 0, 2, crc32c(covered)) + covered


def _bytes(data: bytes | None) -> bytes:
    return pack(">i", -1) if data is None else pack(">i", len(data)) + data


def message(
    offset: int, magic: int, key: bytes | None, value: bytes | None, *, attributes: int = 0, time: int = 1000
) -> bytes:
    """Return the bytes of a v0 or v1 message."""
    head = pack(">bb", magic, attributes) + (pack(">q", time) if magic else b"")
    covered = head + _bytes(key) + _bytes(value)
    return pack(">qiI", offset, len(covered) + 4, zlib.crc32(covered)) + covered


def gzipped(data: bytes) -> bytes:
    """Return one gzip member."""
    return zlib.compress(data, wbits=31)


def literal_block(data: bytes) -> bytes:
    """Return a raw snappy block of one literal element, which needs no compressor."""
    size, length = bytearray(), len(data)
    while length > 0x7F:
        size.append(length & 0x7F | 0x80)
        length >>= 7
    size.append(length)
    tag = bytes(((len(data) - 1) << 2,)) if len(data) <= 60 else b"\xf4" + pack("<H", len(data) - 1)
    return bytes(size) + tag + data


def xerial(*blocks: bytes, versions: bytes = pack(">ii", 1, 1)) -> bytes:
    """Return a xerial stream of raw snappy blocks."""
    chunks = b"".join(pack(">i", len(block)) + block for block in blocks)
    return b"\x82SNAPPY\0" + versions + chunks


# --- values of Kafka entries, in JSON form ---


def record_value(
    offset_delta: int, key: bytes | None = None, value: bytes | None = b"v", **more: Json
) -> Json:
    """Return the value of a record; `more` replaces fields."""
    return {
        "attributes": "0",
        "timestampDelta": "0",
        "offsetDelta": str(offset_delta),
        "key": None if key is None else key.hex(),
        "value": None if value is None else value.hex(),
        "headers": [],
        **more,
    }


def batch_value(*records: Json, **more: Json) -> Json:
    """Return the value of a v2 batch; `more` replaces fields."""
    return {
        "baseOffset": "0",
        "partitionLeaderEpoch": "0",
        "magic": "2",
        "attributes": "0",
        "lastOffsetDelta": str(max(len(records) - 1, 0)),
        "baseTimestamp": "1000",
        "maxTimestamp": "1000",
        "producerId": "-1",
        "producerEpoch": "-1",
        "baseSequence": "-1",
        "records": list(records),
        **more,
    }


def message_value(offset: int, magic: int, key: bytes | None, value: bytes | None, **more: Json) -> Json:
    """Return the value of a v0 or v1 message; `more` replaces fields."""
    return {
        "offset": str(offset),
        "magic": str(magic),
        "attributes": "0",
        "timestamp": "1000" if magic else "-1",
        "key": None if key is None else key.hex(),
        "value": None if value is None else value.hex(),
        "messages": None,
        **more,
    }
