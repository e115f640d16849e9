"""Rows of Kafka logs: one for each entry, or one for each record. kafka.md §1.1, §1.3, §2.1, §2.2."""

from collections.abc import Callable, Iterable
from struct import Struct
from typing import Any, Final

import pyarrow as pa
from attrs import evolve, frozen

from wireproof.columnar.frames import count
from wireproof.columnar.heads import CODECS
from wireproof.kafka.arithmetic import CONTROL, TRANSACTIONAL, wrap64
from wireproof.kafka.frame import LEAST, OVERHEAD, THROUGH_MAGIC
from wireproof.kafka.values import Message, Record, RecordBatch
from wireproof.spark.columns import HEAD, RAW, SHARED, Column, Line, Table, itself, of_part

_BATCH: Final = Struct(">qiiBIhiqqqhii")
_V0: Final = Struct(">qiIBb")
_V1: Final = Struct(">qiIBbq")


@frozen
class Head:
    """The header of an entry as it stands in the bytes, whether the entry is right or not."""

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


def head(line: Line) -> Head | None:
    """The header, if size and magic are right and the entry is not cut; else None."""
    data, item = line.head, line.item
    if item.kind == "tail" or len(data) < THROUGH_MAGIC or data[16] > 2:
        return None
    size = int.from_bytes(data[8:OVERHEAD], "big", signed=True)
    if item.length != size + OVERHEAD or size < LEAST[data[16]]:
        return None
    return _batch(data) if data[16] == 2 else _message(data)


def _batch(data: bytes) -> Head:
    base, _, epoch, magic, _, attributes, delta, first, most, producer, generation, sequence, _ = (
        _BATCH.unpack_from(data)
    )
    return Head(
        magic,
        attributes,
        wrap64(base + delta),
        base_offset=base,
        leader_epoch=epoch,
        base_timestamp=first,
        max_timestamp=most,
        producer_id=producer,
        producer_epoch=generation,
        base_sequence=sequence,
    )


def _message(data: bytes) -> Head:
    """One offset: its own, and that of the last message inside a wrapper."""
    offset, _, _, magic, attributes = _V0.unpack_from(data)
    stamp = _V1.unpack_from(data)[5] if magic else -1
    return Head(magic, attributes, offset, base_offset=offset, max_timestamp=stamp)


def _codec(found: Head) -> str:
    return CODECS[found.attributes & 7]


def _records(line: Line) -> int | None:
    """Of a frame; what damage says of itself is no number of records."""
    return count(line.item) if line.item.kind == "frame" else None


def _flag(bit: int) -> Callable[[Head], bool]:
    return lambda found: found.magic == 2 and bool(found.attributes & bit)


def _plain(name: str, kind: pa.DataType) -> Column:
    return Column(name, kind, of_part(lambda found: getattr(found, name), head))


FRAMES: Final = Table(
    (
        *SHARED,
        Column("revision", pa.string(), of_part(lambda found: f"v{found.magic}", head)),
        _plain("base_offset", pa.int64()),
        _plain("last_offset", pa.int64()),
        _plain("leader_epoch", pa.int32()),
        _plain("attributes", pa.int32()),
        Column("codec", pa.string(), of_part(_codec, head)),
        Column("transactional", pa.bool_(), of_part(_flag(TRANSACTIONAL), head)),
        Column("control", pa.bool_(), of_part(_flag(CONTROL), head)),
        _plain("base_timestamp", pa.int64()),
        _plain("max_timestamp", pa.int64()),
        _plain("producer_id", pa.int64()),
        _plain("producer_epoch", pa.int32()),
        _plain("base_sequence", pa.int32()),
        Column("records", pa.int64(), _records),
        RAW,
    ),
    itself,
    fast="heads",
)
"""One row an entry, or a run of bytes that is none. Header columns show what stands there, right or not."""


def _lines(line: Line) -> Iterable[Line]:
    match line.item.value:
        case RecordBatch(records=records):
            found: tuple[Record | Message, ...] = records
        case Message(messages=None) as alone:
            found = (alone,)
        case Message(messages=messages):
            found = messages or ()
        case _:
            return (line,)
    return (evolve(line, index=index, record=one) for index, one in enumerate(found))


def _record(line: Line) -> Record | Message | None:
    record: Record | Message | None = line.record
    return record


def _headers(record: Record | Message) -> list[tuple[bytes, bytes | None]]:
    return list(record.headers) if isinstance(record, Record) else []


HEADERS: Final = pa.list_(pa.struct([("key", pa.binary()), ("value", pa.binary())]))


def _of_record(name: str, kind: pa.DataType, read: Callable[[Record | Message], Any]) -> Column:
    return Column(name, kind, of_part(read, _record))


RECORDS: Final = Table(
    (
        *SHARED,
        Column("revision", pa.string(), of_part(lambda found: f"v{found.magic}", head)),
        Column("control", pa.bool_(), of_part(_flag(CONTROL), head)),
        Column("index", pa.int32(), lambda line: line.index),
        _of_record("offset", pa.int64(), lambda record: record.offset),
        _of_record("timestamp", pa.int64(), lambda record: record.timestamp),
        _of_record("key", pa.binary(), lambda record: record.key),
        _of_record("value", pa.binary(), lambda record: record.value),
        _of_record("headers", HEADERS, lambda record: [{"key": k, "value": v} for k, v in _headers(record)]),
    ),
    _lines,
    fast="records",
)
"""One row a record, at the position of its entry; what is no frame has a row without record."""

assert _BATCH.size == HEAD, "the longest header"
