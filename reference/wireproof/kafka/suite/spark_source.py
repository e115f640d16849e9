"""The source `kafka_log` for Spark: its tables, split points, and options."""

from collections.abc import Callable, Iterable
from typing import Any, Final, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
from attrs import evolve

from wireproof.kafka.attribute_bits import CODEC_MASK, CONTROL, TRANSACTIONAL, wrap64
from wireproof.kafka.batch import BATCH
from wireproof.kafka.columnar.columns import CODECS, FIELD_COLUMNS, arrow_type
from wireproof.kafka.columnar.entry_scan import count_records
from wireproof.kafka.entry import peek_header
from wireproof.kafka.size_and_magic import (
    HEADER_SIZE_UP_TO_MAGIC,
    LOG_OVERHEAD,
    MAGIC_AT,
    MIN_SIZE_BY_MAGIC,
    SIZE_AT,
)
from wireproof.kafka.suite.index_files import begins_like_entries
from wireproof.kafka.suite.spark_reader import KAFKA, read_entries, read_records
from wireproof.kafka.values import Message, Record, RecordBatch
from wireproof.schema.layout import Number, attribute_of
from wireproof.spark.logs.columns import (
    HEADER_BYTES,
    RAW,
    SHARED,
    RowData,
    SourceColumn,
    SourceTable,
    read_part,
)
from wireproof.spark.logs.sources import SourceKind

# --- columns ---

EntryHeader: TypeAlias = RecordBatch | Message
"""The header of an entry as it is in the bytes, valid or not, without records, key and value."""

IN_MESSAGES: Final = {"base_offset": "offset", "attributes": "attributes", "max_timestamp": "timestamp"}
"""The fields of a batch that messages have too, with the names that they have there."""

_DECODER_COLUMNS: Final = {field.name: name for name, field in FIELD_COLUMNS.items()}
"""The decoder's column of each field of a batch."""


def read_header(row: RowData) -> EntryHeader | None:
    """Return the header, if size and magic are valid and the entry is not cut; else None."""
    data, item = row.head, row.item
    if item.kind == "tail" or len(data) < HEADER_SIZE_UP_TO_MAGIC or data[MAGIC_AT] > 2:
        return None
    size = int.from_bytes(data[SIZE_AT:LOG_OVERHEAD], "big", signed=True)
    if item.length != size + LOG_OVERHEAD or size < MIN_SIZE_BY_MAGIC[data[MAGIC_AT]]:
        return None
    return peek_header(data)


def _field(header: EntryHeader, name: str) -> int | None:
    """Return a field of a batch; of a message the field that has its place, or None."""
    own = name if isinstance(header, RecordBatch) else IN_MESSAGES.get(name)
    return None if own is None else getattr(header, own)


def _last_offset(header: EntryHeader) -> int:
    if isinstance(header, Message):  # a wrapper has the offset of its last inner message
        return header.offset
    return wrap64(header.base_offset + header.last_offset_delta)


def _header_column(
    name: str,
    kind: pa.DataType,
    read: Callable[[EntryHeader], Any],
    entries: Callable[[pa.RecordBatch], pa.Array] | None = None,
) -> SourceColumn:
    """Return a column of the header of an entry; `entries` is of rows of `columnar.HEADER_COLUMNS`.

    Without `entries` the decoder has a column of the same name.
    """
    return SourceColumn(
        name,
        kind,
        read_part(read, read_header),
        None if entries is None else lambda rows: rows.per_row(entries(rows.entries)),
    )


def _number(part: Number) -> SourceColumn:
    """Return the column of an integer of a batch."""
    attribute = attribute_of(part.name)
    column = _DECODER_COLUMNS[attribute]
    return _header_column(
        {"partition_leader_epoch": "leader_epoch"}.get(attribute, attribute),
        arrow_type(part, least_bits=32),
        lambda header: _field(header, attribute),
        lambda entries: entries.column(column),
    )


def _flag(name: str, bit: int) -> SourceColumn:
    """Return a column for an attribute bit of batches; false for messages."""

    def entries(entries: pa.RecordBatch) -> pa.Array:
        attributes, magic = (entries.column(name).to_numpy() for name in ("attributes", "magic"))
        return pa.array((magic == 2) & (attributes & bit != 0))

    return _header_column(
        name, pa.bool_(), lambda header: header.magic == 2 and bool(header.attributes & bit), entries
    )


REVISIONS: Final = ("v0", "v1", "v2")
"""The revisions of entries, by magic."""

_REVISION: Final = _header_column(
    "revision",
    pa.string(),
    lambda header: REVISIONS[header.magic],
    lambda entries: pa.array(REVISIONS).take(entries.column("magic")),
)
_CONTROL: Final = _flag("control", CONTROL)


_COMPUTED: Final = {
    "baseOffset": (_header_column("last_offset", pa.int64(), _last_offset),),
    "attributes": (
        _header_column("codec", pa.string(), lambda header: CODECS[header.attributes & CODEC_MASK]),
        _flag("transactional", TRANSACTIONAL),
        _CONTROL,
    ),
}
"""The columns that are computed from fields of a batch, which they follow."""

FRAMES: Final = SourceTable(
    (
        *SHARED,
        _REVISION,
        *(
            column
            for part in BATCH.numbers
            if part.name not in {"magic", "lastOffsetDelta"}  # `revision` and `last_offset` show them
            for column in (_number(part), *_COMPUTED.get(part.name, ()))
        ),
        SourceColumn(  # null for other items, whose count cannot be trusted
            "records",
            pa.int64(),
            lambda row: count_records(row.item) if row.item.kind == "frame" else None,
            lambda rows: pc.if_else(pc.equal(rows.column("kind"), "frame"), rows.column("records"), None),
        ),
        RAW,
    ),
    decode=read_entries,
)
"""One row for each entry, or run of bytes that is none. Header columns show the bytes, valid or not."""


def _rows(row: RowData) -> Iterable[RowData]:
    match row.item.value:
        case RecordBatch(records=inner):
            records: tuple[Record | Message, ...] = inner
        case Message(messages=None) as alone:
            records = (alone,)
        case Message(messages=messages):
            records = messages or ()
        case _:
            return (row,)
    return (evolve(row, index=index, record=record) for index, record in enumerate(records))


def _record(row: RowData) -> Record | Message | None:
    record: Record | Message | None = row.record
    return record


HEADERS: Final = pa.list_(pa.struct([("key", pa.binary()), ("value", pa.binary())]))


def _of_record(name: str, kind: pa.DataType, read: Callable[[Record | Message], Any]) -> SourceColumn:
    return SourceColumn(name, kind, read_part(read, _record))


RECORDS: Final = SourceTable(
    (
        *SHARED,
        _REVISION,
        _CONTROL,
        SourceColumn("index", pa.int32(), lambda row: row.index, lambda rows: rows.index),
        _of_record("offset", pa.int64(), lambda record: record.offset),
        _of_record("timestamp", pa.int64(), lambda record: record.timestamp),
        _of_record("key", pa.binary(), lambda record: record.key),
        _of_record("value", pa.binary(), lambda record: record.value),
        _of_record(
            "headers",
            HEADERS,
            lambda record: [
                {"key": key, "value": value}
                for key, value in (record.headers if isinstance(record, Record) else ())
            ],
        ),
    ),
    _rows,
    decode=read_records,
)
"""One row for each record, at the position of its entry; other items have a row without record."""

assert BATCH.fixed_size == HEADER_BYTES, "the longest header"

# --- the source ---


MAX_MESSAGE_BYTES: Final = 1024 * 1024 + LOG_OVERHEAD
"""Kafka's default of `max.message.bytes`, which limits whole batches: kafka/server/config, 1048588."""

_FACTS: Final = {
    "first_offset": "base_offset",
    "last_offset": "last_offset",
    "timestamp_number": "max_timestamp",
    "leader_epoch": "leader_epoch",
    "codec": "codec",
    "records": "records",
}

LOG: Final = SourceKind(
    "wireproof.kafka_log",
    {KAFKA.fmt.revision: KAFKA},
    FRAMES,
    RECORDS,
    (".log",),
    revision_of=lambda head: KAFKA.fmt.revision if begins_like_entries(head) else None,
    index_files=True,
    stream_max_message=MAX_MESSAGE_BYTES,
    facts={name: column for name, own in _FACTS.items() for column in FRAMES.columns if column.name == own},
    timestamp_scale=(1000, 1),
    partition=r"(^|/)(?P<topic>[^/]+)-(?P<partition>\d+)(\.[0-9a-f]+-(delete|stray|future))?/[^/]+$",
)
