"""Read Kafka logs with the fast decoder, chunk by chunk: entries or records.

`columnar` passes entries that are not clean to the reference. If bytes are not an entry at all, the end of
the garbage depends on everything after it, so the reference reads on in the object itself.
"""

from collections.abc import Callable, Generator, Iterator, Sequence
from functools import lru_cache, partial
from struct import Struct
from typing import Final

import numpy as np
from attrs import evolve

from wireproof import formats
from wireproof.cases.case import Accept, Reject
from wireproof.columnar.basic_kernels import Array
from wireproof.formats import Format
from wireproof.kafka.columnar import KafkaFrames
from wireproof.kafka.columnar.columns import (
    ALL_COLUMNS,
    CODECS,
    ITEM_COLUMNS,
    clean_records,
    header_columns,
)
from wireproof.kafka.columnar.entry_kernels import HEADER
from wireproof.kafka.columnar.entry_scan import ScanStep, step_frames, step_parts
from wireproof.kafka.columnar.garbage_search import garbage_item
from wireproof.kafka.layouts import BY_MAGIC
from wireproof.kafka.scan import MAX_ENTRY
from wireproof.kafka.size_and_magic import (
    HEADER_SIZE_UP_TO_MAGIC,
    LOG_OVERHEAD,
    MAGIC_AT,
    MIN_SIZE_BY_MAGIC,
    SIZE_AT,
)
from wireproof.kafka.suite.streams import ATTRIBUTE_CAPABILITIES
from wireproof.spark.item_cases import ItemCase, case_of_bytes
from wireproof.spark.logs.columns import ColumnsOrItem, EntryColumns
from wireproof.spark.logs.objects import ObjectReader, PieceReader
from wireproof.spark.logs.split_points import (
    FastScan,
    SplitPoint,
    StreamFraming,
    is_certain,
    recover_by_item,
)
from wireproof.wire.byte_source import ByteSource
from wireproof.wire.json_values import json_of
from wireproof.wire.options import Options
from wireproof.wire.scan_items import Item
from wireproof.wire.walk import Chunk, ChunkEnd, QuickReader, quick_parts

MIB: Final = 1024 * 1024

ENTRY_CHUNKS: Final = (2 * MIB, 8 * MIB)
"""Bytes of the first chunk and of the longest; after bytes that are not an entry, the size starts anew."""

RECORD_CHUNKS: Final = (2 * MIB, 4 * MIB)
"""The same if records are read; `columnar` limits their decompressed bytes."""

MAX_WAITING: Final = 1 << 16
"""Rows that are collected before columns are made, if these need no bytes: each batch has a fixed cost."""

RECORD_ENTRY_COLUMNS: Final = ("position", "length", "magic", "attributes")
"""The columns of `columnar.HEADER_COLUMNS` that rows of records show of their entry."""

STEPS: Final = formats.steps_of(formats.get("kafka.log", "mixed"))

NO_HEADERS: Final = np.empty(0, HEADER)


def read_entries(
    stored: ObjectReader, start: int, end: int, options: Options, names: Sequence[str] = ALL_COLUMNS
) -> Iterator[ColumnsOrItem]:
    """Yield the entries from `start` to `end`, both split points, in order and without gaps.

    Entries that the reference refuses are rows too; other bytes are items. `names` are the wanted columns: of
    each step on its own if one of them needs the headers, else of many steps together.
    """
    waiting = list[KafkaFrames]()

    def rest(entry_headers: Array = NO_HEADERS) -> Iterator[EntryColumns]:
        if waiting:
            frames = KafkaFrames.joined(waiting) if len(waiting) > 1 else waiting[0]
            waiting.clear()
            yield EntryColumns(stored, header_columns(frames, entry_headers, names))

    def add(step: ScanStep, base: int) -> Iterator[EntryColumns]:
        assert step.block is not None, "of whole entries"
        waiting.append(step_frames(step, base))
        if not ITEM_COLUMNS.issuperset(names):
            yield from rest(step.block.entry_headers)
        elif sum(map(len, waiting)) >= MAX_WAITING:
            yield from rest()

    for part in _read_parts(stored, start, end, options, add, ENTRY_CHUNKS, values=False):
        if isinstance(part, Item):
            yield from rest()
        yield part
    yield from rest()


def read_records(stored: ObjectReader, start: int, end: int, options: Options) -> Iterator[ColumnsOrItem]:
    """Yield the records from `start` to `end`, both split points, in order and without gaps.

    Records of clean entries are rows; other entries, and bytes that are not an entry, are items.
    """
    make = partial(_step_records, stored)
    return _read_parts(stored, start, end, options, make, RECORD_CHUNKS, values=True)


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
            yield evolve(step.answers[stop], at=base + step.answers[stop].at)
        first = stop + 1


def _read_parts(
    stored: ObjectReader,
    start: int,
    end: int,
    options: Options,
    make: Callable[[ScanStep, int], Iterator[ColumnsOrItem]],
    chunks: tuple[int, int],
    *,
    values: bool,
) -> Iterator[ColumnsOrItem]:
    """Yield what `make` makes of whole entries, given the position of their chunk, and the other items."""

    def read(
        chunk: Chunk, base: int, options: Options, values: bool
    ) -> Generator[ColumnsOrItem, None, ChunkEnd]:
        def parts(step: ScanStep) -> Generator[ColumnsOrItem, None, None]:
            yield from make(step, base)

        return (yield from step_parts(chunk, options, parts, keep=values))

    quick = QuickReader[ColumnsOrItem](read, chunks, chunks, _garbage)
    return quick_parts(STEPS, stored, options, start, quick, values=values, end=end)


def _garbage(source: ByteSource, at: int, options: Options) -> Item | None:
    found = garbage_item(source.read, at, source.size, options)
    return None if found is None else found[0]


# --- split points ---


def recover(fmt: Format, pieces: PieceReader, options: Options) -> Iterator[SplitPoint]:
    """Yield the same split points as `recover_by_item`; kernels search long garbage."""
    stored = pieces.stored
    found = garbage_item(stored.read, pieces.position, stored.size, options)
    if found is not None:
        garbage, settled = found
        end = garbage.at + garbage.length
        pieces.skip(end)
        yield SplitPoint(end, settled or is_certain(fmt, pieces, garbage, options), garbage)
    if pieces.position < stored.size:
        yield from recover_by_item(fmt, pieces, options)


# --- cases of entries ---


def _format(magic: int) -> Format:
    return formats.get("kafka.batch", f"v{magic}")


def item_case(item: Item, data: bytes, options: Options) -> ItemCase:
    """Make a case of a whole entry, by its magic; other bytes are no case."""
    size = int.from_bytes(data[8:12], "big", signed=True) + 12
    if len(data) < 17 or data[16] > 2 or size != len(data):
        return ItemCase(item, data, None)
    expect: Accept | Reject = Reject(item.cls or "other")
    value = json_of(item.value, with_derived=True)
    if item.kind == "frame":
        classes = tuple(dict.fromkeys(remark.cls for remark in item.remarks))
        expect = Accept(value, len(data), classes)
    case = case_of_bytes(_format(data[16]), data, expect, options)
    at = BY_MAGIC[data[MAGIC_AT]].offset("attributes")
    attributes = int.from_bytes(data[at : at + 2]) if data[MAGIC_AT] == 2 else data[at]
    records = value.get("records") if isinstance(value, dict) else None
    headers = isinstance(records, list) and any(
        isinstance(record, dict) and record["headers"] for record in records
    )
    needs = _needs(data[MAGIC_AT], attributes, headers=headers)
    return ItemCase(item, data, evolve(case, needs=needs))


@lru_cache(maxsize=1024)
def _needs(magic: int, attributes: int, *, headers: bool) -> tuple[str, ...]:
    """Return the same as `capabilities_of_case`, from attributes and value: kafka.md §1.2, §2.1."""
    needs = {f"codec:{CODECS[attributes & 7]}"}
    needs |= {atom for bit, atom in ATTRIBUTE_CAPABILITIES if magic == 2 and attributes & bit}
    if magic < 2 and attributes & 7:
        needs.add("feature:wrapper")
    if headers:
        needs.add("feature:headers")
    return tuple(atom for atom in _format(magic).capabilities if atom in needs)


# --- the rules of a stream ---

_SIZE_MAGIC: Final = Struct(f">{SIZE_AT}xi{MAGIC_AT - LOG_OVERHEAD}xB")


def _stride(stored: ObjectReader, position: int, options: Options) -> int:
    """Follow a header: size and magic (kafka.md §1.4), with the limits of kafka/scan.py."""
    data, at = stored.at(position, HEADER_SIZE_UP_TO_MAGIC)
    if len(data) - at < HEADER_SIZE_UP_TO_MAGIC:
        return 0
    size, magic = _SIZE_MAGIC.unpack_from(data, at)
    most = MAX_ENTRY if options.max_message is None else options.max_message
    if magic > 2 or not MIN_SIZE_BY_MAGIC[magic] <= size <= most:
        return 0
    total: int = size + LOG_OVERHEAD
    return total if position + total <= stored.size else 0


ENTRY_FORMATS: Final = tuple(f"kafka.batch/v{magic}" for magic in range(3))
"""The formats of entries, by magic."""

KAFKA: Final = StreamFraming(
    formats.get("kafka.log", "mixed"),
    _stride,
    recover,
    item_case=item_case,
    fast=FastScan(
        read_entries,
        ("offset", "last_offset", "leader_epoch", "max_timestamp", "codec", "records"),
        ENTRY_FORMATS,
        lambda data: ENTRY_FORMATS[data[MAGIC_AT]] if len(data) > MAGIC_AT else None,
    ),
)
