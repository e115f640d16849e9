"""Read Kafka logs with the fast decoder, chunk by chunk: entries or records.

`columnar` passes entries that are not clean to the reference. If bytes are not an entry at all, the end of
the garbage depends on everything after it, so the reference reads on in the object itself.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, Final, Generic, TypeVar

import numpy as np
from attrs import define, evolve, field, frozen

from wireproof import formats
from wireproof.columnar.basic_kernels import Array
from wireproof.formats import Format
from wireproof.kafka.columnar import KafkaFrames, clean_records
from wireproof.kafka.columnar.entry_kernels import HEADER
from wireproof.kafka.columnar.entry_scan import ScanStep, scan_steps, step_frames
from wireproof.kafka.columnar.garbage_search import garbage_item
from wireproof.kafka.columnar.header_columns import ALL_COLUMNS, ITEM_COLUMNS, header_columns
from wireproof.kafka.columnar.judged_block import RecordForm
from wireproof.kafka.columnar.parallel_garbage_search import find_garbage_end
from wireproof.kafka.family.spark_framing import KAFKA
from wireproof.spark.columns import FRAME_COLUMNS, ORDERED_COLUMNS, ColumnsOrItem, EntryColumns
from wireproof.spark.objects import ObjectReader, PieceReader
from wireproof.spark.split_points import (
    FREE_REREAD,
    REREAD_FACTOR,
    SplitPoint,
    is_certain,
    recheck_item,
    recover_by_item,
)
from wireproof.wire.options import Options
from wireproof.wire.scan_items import Item

MIB: Final = 1024 * 1024

ENTRY_CHUNKS: Final = (2 * MIB, 8 * MIB)
"""Bytes of the first chunk and of the longest; after bytes that are not an entry, the size starts anew."""

RECORD_CHUNKS: Final = (2 * MIB, 4 * MIB)
"""The same if records are read; `columnar` limits their decompressed bytes."""

MAX_WAITING: Final = 1 << 16
"""Rows that are collected before columns are made, if these need no bytes: each batch has a fixed cost."""

RECORD_ENTRY_COLUMNS: Final = ("position", "length", "magic", "attributes")
"""The columns of `columnar.HEADER_COLUMNS` that rows of records show of their entry."""

NO_HEADERS: Final = np.empty(0, HEADER)


def read_entries(
    stored: ObjectReader, start: int, end: int, options: Options, names: Sequence[str] = ALL_COLUMNS
) -> Iterator[ColumnsOrItem]:
    """Yield the entries from `start` to `end`, both split points, in order and without gaps.

    Entries that the reference refuses are rows too; other bytes are items. `names` are the wanted columns.
    """
    collector = _EntryCollector(stored, names)
    for part in read_parts(stored, start, end, options, EntryReading(None, ENTRY_CHUNKS, collector.add)):
        if isinstance(part, Item):
            yield from collector.rest()
        yield part
    yield from collector.rest()


@define
class _EntryCollector:
    """Makes columns: of each step on its own if a column needs the headers, else of many steps together."""

    stored: ObjectReader
    names: Sequence[str]
    waiting: list[KafkaFrames] = field(factory=list)
    count: int = 0

    def add(self, step: ScanStep, base: int) -> Iterator[EntryColumns]:
        """Add the entries of a step, whose chunk begins at `base`; yield columns if they are ready."""
        assert step.block is not None, "of whole entries"
        frames = step_frames(step, base)
        self.waiting.append(frames)
        self.count += len(frames)
        if not ITEM_COLUMNS.issuperset(self.names):
            yield from self.rest(step.block.entry_headers)
        elif self.count >= MAX_WAITING:
            yield from self.rest()

    def rest(self, entry_headers: Array = NO_HEADERS) -> Iterator[EntryColumns]:
        """Yield the entries that are waiting."""
        if self.waiting:
            frames = KafkaFrames.joined(self.waiting) if len(self.waiting) > 1 else self.waiting[0]
            yield EntryColumns(self.stored, header_columns(frames, entry_headers, self.names))
        self.waiting, self.count = [], 0


def read_records(stored: ObjectReader, start: int, end: int, options: Options) -> Iterator[ColumnsOrItem]:
    """Yield the records from `start` to `end`, both split points, in order and without gaps.

    Records of clean entries are rows; other entries, and bytes that are not an entry, are items.
    """
    reading = EntryReading("columns", RECORD_CHUNKS, partial(_step_records, stored))
    return read_parts(stored, start, end, options, reading)


def _step_records(stored: ObjectReader, step: ScanStep, base: int) -> Iterator[ColumnsOrItem]:
    """Yield the records of the clean entries of a step and, between them, the items of the others."""
    block = step.block
    assert block is not None, "of whole entries"
    entries = header_columns(step_frames(step, base), block.entry_headers, RECORD_ENTRY_COLUMNS)
    records, entry_index = clean_records(block), np.repeat(np.arange(block.records.size), block.records)
    first = 0
    for stop in sorted({*step.answers, block.records.size}):
        if stop > first:
            low, high = map(int, np.searchsorted(entry_index, (first, stop)))
            yield EntryColumns(
                stored,
                entries.slice(first, stop - first),
                records.slice(low, high - low),
                entry_index[low:high] - first,
            )
        if stop in step.answers:
            yield _moved(step.answers[stop], base)
        first = stop + 1


def read_frames(
    stored: ObjectReader, start: int, end: int, options: Options, ordered: bool
) -> Iterator[ColumnsOrItem]:
    """Yield the entries of a range, with the columns that a scan needs, and those whose order it checks."""
    return read_entries(stored, start, end, options, ORDERED_COLUMNS if ordered else FRAME_COLUMNS)


# --- chunks ---

Part = TypeVar("Part")


@frozen
class EntryReading(Generic[Part]):
    """The way to read whole entries.

    Attributes:
        keep: the form in which records are kept, as for `columnar.kafka_scan.scan_steps`.
        chunks: bytes of the first chunk and of the longest.
        make_parts: makes the parts of a scan step, from the step and the position of its chunk in the object.
    """

    keep: RecordForm
    chunks: tuple[int, int]
    make_parts: Callable[[ScanStep, int], Iterator[Part]]


def read_parts(
    stored: ObjectReader, start: int, end: int, options: Options, reading: EntryReading[Any]
) -> Iterator[Any]:
    """Yield the parts that `reading` makes of whole entries, and the items of all other bytes."""
    at, reread, size = start, 0, reading.chunks[0]
    # the parts refer to the bytes of kept records, and the memory of `chunk` is used again
    read = stored.read if reading.keep else stored.chunk
    while at < end:
        if reread > FREE_REREAD + REREAD_FACTOR * (at - start):
            yield from KAFKA.items(KAFKA, stored, at, end, options)
            return
        base, stopped = at, False
        chunk = read(base, min(size, end - base))
        for step in scan_steps(chunk, options, keep=reading.keep):
            if step.block is None:
                stopped = step.answers[0].kind != "tail" or base + len(chunk) >= end
                break
            yield from reading.make_parts(step, base)
            at = base + int(step.block.entries.end[-1])
        reread += base + len(chunk) - at if stopped else 0
        size = min(2 * max(size, len(chunk)), reading.chunks[1] if at > base else stored.size)
        if stopped and at < end:
            item = _reference_item(stored, at, options, end)
            at, size = at + item.length, reading.chunks[0]
            yield item


def _reference_item(stored: ObjectReader, at: int, options: Options, end: int) -> Item:
    """Return the item at `at`; `end` is a split point."""
    pieces = stored.pieces(at)
    found = garbage_item(stored.read, at, stored.size, options)
    item = _moved(next(iter(formats.scan(KAFKA.fmt, pieces, options))), at) if found is None else found[0]
    return recheck_item(KAFKA.fmt, pieces, item, options, end)


def _moved(item: Item, base: int) -> Item:
    """Return an item of a chunk at its position in the object."""
    return evolve(item, at=base + item.at)


# --- split points ---


def recover(fmt: Format, pieces: PieceReader, options: Options) -> Iterator[SplitPoint]:
    """Yield the same split points as `recover_by_item`; all cores search long garbage."""
    stored = pieces.stored
    find_end = partial(find_garbage_end, threads=os.cpu_count() or 1)
    found = garbage_item(stored.read, pieces.position, stored.size, options, find_end)
    if found is not None:
        garbage, settled = found
        end = garbage.at + garbage.length
        pieces.skip(end)
        yield SplitPoint(end, settled or is_certain(fmt, pieces, garbage, options), garbage)
    if pieces.position < stored.size:
        yield from recover_by_item(fmt, pieces, options)
