"""Scan a buffer of Kafka entries: every byte belongs to a frame, to garbage or to the tail.

The items are the same as those of the reference (`wireproof.kafka.scan`): same bytes, same classes.
"""

from collections.abc import Callable, Generator, Iterator, Sequence
from typing import Final, TypeVar

from attrs import evolve, frozen

from wireproof.columnar.basic_kernels import KINDS, Array, Buffer
from wireproof.columnar.optional_deps import np
from wireproof.kafka.columnar import entry_kernels as kernels
from wireproof.kafka.columnar.checked_entries import (
    MAX_BLOCK_BYTES,
    MAX_KEPT_BYTES,
    CheckedEntries,
    EntryIndex,
    judge_entries,
)
from wireproof.kafka.columnar.entry_kernels import BROKEN, BUFFER_END, CUT
from wireproof.kafka.columnar.garbage_search import garbage_item
from wireproof.kafka.scan import MAX_ENTRY
from wireproof.kafka.scan import scan as reference_scan
from wireproof.kafka.values import Message, RecordBatch
from wireproof.wire.options import DEFAULT_OPTIONS, Options
from wireproof.wire.scan_items import Item
from wireproof.wire.walk import Chunk, ChunkEnd

ENTRIES_PER_CALL: Final = 1 << 16
"""Entries found by one call of the kernel."""


Part = TypeVar("Part")


@frozen
class ScanStep:
    """The next part of a buffer: a block of judged entries, or one item that is not a whole entry.

    Attributes:
        block: the entries, or None.
        answers: the reference's item for each entry of the block that is not clean, by its index in the
            block. Without a block, the one item under index 0. Positions are positions in the buffer.
    """

    block: CheckedEntries | None
    answers: dict[int, Item]


def scan_steps(
    buffer: Buffer, options: Options = DEFAULT_OPTIONS, *, keep: bool, most: int = MAX_ENTRY
) -> Iterator[ScanStep]:
    """Yield the steps of a scan, in order and without gaps.

    Args:
        buffer: any bytes.
        options: as for `scan`.
        keep: whether records are kept, as for `judge_entries`.
        most: the greatest size of an entry, unless `options.max_message` is set.
    """
    view = memoryview(buffer).cast("B")
    wire = np.frombuffer(view, np.uint8)
    most = most if options.max_message is None else options.max_message
    block_bytes = MAX_KEPT_BYTES if keep else MAX_BLOCK_BYTES
    at, reason = 0, kernels.FULL if view.nbytes else BUFFER_END
    while reason != BUFFER_END:
        position, length = np.empty((2, ENTRIES_PER_CALL), np.uint64)
        magic = np.empty(ENTRIES_PER_CALL, np.uint8)
        found, end, reason = kernels.walk_entries(wire, np.uint64(at), most, position, length, magic)
        entries, at = EntryIndex(wire, view, position, length, magic).part(0, found), int(end)
        first, ends = 0, np.cumsum(entries.length)
        while first < entries.magic.size:
            bytes_before = int(ends[first - 1]) if first else 0
            stop = max(int(np.searchsorted(ends, bytes_before + block_bytes, side="right")), first + 1)
            for block in judge_entries(entries.part(first, stop), options.max_output, keep=keep):
                yield _step(block, options)
            first = stop
        if reason == CUT:
            yield ScanStep(None, {0: Item("tail", at, view.nbytes - at)})
            return
        if reason == BROKEN:
            garbage = garbage_item(lambda start, size: view[start : start + size], at, view.nbytes, options)
            item = garbage[0] if garbage else evolve(next(reference_scan([bytes(view[at:])], options)), at=at)
            yield ScanStep(None, {0: item})
            at += item.length


def step_parts(
    chunk: Chunk,
    options: Options,
    make: Callable[[ScanStep], Generator[Part, None, int | None]],
    *,
    keep: bool,
) -> Generator[Part, None, ChunkEnd]:
    """Yield what `make` makes of each step of whole entries; return where these end in the chunk.

    `make` returns the index of the entry where the reference must look, or None.
    """
    at = 0
    for step in scan_steps(chunk, options, keep=keep):
        if step.block is None:
            return ChunkEnd(at, step.answers[0].kind != "tail")
        stop = yield from make(step)
        if stop is not None:
            return ChunkEnd(int(step.block.entries.position[stop]), is_broken=True)
        at = int(step.block.entries.end[-1])
    return ChunkEnd(at, is_broken=False)


def _step(block: CheckedEntries, options: Options) -> ScanStep:
    """Return the step of a block: the reference reads what is not clean, or all for the profile `produce`."""
    if options.profile != "reader":  # only the reference knows §1.7
        none = np.zeros_like(block.clean)
        block = evolve(block, clean=none, records=np.zeros_like(block.records), slots=block.slots[:0])
    answers: dict[int, Item] = {}
    for index in np.flatnonzero(~block.clean).tolist():
        at, length = int(block.entries.position[index]), int(block.entries.length[index])
        (item,) = reference_scan([bytes(block.entries.view[at : at + length])], options)
        answers[index] = evolve(item, at=at)
    return ScanStep(block, answers)


NO_ITEMS: Final = tuple(
    np.empty(0, kind) for kind in (np.int64, np.int64, np.uint8, np.int8, np.int64, np.bool_)
)
"""The columns of `KafkaFrames` without a row."""


@frozen
class KafkaFrames:
    """The items of a buffer: every byte of it, one row for each item, in order and without gaps.

    Attributes:
        position, length: int64, in bytes.
        kind: uint8: `FRAME` (the entry decodes), `GARBAGE` or `TAIL`.
        magic: int8: 0 to 2; -1 for an item that is not a whole entry.
        records: int64: records or messages that a frame holds; 0 for other items.
        by_reference: bool: the reference made this item, and not the kernels.
        answers: the items of the reference by row, without values: `cls` of garbage, `remarks` of frames.
        unpacked: decompressed bytes of all entries that the kernels decompressed.
    """

    position: Array
    length: Array
    kind: Array
    magic: Array
    records: Array
    by_reference: Array
    answers: dict[int, Item]
    unpacked: int

    def __len__(self) -> int:
        return int(self.kind.size)

    @property
    def columns(self) -> tuple[Array, ...]:
        """Return the arrays, in the order of their names above."""
        return self.position, self.length, self.kind, self.magic, self.records, self.by_reference

    @classmethod
    def joined(cls, parts: "Sequence[KafkaFrames]") -> "KafkaFrames":
        """Join consecutive items of one stream."""
        columns = zip(NO_ITEMS, *(part.columns for part in parts), strict=True)
        position, length, kind, magic, records, by_reference = map(np.concatenate, columns)
        before = np.cumsum([0, *map(len, parts)]).tolist()
        answers = {
            first + row: item
            for first, part in zip(before, parts, strict=False)
            for row, item in part.answers.items()
        }
        unpacked = sum(part.unpacked for part in parts)
        return cls(position, length, kind, magic, records, by_reference, answers, unpacked)


def scan(buffer: Buffer, options: Options = DEFAULT_OPTIONS) -> KafkaFrames:
    """Scan `buffer`: return an item for every byte of it, without the values."""
    return KafkaFrames.joined([step_frames(step) for step in scan_steps(buffer, options, keep=False)])


def step_frames(step: ScanStep, base: int = 0) -> KafkaFrames:
    """Return the items of one scan step, without the values; `base` is added to their positions."""
    answers = {index: evolve(item, at=base + item.at, value=None) for index, item in step.answers.items()}
    if (block := step.block) is None:
        item = step.answers[0]
        numbers = (base + item.at, item.length, KINDS.index(item.kind), -1, 0, item.kind != "tail")
        columns = [np.array([one], none.dtype) for one, none in zip(numbers, NO_ITEMS, strict=True)]
    else:
        entries, records = block.entries, block.records.copy()
        kind = np.zeros(records.size, np.uint8)
        for index, item in step.answers.items():
            kind[index] = KINDS.index(item.kind)
            records[index] = count_records(item)
        columns = [entries.position.astype(np.int64) + base, entries.length.astype(np.int64)]
        columns += [kind, entries.magic.astype(np.int8), records, ~block.clean]
    position, length, kind, magic, records, by_reference = columns
    unpacked = 0 if block is None else int(block.unpacked.sum())
    return KafkaFrames(position, length, kind, magic, records, by_reference, answers, unpacked)


def count_records(item: Item) -> int:
    """Return the number of records of a batch or messages of a wrapper; 1 for a plain message."""
    match item.value:
        case None:
            return 0
        case RecordBatch(records=inner) | Message(messages=tuple(inner)):
            return len(inner)
    return 1
