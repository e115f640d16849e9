"""Rows of Iggy segments: a frame is a record of the file. iggy.md, sections 2.3, 3.3, 5, 6 and 7."""

from collections.abc import Callable, Iterable
from decimal import Decimal
from typing import Any, Final

import pyarrow as pa
from attrs import evolve

from wireproof.iggy.batch import Batch, Framed
from wireproof.iggy.headers import octets_of
from wireproof.iggy.message import Polled40, Polled70, Polled90, Stored30
from wireproof.iggy.retained import Retained
from wireproof.spark.columns import RAW, SHARED, Column, Line, Table, itself, of_part, text

UNSIGNED: Final = pa.decimal128(20, 0)
"""Offsets and timestamps have 64 bits without a sign, which no integer of Spark holds."""


Stored = Stored30 | Polled40 | Polled70 | Polled90 | Framed | Retained | Batch
"""A record: a message, or a batch of some."""


def _stored(line: Line) -> Stored | None:
    record: Stored | None = line.record if line.record is not None else line.item.value
    return record


def _of(name: str, kind: pa.DataType, read: Callable[[Any], Any]) -> Column:
    return Column(name, kind, of_part(read, _stored))


def _number(*names: str) -> Callable[[Any], Decimal | None]:
    """The first of these fields that a record has."""

    def read(record: Any) -> Decimal | None:  # noqa: ANN401 - a record of any revision
        name = next((name for name in names if hasattr(record, name)), None)
        return None if name is None else Decimal(getattr(record, name))

    return read


def messages_of(record: Any) -> tuple[Any, ...]:  # noqa: ANN401 - as above
    """The messages of a batch, or the one that a record is."""
    found: tuple[Any, ...] = getattr(record, "messages", (record,))
    return found


def _count(record: Any) -> int:  # noqa: ANN401 - as above
    """The headers of all messages; a block that is no map has none."""
    return sum(len(one.headers) for one in messages_of(record) if isinstance(one.headers, tuple))


_HEADER: Final = (
    _of("offset", UNSIGNED, _number("offset", "base_offset")),
    _of("timestamp", UNSIGNED, _number("timestamp", "base_timestamp", "max_timestamp")),
    _of("id", pa.string(), lambda record: str(record.id) if hasattr(record, "id") else None),
    _of("state", pa.string(), lambda message: getattr(message, "state", None)),
)

FRAMES: Final = Table(
    (
        *SHARED,
        Column("revision", pa.string(), lambda line: line.revision),
        *_HEADER,
        _of("checksum", UNSIGNED, _number("checksum", "batch_checksum")),
        _of("messages_count", pa.int32(), lambda record: len(messages_of(record))),
        _of("headers_count", pa.int32(), _count),
        _of(
            "payload_length", pa.int64(), lambda record: sum(len(one.payload) for one in messages_of(record))
        ),
        RAW,
    ),
    itself,
)
"""One row a record, or a run of bytes that is none. `timestamp` in microseconds; `id` in decimal.

Of a batch, `offset` is its base offset, `timestamp` its base timestamp, or in 0.2.7 its largest.
"""


def _lines(line: Line) -> Iterable[Line]:
    if line.item.value is None:
        return (line,)
    messages = messages_of(line.item.value)
    return [evolve(line, index=index, record=one) for index, one in enumerate(messages)]


HEADERS: Final = pa.list_(pa.struct([("key", pa.string()), ("kind", pa.string()), ("value", pa.binary())]))


def _headers(message: Any) -> list[dict[str, Any]] | None:  # noqa: ANN401 - a message of any revision
    """The map, or null where the block is none."""
    if isinstance(message.headers, bytes):
        return None
    return [
        {"key": text(octets_of(key)), "kind": value.kind, "value": value.value}
        for key, value in message.headers
    ]


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
