"""Scan a buffer of Kafka entries: every byte belongs to a frame, to garbage or to the tail.

The items are the same as those of the reference (`wireproof.kafka.scan`): same bytes, same classes. kafka.md
§1, §2. Whole entries are judged together, in blocks. A block is limited by the bytes of its entries and, if
records are kept, by their decompressed bytes. A single larger entry is a block of its own.
"""

import zlib
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import Final, TypeVar

import google_crc32c
from attrs import evolve, frozen

from wireproof.columnar import basic_kernels
from wireproof.columnar.basic_kernels import BAD, KINDS, Array, Buffer, Octets
from wireproof.columnar.decompress import Arena, Decompressed, decompress_region
from wireproof.columnar.optional_deps import np
from wireproof.kafka.batch import BATCH
from wireproof.kafka.columnar import entry_kernels as kernels
from wireproof.kafka.columnar.entry_kernels import BROKEN, BUFFER_END, CODEC, CUT, HEADER, SLOT
from wireproof.kafka.columnar.garbage_search import garbage_item
from wireproof.kafka.layouts import MESSAGE_V0, MESSAGE_V1
from wireproof.kafka.scan import MAX_ENTRY
from wireproof.kafka.scan import scan as reference_scan
from wireproof.kafka.size_and_magic import CHECKSUM
from wireproof.kafka.values import Message, RecordBatch
from wireproof.wire.options import DEFAULT_OPTIONS, Options
from wireproof.wire.scan_items import Item
from wireproof.wire.walk import Chunk, ChunkEnd

# --- the index of entries ---

MESSAGE_CRC_COVERS, _, CRC_COVERS = (at + 4 for at, _ in CHECKSUM)
"""Positions of the first byte that the checksum of a message covers, and of that of a batch."""

MAX_KERNEL_CRC: Final = 512
"""Up to this many bytes a checksum by a kernel is faster than a call of the library."""


@frozen
class EntryIndex:
    """Entries of a buffer that `kernels.walk_entries` found, as arrays of equal length.

    Attributes:
        wire: the whole buffer, as an array.
        view: the same, as a memoryview.
        position, length: of each entry in the buffer, in bytes.
        magic: 0, 1 or 2.
    """

    wire: Octets
    view: memoryview
    position: Array
    length: Array
    magic: Array

    @property
    def end(self) -> Array:
        return self.position + self.length

    def part(self, first: int, stop: int) -> "EntryIndex":
        """Return the entries `first` to `stop`."""
        rows = slice(first, stop)
        return EntryIndex(self.wire, self.view, self.position[rows], self.length[rows], self.magic[rows])


def checksums_match(entries: EntryIndex, entry_headers: Array) -> Array:
    """Return which entries have a correct checksum: §1.1, §2.1.

    A plain message counts as correct here; the kernel that reads it checks the CRC itself.
    """
    correct = np.ones(entry_headers.size, np.bool_)
    end = entries.end
    batch = entries.magic == 2
    small = np.flatnonzero(batch & (entries.length <= MAX_KERNEL_CRC))
    checksums = np.zeros(small.size, np.uint64)
    basic_kernels.crc_ranges(
        basic_kernels.CRC32C, entries.wire, entries.position[small] + CRC_COVERS, end[small], checksums
    )
    correct[small] = checksums == entry_headers["crc"][small]
    large = np.flatnonzero(batch & (entries.length > MAX_KERNEL_CRC))
    # the library takes a slice of an array without a copy, but copies a slice of a memoryview
    value, wire = google_crc32c.value, entries.wire
    covers = zip((entries.position[large] + CRC_COVERS).tolist(), end[large].tolist(), strict=True)
    checksums = np.fromiter((value(wire[start:stop]) for start, stop in covers), np.uint32, large.size)
    correct[large] = entry_headers["crc"][large] == checksums
    wrapper = np.flatnonzero(~batch & (entry_headers["attributes"] & CODEC != 0))
    rows = zip(wrapper.tolist(), entries.position[wrapper].tolist(), end[wrapper].tolist(), strict=True)
    for index, start, stop in rows:
        covered = entries.view[start + MESSAGE_CRC_COVERS : stop]
        correct[index] = entry_headers["crc"][index] == zlib.crc32(covered)
    return correct


# --- compressed entries ---
#
# For a verdict, an entry is judged as soon as it is decompressed, while its bytes are in the cache, and
# nothing is kept.

MAX_DECOMPRESSED: Final = 2 << 20
"""A block ends once its entries give more decompressed bytes than this: few enough for the CPU cache."""
ARENA_BYTES: Final = MAX_DECOMPRESSED + (256 << 10)
"""Memory for these bytes and usually for the decompressed bytes of the entry that ends the block."""
BATCH_HEADER: Final = BATCH.fixed_size


def clean_compressed(entry_headers: Array, magic: Array, clean: Array) -> list[int]:
    """Return the indices of the compressed entries that are clean so far.

    A compressed batch without records is marked as not clean: readers do not decompress it (N08).
    """
    empty = (magic == 2) & (entry_headers["records_count"] == 0) & (entry_headers["attributes"] & CODEC != 0)
    clean &= ~empty
    indices: list[int] = np.flatnonzero(clean & (entry_headers["attributes"] & CODEC != 0)).tolist()
    return indices


def decompress_entries(
    entries: EntryIndex, entry_headers: Array, clean: Array, most: int
) -> tuple[Array, Array, Octets]:
    """Decompress the compressed entries that are clean so far, up to the end of the block.

    Those that cannot be decompressed are marked.

    Returns:
        Start and end of each entry of the block in the arena, `BAD` for one that is not compressed; and the
        arena, which has the decompressed bytes.
    """
    codec, arena, stop = entry_headers["attributes"] & CODEC, Arena.of(0), clean.size
    start, end = np.full((2, stop), BAD, np.uint64)
    for index in clean_compressed(entry_headers, entries.magic, clean):
        if arena.size > MAX_DECOMPRESSED:
            stop = index
            break
        arena = arena if arena.octets.size else Arena.of(ARENA_BYTES)
        data = _decompressed(entries, index, int(codec[index]), most, arena)
        if data is None:
            clean[index] = False
            continue
        start[index] = arena.size
        arena.take(data)
        end[index] = arena.size
    return start[:stop], end[:stop], arena.octets[: arena.size]


def _decompressed(entries: EntryIndex, index: int, codec: int, most: int, arena: Arena) -> Decompressed:
    """Decompress the compressed bytes of an entry; None if that fails."""
    start = int(entries.position[index])
    stop, magic = start + int(entries.length[index]), int(entries.magic[index])
    if magic == 2:
        return decompress_region(entries.view[start + BATCH_HEADER : stop], codec, most, arena)
    start += (MESSAGE_V1 if magic else MESSAGE_V0).offset("keyLength")
    head = bytes(entries.view[start : start + 8])  # §2.2: a null key, a value that ends the message
    if len(head) < 8 or head[:4] != b"\xff\xff\xff\xff" or int.from_bytes(head[4:]) != stop - start - 8:
        return None
    return decompress_region(entries.view[start + 8 : stop], codec, most, arena, kip57=magic == 0)


# --- blocks ---

MAX_BLOCK_BYTES: Final = 16 << 20
"""Bytes of the entries of a block: large enough that the fixed cost of a block does not matter."""

MAX_KEPT_BYTES: Final = 4 << 20
"""The same if records are kept: each of seven bytes or more takes a slot of 64."""


@frozen
class CheckedEntries:
    """Entries that the kernels judged together.

    Attributes:
        entries: the entries.
        entry_headers: their fixed fields, rows of `HEADER`.
        clean: whether the kernels found an entry clean; the reference must decide about the others.
        records: the number of records of each clean entry; 0 for the others.
        unpacked: the decompressed bytes of each entry.
        slots: the records of the clean entries in order, rows of `SLOT`; empty unless they are kept.
        arena: the decompressed bytes, unless only verdicts are kept. Positions in slots that are not less
            than the size of the buffer are positions in the arena.
        first_offset: the offset of each clean entry, and of the first message in a wrapper; None if records
            are kept.
    """

    entries: EntryIndex
    entry_headers: Array
    clean: Array
    records: Array
    unpacked: Array
    slots: Array
    arena: Octets
    first_offset: "Array | None" = None


def judge_entries(entries: EntryIndex, most: int, *, keep: bool) -> Iterator[CheckedEntries]:
    """Judge entries: in blocks limited by their decompressed bytes if records are kept, else in one block.

    Args:
        entries: one or more.
        most: the greatest number of decompressed bytes of one entry.
        keep: whether records are kept, as slots.
    """
    entry_headers = np.zeros(entries.magic.size, HEADER)
    kernels.read_entry_headers(entries.wire, entries.position, entries.magic, entry_headers)
    clean = checksums_match(entries, entry_headers)
    kernels.check_headers(entry_headers, entries.magic, clean)
    if not keep:
        yield _with_verdicts(entries, entry_headers, clean, most)
        return
    first = 0
    while first < clean.size:
        block = _with_slots(entries.part(first, clean.size), entry_headers[first:], clean[first:], most)
        yield block
        first += block.clean.size


def _with_verdicts(entries: EntryIndex, entry_headers: Array, clean: Array, most: int) -> CheckedEntries:
    """Judge every entry that is clean so far, without keeping records: each compressed one on its own."""
    size, first = np.zeros(clean.size, np.uint64), entry_headers["base_offset"].copy()
    arena, slots = Arena.of(0), np.empty(1, SLOT)
    codec = entry_headers["attributes"] & CODEC
    for index in clean_compressed(entry_headers, entries.magic, clean):
        data = _decompressed(entries, index, int(codec[index]), most, arena)
        if data is None:
            clean[index] = False
            continue
        octets = np.frombuffer(data, np.uint8)
        octets.setflags(write=False)  # the kernel is compiled for memory that it only reads
        kernels.judge_decompressed(octets, index, entry_headers, entries.magic, slots, clean)
        size[index] = octets.size
        if clean[index] and entries.magic[index] < 2:
            first[index] = slots["offset"][0]  # that of the first message in the wrapper
    nothing, none = np.empty(0, np.uint8), np.full(clean.size, BAD, np.uint64)
    kernels.read_entries(
        entries.wire, entries.position, entries.length, entries.magic, nothing, none, none, entry_headers,
        clean & (codec == 0), slots, np.zeros(clean.size, np.int64), 0, clean,
    )  # fmt: skip
    records = np.where(clean, entry_headers["records_count"], 0).astype(np.int64)
    return CheckedEntries(
        entries, entry_headers, clean, records, size, slots[:0], nothing, first_offset=first
    )


def _with_slots(entries: EntryIndex, entry_headers: Array, clean: Array, most: int) -> CheckedEntries:
    """Read the records of the entries of a block, as far as they are clean, into slots."""
    start, end, arena = decompress_entries(entries, entry_headers, clean, most)
    entries, entry_headers, clean = (
        entries.part(0, start.size),
        entry_headers[: start.size],
        clean[: start.size],
    )
    plain = start == BAD
    size = np.where(plain, np.uint64(0), end - start)
    kernels.count_messages(arena, start, end, entries.magic, entry_headers)
    room = np.where(plain, entries.length - np.uint64(BATCH_HEADER), size).astype(np.int64)
    least = entry_headers["records_count"].astype(np.int64) * 7  # the bytes of the smallest record: §1.3
    clean &= (entries.magic != 2) | (least <= room)  # or slots would be made for records that cannot be
    counts = np.where(clean, entry_headers["records_count"], 0).astype(np.int64)
    first = np.concatenate((np.zeros(1, np.int64), np.cumsum(counts)))[:-1]
    slots = np.empty(int(counts.sum()), SLOT)  # a clean record fills every field of its slot
    kernels.read_entries(
        entries.wire, entries.position, entries.length, entries.magic, arena, start, end, entry_headers,
        clean, slots, first, 1, clean,
    )  # fmt: skip
    inner = np.repeat(~plain, counts)
    for name in ("key_at", "value_at", "headers_at"):  # those of decompressed records are past the buffer
        slots[name][inner] += np.uint64(entries.wire.size)
    slots = slots if clean[counts > 0].all() else slots[np.repeat(clean, counts)]
    return CheckedEntries(entries, entry_headers, clean, np.where(clean, counts, 0), size, slots, arena)


# --- scans ---

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
