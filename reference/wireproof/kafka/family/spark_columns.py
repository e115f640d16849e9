"""The columns of Kafka logs: tables of entries and of records. kafka.md §1.1, §1.3, §2.1, §2.2."""

from collections.abc import Callable, Iterable
from operator import attrgetter
from struct import Struct
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
from attrs import evolve, frozen

from wireproof.columnar.header_columns import CODECS
from wireproof.columnar.kafka_scan import count_records
from wireproof.kafka.attribute_bits import CONTROL, TRANSACTIONAL, wrap64
from wireproof.kafka.family.spark_reader import read_entries, read_records
from wireproof.kafka.size_and_magic import HEADER_SIZE_UP_TO_MAGIC, LOG_OVERHEAD, MIN_SIZE_BY_MAGIC
from wireproof.kafka.values import Message, Record, RecordBatch
from wireproof.spark.columns import (
    HEADER_BYTES,
    RAW,
    SHARED,
    EntryColumns,
    RowData,
    SourceColumn,
    SourceTable,
    item_row,
    read_part,
)

_BATCH: Final = Struct(">qiiBIhiqqqhii")
_V0: Final = Struct(">qiIBb")
_V1: Final = Struct(">qiIBbq")


@frozen
class EntryHeader:
    """The header of an entry as it is in the bytes, valid or not."""

    magic: int
    attributes: int
    last_offset: int
    base_offset: int | None = None
    leader_epoch: int | None = None
    base_timestamp: int | None = None
    max_timestamp: int | None = None
    producer_id: int | None = None
    producer_epoch: int | None = None
    base_sequence: int | None = None

    @property
    def codec(self) -> str:
        """Return the name of the codec."""
        return CODECS[self.attributes & 7]


def read_header(row: RowData) -> EntryHeader | None:
    """Return the header, if size and magic are valid and the entry is not cut; else None."""
    data, item = row.head, row.item
    if item.kind == "tail" or len(data) < HEADER_SIZE_UP_TO_MAGIC or data[16] > 2:
        return None
    size = int.from_bytes(data[8:LOG_OVERHEAD], "big", signed=True)
    if item.length != size + LOG_OVERHEAD or size < MIN_SIZE_BY_MAGIC[data[16]]:
        return None
    return _batch(data) if data[16] == 2 else _message(data)


def _batch(data: bytes) -> EntryHeader:
    (
        base_offset,
        _,
        leader_epoch,
        magic,
        _,
        attributes,
        last_offset_delta,
        base_timestamp,
        max_timestamp,
        producer_id,
        producer_epoch,
        base_sequence,
        _,
    ) = _BATCH.unpack_from(data)
    return EntryHeader(
        magic,
        attributes,
        wrap64(base_offset + last_offset_delta),
        base_offset=base_offset,
        leader_epoch=leader_epoch,
        base_timestamp=base_timestamp,
        max_timestamp=max_timestamp,
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        base_sequence=base_sequence,
    )


def _message(data: bytes) -> EntryHeader:
    """Return the header of a message; a wrapper has the offset of its last inner message."""
    offset, _, _, magic, attributes = _V0.unpack_from(data)
    timestamp = _V1.unpack_from(data)[5] if magic else -1
    return EntryHeader(magic, attributes, offset, base_offset=offset, max_timestamp=timestamp)


def _header_column(
    name: str,
    kind: pa.DataType,
    read: Callable[[EntryHeader], Any] | None = None,
    entries: Callable[[pa.RecordBatch], pa.Array] | None = None,
) -> SourceColumn:
    """Return a column of the header of an entry.

    Args:
        name: its name; also that of the field, and of the decoder's column, unless functions are given.
        kind: its type.
        read: returns the value from a header.
        entries: returns the values from rows of `columnar.HEADER_COLUMNS`.
    """
    return SourceColumn(
        name,
        kind,
        read_part(read or attrgetter(name), read_header),
        None if entries is None else lambda rows: rows.per_row(entries(rows.entries)),
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


def _count(row: RowData) -> int | None:
    """Return the number of records of a frame; None for other items, whose count cannot be trusted."""
    return count_records(row.item) if row.item.kind == "frame" else None


def _counts(rows: EntryColumns) -> pa.Array:
    """Return the same numbers from the columns of a decoder."""
    return pc.if_else(pc.equal(rows.column("kind"), "frame"), rows.column("records"), None)


FRAMES: Final = SourceTable(
    (
        *SHARED,
        _REVISION,
        _header_column("base_offset", pa.int64(), entries=lambda entries: entries.column("offset")),
        _header_column("last_offset", pa.int64()),
        _header_column("leader_epoch", pa.int32()),
        _header_column("attributes", pa.int32()),
        _header_column("codec", pa.string()),
        _flag("transactional", TRANSACTIONAL),
        _CONTROL,
        _header_column("base_timestamp", pa.int64()),
        _header_column("max_timestamp", pa.int64()),
        _header_column("producer_id", pa.int64()),
        _header_column("producer_epoch", pa.int32()),
        _header_column("base_sequence", pa.int32()),
        SourceColumn("records", pa.int64(), _count, _counts),
        RAW,
    ),
    item_row,
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


def _headers(record: Record | Message) -> list[tuple[bytes, bytes | None]]:
    return list(record.headers) if isinstance(record, Record) else []


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
            lambda record: [{"key": key, "value": value} for key, value in _headers(record)],
        ),
    ),
    _rows,
    decode=read_records,
)
"""One row for each record, at the position of its entry; other items have a row without record."""

assert _BATCH.size == HEADER_BYTES, "the longest header"
