"""List a Kafka log with the fast decoder, chunk by chunk."""

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
from attrs import evolve

from wireproof.cases.byte_source import ByteSource
from wireproof.cases.log_survey import FREE_BYTES, WORK_FACTOR, survey_items
from wireproof.family import EntryRow
from wireproof.formats import FORMATS
from wireproof.kafka import entry
from wireproof.kafka.attribute_bits import CODEC_MASK, CONTROL
from wireproof.kafka.columnar.entry_scan import ScanStep, scan_steps
from wireproof.kafka.columnar.item_values import value_items
from wireproof.kafka.family.entry_cells import HEADER_NAMES, batch_cells, message_cells
from wireproof.kafka.size_and_magic import peek_whole_entry
from wireproof.wire.layout import attribute_of
from wireproof.wire.options import Options
from wireproof.wire.reader import Budget, Reader
from wireproof.wire.scan_items import Item

LOG: Final = FORMATS["kafka.log/mixed"]

CHUNKS: Final = (1 << 20, 2 << 20)
"""Bytes of the first chunk and of the largest; an entry that is larger gets a chunk of its size."""

VALUE_CHUNKS: Final = (1 << 20, 1 << 20)
"""The same if every record becomes an object."""


_NAMES: Final = tuple(map(attribute_of, HEADER_NAMES))


def list_entries(
    source: ByteSource, options: Options, *, values: bool, begin: int = 0
) -> Iterator[EntryRow | Item]:
    """Yield the entries as rows, and as items those that are not clean, with their values.

    If `values`, every entry is an item with its value. Bytes that are no whole entry are left to the
    reference, which searches for the next one.
    """
    at, reread = begin, 0
    first, most = VALUE_CHUNKS if values else CHUNKS
    size = first
    read = source.read if values else source.view  # items refer to their bytes, rows do not
    while at < source.size:
        base, chunk, stopped = at, read(at, size), False
        for step in scan_steps(chunk, options, keep="slots" if values else None):
            if step.block is None:
                stopped = step.answers[0].kind != "tail" or base + len(chunk) >= source.size
                break
            yield from _items(step, base) if values else _rows(step, base, options)
            at = base + int(step.block.entries.end[-1])
        size = min(2 * size, most) if at > base else 2 * max(size, len(chunk))
        if stopped and at < source.size:
            size, reread = first, reread + len(chunk)
            alone = reread > FREE_BYTES + WORK_FACTOR * at
            for item in survey_items(LOG, source, options, at):
                at = item.at + item.length
                yield item
                if item.kind == "frame" and not alone:
                    break


def _items(step: ScanStep, base: int) -> Iterator[Item]:
    return (evolve(item, at=base + item.at) for item in value_items(step))


def _rows(step: ScanStep, base: int, options: Options) -> Iterator[EntryRow | Item]:
    """Yield the entries of a step; the reference decodes control batches again, for their type."""
    block = step.block
    assert block is not None, "of whole entries"
    entries, headers = block.entries, block.entry_headers
    plain = _plain(headers, entries.magic)
    starts = (entries.position.astype(np.int64) + base).tolist()
    numbers_of = zip(*(headers[name].tolist() for name in _NAMES), strict=True)
    columns = zip(
        starts, entries.length.tolist(), entries.magic.tolist(), plain.tolist(), numbers_of, strict=True
    )
    for index, (at, length, magic, is_plain, numbers) in enumerate(columns):
        if index in step.answers:
            yield evolve(step.answers[index], at=at)
        elif magic == 2 and is_plain:
            yield EntryRow(at, length, batch_cells(numbers, None))
        elif magic == 2:
            yield _decoded(entries.view[at - base : at - base + length], at, options)
        else:
            data = bytes(entries.view[at - base : at - base + length])
            first = numbers[0] if is_plain else _first_offset(data, options)
            yield EntryRow(at, length, message_cells(data, first, numbers[-1]))


def _first_offset(wrapper: bytes, options: Options) -> int:
    """Return the offset of the first message in a clean wrapper; its header has that of the last one."""
    step = next(scan_steps(wrapper, options, keep="slots"))
    assert step.block is not None, "a whole entry"
    return int(step.block.slots["offset"][0])


def _plain(headers: Any, magic: Any) -> Any:  # noqa: ANN401 - arrays
    """Return which entries need no look at their records: neither wrappers nor control batches."""
    attributes = headers["attributes"]
    return np.where(magic == 2, attributes & CONTROL == 0, attributes & CODEC_MASK == 0)


def _decoded(data: memoryview, at: int, options: Options) -> Item:
    """Return the item of a clean entry, with its value."""
    reader = Reader(bytes(data), budget=Budget(options.max_output))
    prefix = peek_whole_entry(reader)
    assert prefix is not None, "a whole entry"
    return Item("frame", at, len(data), entry.read(reader, prefix, options))
