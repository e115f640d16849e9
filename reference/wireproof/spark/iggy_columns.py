"""Rows of Iggy segments: a frame is a record of the file. iggy.md, sections 2.3, 3.3 and 7."""

from collections.abc import Callable, Iterable
from decimal import Decimal
from typing import Any, Final

import pyarrow as pa
from attrs import evolve

from wireproof.iggy.message import Polled40, Stored30
from wireproof.spark.columns import RAW, SHARED, Column, Line, Table, itself, of_part, text

UNSIGNED: Final = pa.decimal128(20, 0)
"""Offsets and timestamps have 64 bits without a sign, which no integer of Spark holds."""


def _stored(line: Line) -> Stored30 | Polled40 | None:
    message: Stored30 | Polled40 | None = line.item.value
    return message


def _of(name: str, kind: pa.DataType, read: Callable[[Stored30 | Polled40], Any]) -> Column:
    return Column(name, kind, of_part(read, _stored))


_HEADER: Final = (
    _of("offset", UNSIGNED, lambda message: Decimal(message.offset)),
    _of("timestamp", UNSIGNED, lambda message: Decimal(message.timestamp)),
    _of("id", pa.string(), lambda message: str(message.id)),
    _of("state", pa.string(), lambda message: getattr(message, "state", None)),
)

FRAMES: Final = Table(
    (
        *SHARED,
        Column("revision", pa.string(), lambda line: line.revision),
        *_HEADER,
        _of("checksum", pa.int64(), lambda message: message.checksum),
        _of("headers_count", pa.int32(), lambda message: len(message.headers)),
        _of("payload_length", pa.int64(), lambda message: len(message.payload)),
        RAW,
    ),
    itself,
)
"""One row a record, or a run of bytes that is none. `timestamp` in microseconds; `id` in decimal."""


def _lines(line: Line) -> Iterable[Line]:
    return (line if line.item.value is None else evolve(line, index=0, record=line.item.value),)


HEADERS: Final = pa.list_(pa.struct([("key", pa.string()), ("kind", pa.string()), ("value", pa.binary())]))


def _headers(message: Stored30 | Polled40) -> list[dict[str, Any]]:
    return [{"key": text(k), "kind": v.kind, "value": v.value} for k, v in message.headers]


RECORDS: Final = Table(
    (
        *SHARED,
        *_HEADER,
        _of("headers", HEADERS, _headers),
        _of("payload", pa.binary(), lambda message: message.payload),
    ),
    _lines,
)
"""The same with contents; a header's value is its bytes as they stand, its kind says what they mean."""
