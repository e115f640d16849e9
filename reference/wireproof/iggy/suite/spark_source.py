"""The source `iggy_log` for Spark: its tables, split points, and revisions of segments."""

from collections.abc import Callable, Iterable
from decimal import Decimal
from typing import Any, Final

import pyarrow as pa
from attrs import evolve

from wireproof import formats
from wireproof.iggy import log
from wireproof.iggy.headers import key_bytes
from wireproof.iggy.log import first_offset
from wireproof.iggy.suite.index_files import log_format
from wireproof.spark.logs.columns import (
    RAW,
    SHARED,
    RowData,
    SourceColumn,
    SourceTable,
    decode_text,
    read_part,
)
from wireproof.spark.logs.sources import SourceKind
from wireproof.spark.logs.split_points import framing_of_records

# --- columns ---

UNSIGNED: Final = pa.decimal128(20, 0)
"""The type of unsigned 64-bit offsets and timestamps, which no integer type of Spark can hold."""


def _stored(row: RowData) -> Any:  # noqa: ANN401 - a message, a batch of messages, or None
    """Return the record of a row: a message, or a batch of messages."""
    return row.record if row.record is not None else row.item.value


def _of(name: str, kind: pa.DataType, read: Callable[[Any], Any]) -> SourceColumn:
    return SourceColumn(name, kind, read_part(read, _stored))


def _number(*names: str) -> Callable[[Any], Decimal | None]:
    """Return a function that reads the first of these fields that a record has."""

    def read(record: Any) -> Decimal | None:  # noqa: ANN401 - a record of any revision
        name = next((name for name in names if hasattr(record, name)), None)
        return None if name is None else Decimal(getattr(record, name))

    return read


def messages_of(record: Any) -> tuple[Any, ...]:  # noqa: ANN401 - as above
    """Return the messages of a batch, or the record itself if it is a message."""
    messages: tuple[Any, ...] = getattr(record, "messages", (record,))
    return messages


def _count(record: Any) -> int:  # noqa: ANN401 - as above
    """Return the number of headers of all messages; header bytes that are not a map count as none."""
    return sum(len(message.headers) for message in messages_of(record) if isinstance(message.headers, tuple))


_HEADER: Final = (
    _of("offset", UNSIGNED, lambda record: Decimal(first_offset(record))),
    _of("timestamp", UNSIGNED, _number("timestamp", "base_timestamp", "max_timestamp")),
    _of("id", pa.string(), lambda record: str(record.id) if hasattr(record, "id") else None),
    _of("state", pa.string(), lambda message: getattr(message, "state", None)),
)

FRAMES: Final = SourceTable(
    (
        *SHARED,
        SourceColumn("revision", pa.string(), lambda row: row.revision),
        *_HEADER,
        _of("checksum", UNSIGNED, _number("checksum", "batch_checksum")),
        _of("messages_count", pa.int32(), lambda record: len(messages_of(record))),
        _of("headers_count", pa.int32(), _count),
        _of(
            "payload_length",
            pa.int64(),
            lambda record: sum(len(message.payload) for message in messages_of(record)),
        ),
        RAW,
    ),
)
"""One row for each record, or run of bytes that is none. `timestamp` is in microseconds, `id` is decimal.

The `offset` of a batch is its base offset; its `timestamp` is its base timestamp, in 0.2.7 its largest one.
"""


def _rows(row: RowData) -> Iterable[RowData]:
    if row.item.value is None:
        return (row,)
    messages = messages_of(row.item.value)
    return [evolve(row, index=index, record=message) for index, message in enumerate(messages)]


HEADERS: Final = pa.list_(pa.struct([("key", pa.string()), ("kind", pa.string()), ("value", pa.binary())]))


def _headers(message: Any) -> list[dict[str, Any]] | None:  # noqa: ANN401 - a message of any revision
    """Return the header map, or None if the header bytes are not a map."""
    if isinstance(message.headers, bytes):
        return None
    return [
        {"key": decode_text(key_bytes(key)), "kind": value.kind, "value": value.value}
        for key, value in message.headers
    ]


RECORDS: Final = SourceTable(
    (
        *SHARED,
        *_HEADER,
        _of("headers", HEADERS, _headers),
        _of("payload", pa.binary(), lambda message: message.payload),
    ),
    _rows,
)
"""One row for each message, with its contents; `kind` determines how to read the bytes of a header value."""

# --- the source ---


IGGY: Final = {revision: framing_of_records(formats.get("iggy.log", revision)) for revision in log.REVISIONS}
"""The rules by revision."""

LOG: Final = SourceKind(
    "wireproof.iggy_log",
    IGGY,
    FRAMES,
    RECORDS,
    (".log",),
    revision_of=lambda head: None if (fmt := log_format(head)) is None else fmt.revision,
    facts={
        "first_offset": _of("first_offset", UNSIGNED, lambda record: Decimal(first_offset(record))),
        "last_offset": _of(
            "last_offset",
            UNSIGNED,
            lambda record: Decimal(first_offset(record) + max(len(messages_of(record)) - 1, 0)),
        ),
        "timestamp_number": _of(
            "timestamp_number", UNSIGNED, _number("timestamp", "base_timestamp", "max_timestamp")
        ),
        "records": _of("records", pa.int64(), lambda record: len(messages_of(record))),
    },
    partition=r"/topics/(?P<topic>[^/]+)/partitions/(?P<partition>\d+)/[^/]+$",
)
