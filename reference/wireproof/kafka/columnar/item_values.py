"""Items of a scan with values of the format's classes, so that the judge can compare them field by field.

This makes an object for each record: it is for comparison, not for speed.
"""

from operator import itemgetter
from typing import Final

from wireproof.columnar.basic_kernels import Octets, Row
from wireproof.columnar.optional_deps import np
from wireproof.kafka import control_layouts
from wireproof.kafka.batch import MAGIC
from wireproof.kafka.columnar import record_header_kernels
from wireproof.kafka.columnar.entry_kernels import CODEC, CONTROL, HEADER
from wireproof.kafka.columnar.entry_scan import ScanStep
from wireproof.kafka.columnar.judged_block import JudgedBlock
from wireproof.kafka.control_types import ABORT
from wireproof.kafka.layouts import BATCH
from wireproof.kafka.values import Control, LogEntry, Message, Record, RecordBatch, RecordHeader
from wireproof.wire.layout import attribute_of
from wireproof.wire.layout_codec import runs
from wireproof.wire.scan_items import Item

_COLUMNS: Final = (*(HEADER.names or ()), "magic")

_in_order = itemgetter(*(_COLUMNS.index(attribute_of(part.name)) for part in BATCH.numbers))
"""The integers of a batch from a row of `HEADER` and the magic, which no row has."""

(_MARKER_KEY,), (_MARKER_VALUE,) = runs(control_layouts.KEY), runs(control_layouts.VALUES[ABORT])
"""Version and type; version and coordinatorEpoch: kafka.md §1.9."""


def value_items(step: ScanStep) -> list[Item]:
    """Return the items of a step, whose block must have slots, with their values."""
    if step.block is None:
        return [step.answers[0]]
    block, first = step.block, np.concatenate(([0], np.cumsum(step.block.records)))
    return [
        step.answers[index] if index in step.answers else _item(block, index, int(first[index]))
        for index in range(block.clean.size)
    ]


def _item(block: JudgedBlock, index: int, first: int) -> Item:
    at, length = int(block.entries.position[index]), int(block.entries.length[index])
    return Item("frame", at, length, _entry(block, index, first))


def _entry(block: JudgedBlock, index: int, first: int) -> LogEntry:
    header, magic = block.entry_headers[index], int(block.entries.magic[index])
    slots = block.slots[first : first + int(block.records[index])]
    if magic == 2:
        return _batch(block, header, slots)
    messages = tuple(_message(block, slot, magic) for slot in slots)
    if not int(header["attributes"]) & CODEC:
        return messages[0]
    attributes, timestamp = int(header["attributes"]), int(header["max_timestamp"])
    return Message(int(header["base_offset"]), magic, attributes, timestamp, None, None, messages)


def _batch(block: JudgedBlock, header: Row, slots: Row) -> RecordBatch:
    records = tuple(_record(block, header, slot) for slot in slots)
    return RecordBatch(*batch_numbers(header), records=records)  # type: ignore[misc, arg-type] # in order


def batch_numbers(header: Row) -> tuple[int, ...]:
    """Return the integers of a batch in the order of its layout: kafka.md §1.1."""
    numbers: tuple[int, ...] = _in_order((*header.tolist(), MAGIC))
    return numbers


def _record(block: JudgedBlock, header: Row, slot: Row) -> Record:
    key = _octets(block, slot["key_at"], slot["key_length"])
    value = _octets(block, slot["value_at"], slot["value_length"])
    return Record(
        attributes=int(slot["attributes"]),
        timestamp_delta=int(slot["timestamp_delta"]),
        offset_delta=int(slot["offset"]) - int(header["base_offset"]),
        key=key,
        value=value,
        headers=_headers(block, slot),
        offset=int(slot["offset"]),
        timestamp=int(slot["timestamp"]),
        control=read_marker(key, value) if int(header["attributes"]) & CONTROL else None,
    )


def read_marker(key: bytes | None, value: bytes | None) -> Control:
    """Decode an ABORT or COMMIT marker; the kernels call no other control record clean: kafka.md §1.9."""
    assert key is not None, "a marker without key is not clean"
    assert value is not None, "as above"
    _, kind = _MARKER_KEY.peek(key, 0)
    version, epoch = _MARKER_VALUE.peek(value, 0)
    return Control(kind, version, epoch)


def _message(block: JudgedBlock, slot: Row, magic: int) -> Message:
    key = _octets(block, slot["key_at"], slot["key_length"])
    value = _octets(block, slot["value_at"], slot["value_length"])
    offset, timestamp = int(slot["offset"]), int(slot["timestamp"])
    return Message(offset, magic, int(slot["attributes"]), timestamp, key, value, None)


def _octets(block: JudgedBlock, at: Row, length: Row) -> bytes | None:
    if length < 0:
        return None
    space, start = _space(block, int(at))
    return bytes(space[start : start + int(length)])


def _space(block: JudgedBlock, at: int) -> tuple[Octets, int]:
    size = block.entries.wire.size
    return (block.entries.wire, at) if at < size else (block.arena, at - size)


def _headers(block: JudgedBlock, slot: Row) -> tuple[RecordHeader, ...]:
    count = int(slot["headers"])
    at, length = np.empty((2, count), np.uint64), np.empty((2, count), np.int32)
    slots = np.array([slot])
    record_header_kernels.locate_headers(
        block.entries.wire, block.arena, slots["headers_at"], slots["headers"], at, length
    )
    keys, values = (
        [_octets(block, *place) for place in zip(at[row], length[row], strict=True)] for row in (0, 1)
    )
    return tuple((key or b"", value) for key, value in zip(keys, values, strict=True))
