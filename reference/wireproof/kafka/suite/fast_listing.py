"""List a Kafka log with the fast decoder, chunk by chunk."""

from collections.abc import Generator, Iterator
from typing import Any, Final

import numpy as np
from attrs import evolve

from wireproof.kafka.attribute_bits import CONTROL
from wireproof.kafka.columnar.decoders import value_items
from wireproof.kafka.columnar.entry_scan import CheckedEntries, ScanStep, step_parts
from wireproof.kafka.columnar.garbage_search import garbage_item
from wireproof.kafka.scan import MAX_OFFSET_GAP
from wireproof.kafka.scan import scan as reference_scan
from wireproof.kafka.size_and_magic import SIZE_AT
from wireproof.kafka.suite.listing import HEADER_NAMES, batch_cells, message_cells
from wireproof.schema.layout import attribute_of
from wireproof.wire.byte_source import ByteSource, long_zeros
from wireproof.wire.options import Options
from wireproof.wire.scan_items import Item
from wireproof.wire.walk import Chunk, ChunkEnd, EntryRows, QuickReader

_NAMES: Final = tuple(map(attribute_of, HEADER_NAMES))


def _garbage(source: ByteSource, at: int, options: Options) -> Item | None:
    """Return the zeros, or the garbage up to the next valid entry; None if an entry may begin here."""
    if zeros := long_zeros(source, at):
        return Item("garbage", at, zeros, cls="bad-length")
    found = garbage_item(source.read, at, source.size, options)
    return None if found is None else found[0]


def _read(
    chunk: Chunk, base: int, options: Options, values: bool
) -> Generator[EntryRows | Item, None, ChunkEnd]:
    """Yield the entries as rows, and as items with their values those that are not clean.

    If `values`, every entry is an item with its value. Where the header of an entry is possible and its bytes
    are not, the reference searches for the next one.
    """

    def parts(step: ScanStep) -> Generator[EntryRows | Item, None, int | None]:
        stop = _doubtful(step)
        if values:
            yield from (evolve(item, at=base + item.at) for item in value_items(step)[:stop])
        else:
            yield from _rows(step, base, options, stop)
        return stop

    return (yield from step_parts(chunk, options, parts, keep=values))


def _doubtful(step: ScanStep) -> int | None:
    """Return the index of the first damaged entry after which no later one follows.

    No checksum covers the size of an entry. If it is too large, the entry hides the ones after it, for which
    the reference looks: `kafka.scan`.
    """
    assert step.block is not None, "of whole entries"
    entries = step.block.entries
    count = len(entries.position)

    def offset(index: int) -> int:
        at = int(entries.position[index])
        return int.from_bytes(entries.view[at : at + SIZE_AT], "big", signed=True)

    for index, item in sorted(step.answers.items()):
        if item.kind == "garbage":
            is_last = index + 1 == count
            if is_last or not 0 < offset(index + 1) - offset(index) < MAX_OFFSET_GAP:
                return index
    return None


def _rows(step: ScanStep, base: int, options: Options, stop: int | None) -> Iterator[EntryRows | Item]:
    """Yield the entries before `stop`, or all; the reference reads control batches again, for their type."""
    block = step.block
    assert block is not None, "of whole entries"
    entries = block.entries
    stop = len(entries.position) if stop is None else stop
    starts = (entries.position.astype(np.int64) + base).tolist()
    rows = EntryRows(starts, entries.length.tolist(), _cells(block))
    control = np.flatnonzero((entries.magic == 2) & (block.entry_headers["attributes"] & CONTROL != 0))
    first = 0
    for index in sorted(index for index in {*step.answers, *control.tolist()} if index < stop):
        if index > first:
            yield rows.part(first, index)
        at, length = rows.at[index], rows.length[index]
        item = step.answers.get(index)
        if item is None:
            (item,) = reference_scan([bytes(entries.view[at - base : at - base + length])], options)
        yield evolve(item, at=at)
        first = index + 1
    if first < stop:
        yield rows.part(first, stop)


def _cells(block: CheckedEntries) -> list[tuple[Any, ...]]:
    """Return the cells of every entry of a block; those of entries that are not clean have no meaning."""
    assert block.first_offset is not None, "of verdicts alone"
    headers = block.entry_headers
    numbers_of = zip(*(headers[name].tolist() for name in _NAMES), strict=True)
    if block.entries.magic.min() == 2:
        return [batch_cells(numbers, None) for numbers in numbers_of]
    columns = zip(block.entries.magic.tolist(), numbers_of, block.first_offset.tolist(), strict=True)
    rows = []
    for magic, numbers, first in columns:
        if magic == 2:
            rows.append(batch_cells(numbers, None))
        else:
            offset, _, crc, attributes, _, _, timestamp, *_, count = numbers
            rows.append(message_cells((offset, 0, crc, magic, attributes, timestamp), first, count))
    return rows


# The first chunk and the largest have 1 MiB and 4 MiB, or 1 MiB if every record becomes an object; an entry
# that is larger gets a chunk of its size.
DECODER: Final = QuickReader(_read, (1 << 20, 4 << 20), (1 << 20, 1 << 20), _garbage)
