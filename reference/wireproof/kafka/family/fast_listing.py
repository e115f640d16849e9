"""List a Kafka log with the fast decoder, chunk by chunk."""

from collections.abc import Generator, Iterator
from functools import partial
from typing import Any, Final

import numpy as np
from attrs import evolve

from wireproof.cases.byte_source import ByteSource
from wireproof.family import EntryRow
from wireproof.kafka import entry
from wireproof.kafka.attribute_bits import CONTROL
from wireproof.kafka.columnar.entry_scan import ScanStep, scan_steps
from wireproof.kafka.columnar.item_values import value_items
from wireproof.kafka.family.chunked_listing import Chunk, ChunkEnd, LogChunks, list_chunks
from wireproof.kafka.family.entry_cells import HEADER_NAMES, batch_cells, message_cells
from wireproof.kafka.layouts import BATCH
from wireproof.kafka.size_and_magic import peek_whole_entry
from wireproof.wire.layout import attribute_of
from wireproof.wire.options import Options
from wireproof.wire.reader import Budget, Reader
from wireproof.wire.scan_items import Item

CHUNKS: Final = (1 << 20, 2 << 20)
"""Bytes of the first chunk and of the largest; an entry that is larger gets a chunk of its size."""

VALUE_CHUNKS: Final = (1 << 20, 1 << 20)
"""The same if every record becomes an object."""


HEAD_BYTES: Final = BATCH.fixed_size
"""Bytes that have the header of any entry."""

_NAMES: Final = tuple(map(attribute_of, HEADER_NAMES))


def list_entries(
    source: ByteSource, options: Options, *, values: bool, begin: int = 0
) -> Iterator[EntryRow | Item]:
    """Yield the entries as rows, and as items those that are not clean, with their values.

    If `values`, every entry is an item with its value. Bytes that are no whole entry are left to the
    reference, which searches for the next one.
    """
    first, most = VALUE_CHUNKS if values else CHUNKS  # items refer to their bytes, rows do not
    chunks = LogChunks(source, first, most, keeps=values)
    return list_chunks(chunks, options, begin, partial(_judged, options, values))


def _judged(
    options: Options, values: bool, chunk: Chunk, base: int
) -> Generator[EntryRow | Item, None, ChunkEnd]:
    at = 0
    for step in scan_steps(chunk, options, keep="slots" if values else None):
        if step.block is None:
            return ChunkEnd(at, step.answers[0].kind != "tail")
        yield from _items(step, base) if values else _rows(step, base, options)
        at = int(step.block.entries.end[-1])
    return ChunkEnd(at, is_broken=False)


def _items(step: ScanStep, base: int) -> Iterator[Item]:
    return (evolve(item, at=base + item.at) for item in value_items(step))


def _rows(step: ScanStep, base: int, options: Options) -> Iterator[EntryRow | Item]:
    """Yield the entries of a step; the reference decodes control batches again, for their type."""
    block = step.block
    assert block is not None, "of whole entries"
    assert block.first_offset is not None, "of verdicts alone"
    entries, headers = block.entries, block.entry_headers
    plain = _plain(headers)
    starts = (entries.position.astype(np.int64) + base).tolist()
    numbers_of = zip(*(headers[name].tolist() for name in _NAMES), strict=True)
    columns = zip(
        starts, entries.length.tolist(), entries.magic.tolist(), plain.tolist(), numbers_of,
        block.first_offset.tolist(), strict=True,
    )  # fmt: skip
    for index, (at, length, magic, is_plain, numbers, first) in enumerate(columns):
        if index in step.answers:
            yield evolve(step.answers[index], at=at)
        elif magic == 2 and is_plain:
            yield EntryRow(at, length, batch_cells(numbers, None))
        elif magic == 2:
            yield _decoded(entries.view[at - base : at - base + length], at, options)
        else:
            head = bytes(entries.view[at - base : at - base + HEAD_BYTES])
            yield EntryRow(at, length, message_cells(head, first, numbers[-1]))


def _plain(headers: Any) -> Any:  # noqa: ANN401 - arrays
    """Return which batches need no look at their records: all but control batches."""
    return headers["attributes"] & CONTROL == 0


def _decoded(data: memoryview, at: int, options: Options) -> Item:
    """Return the item of a clean entry, with its value."""
    reader = Reader(bytes(data), budget=Budget(options.max_output))
    prefix = peek_whole_entry(reader)
    assert prefix is not None, "a whole entry"
    return Item("frame", at, len(data), entry.read(reader, prefix, options))
