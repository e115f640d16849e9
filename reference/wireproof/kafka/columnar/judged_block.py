"""Judge whole entries together, in blocks. kafka.md §1, §2.

A block is limited by the bytes of its entries and, if records are kept, by their decompressed bytes. A single
larger entry is a block of its own.
"""

import zlib
from collections.abc import Iterator
from threading import local
from typing import Final, Literal, TypeAlias

import google_crc32c
from attrs import frozen

from wireproof.columnar import basic_kernels
from wireproof.columnar.basic_kernels import BAD, SLACK, Array, Octets
from wireproof.columnar.decompress import Arena, Decompressed, decompress_region
from wireproof.columnar.optional_deps import np
from wireproof.family import deferred
from wireproof.kafka.columnar import entry_kernels as kernels
from wireproof.kafka.columnar import message_kernels
from wireproof.kafka.columnar.entry_kernels import CODEC, HEADER, SLOT
from wireproof.kafka.columnar.message_kernels import MIN_RECORD_BYTES
from wireproof.kafka.layouts import BATCH, MESSAGE_V0, MESSAGE_V1
from wireproof.kafka.size_and_magic import CHECKSUM

# --- the index of entries ---
#
# The entries are those that `kernels.walk_entries` found.

MESSAGE_CRC_COVERS, _, CRC_COVERS = (at + 4 for at, _ in CHECKSUM)
"""Positions of the first byte that the checksum of a message covers, and of that of a batch."""

MAX_KERNEL_CRC: Final = 512
"""Up to this many bytes a checksum by a kernel is faster than a call of the library."""


@frozen
class EntryIndex:
    """Entries of a buffer, as arrays of equal length.

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
        """Return the position after the last byte of each entry."""
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
    correct[large] = entry_headers["crc"][large] == _checksums(entries, large, end)
    wrapper = np.flatnonzero(~batch & (entry_headers["attributes"] & CODEC != 0))
    rows = zip(wrapper.tolist(), entries.position[wrapper].tolist(), end[wrapper].tolist(), strict=True)
    for index, start, stop in rows:
        covered = entries.view[start + MESSAGE_CRC_COVERS : stop]
        correct[index] = entry_headers["crc"][index] == zlib.crc32(covered)
    return correct


def _checksums(entries: EntryIndex, selected: Array, end: Array) -> Array:
    """Compute CRC-32C by the library.

    It takes a slice of an array without a copy, but copies a slice of a memoryview.
    """
    value, wire = google_crc32c.value, entries.wire
    rows = zip((entries.position[selected] + CRC_COVERS).tolist(), end[selected].tolist(), strict=True)
    return np.fromiter((value(wire[start:stop]) for start, stop in rows), np.uint32, selected.size)


# --- compressed entries ---
#
# For a verdict, an entry is judged as soon as it is decompressed, while its bytes are in the cache, and
# nothing is kept.

MAX_DECOMPRESSED: Final = 2 << 20
"""A block ends once its entries give more decompressed bytes than this: few enough for the CPU cache."""
ARENA_BYTES: Final = MAX_DECOMPRESSED + (256 << 10)
"""Memory for these bytes and usually for the decompressed bytes of the entry that ends the block."""
BATCH_HEADER: Final = BATCH.fixed_size


@frozen
class DecompressedEntries:
    """The decompressed entries of a block.

    Attributes:
        selected: their indices in the block.
        start, end: of each, in the arena.
        arena: the decompressed bytes.
        stop: the number of entries in the block.
    """

    selected: Array
    start: Array
    end: Array
    arena: Octets
    stop: int


def clean_compressed(entry_headers: Array, magic: Array, clean: Array) -> list[int]:
    """Return the indices of the compressed entries that are clean so far.

    A compressed batch without records is marked as not clean: readers do not decompress it (N08).
    """
    empty = (magic == 2) & (entry_headers["records_count"] == 0) & (entry_headers["attributes"] & CODEC != 0)
    clean &= ~empty
    indices: list[int] = np.flatnonzero(clean & (entry_headers["attributes"] & CODEC != 0)).tolist()
    return indices


def judge_compressed(
    entries: EntryIndex, entry_headers: Array, clean: Array, most: int
) -> tuple[Array, Array]:
    """Judge the records of each compressed entry that is clean so far.

    Returns:
        The decompressed bytes of each entry, uint64, and its first offset: that of the first message in a
        clean wrapper. `clean` and the counts of wrappers are updated.
    """
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
        message_kernels.judge_decompressed(octets, index, entry_headers, entries.magic, slots, clean)
        size[index] = octets.size
        if clean[index] and entries.magic[index] < 2:
            first[index] = slots["offset"][0]
    return size, first


def decompress_entries(
    entries: EntryIndex, entry_headers: Array, clean: Array, most: int
) -> DecompressedEntries:
    """Decompress the compressed entries that are clean so far; mark those that cannot be decompressed."""
    codec, arena = entry_headers["attributes"] & CODEC, Arena.of(0)
    indices: list[int] = []
    ends: list[int] = []
    stop = clean.size
    for index in clean_compressed(entry_headers, entries.magic, clean):
        if arena.size > MAX_DECOMPRESSED:
            stop = index
            break
        arena = arena if arena.octets.size else Arena.of(ARENA_BYTES)
        data = _decompressed(entries, index, int(codec[index]), most, arena)
        if data is None:
            clean[index] = False
            continue
        arena.take(data)
        indices.append(index)
        ends.append(arena.size)
    end = np.array(ends, np.uint64)
    start = np.concatenate((np.zeros(1, np.uint64), end))[:-1]
    return DecompressedEntries(np.array(indices, np.int64), start, end, arena.octets[: arena.size], stop)


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


# --- memory for the record columns of a block ---

_allocate: Final = deferred("pyarrow:allocate_buffer")


class _Scratch(local):
    """Memory of each thread for parts that are small once they are filled, and large until then."""

    def __init__(self) -> None:
        self.keys, self.headers_at = np.empty(0, np.uint8), np.empty(0, np.int64)

    def of(self, records: int, size: int) -> tuple[Array, Octets]:
        """Return room for that many header positions and that many bytes of keys."""
        if self.headers_at.size < records:
            self.headers_at = np.empty(records, np.int64)
        if self.keys.size < size:
            self.keys = np.empty(size, np.uint8)
        return self.headers_at, self.keys


_SCRATCH = _Scratch()


@frozen
class ColumnBuffers:
    """Column buffers with room for all records of a block; valid until the thread makes the next ones.

    Attributes:
        numbers: int64: offset and timestamp.
        headers_at: int64: the position of the first header; undefined for a record without headers.
        ends: int32: for keys, values and headers, a first 0 and then the end of each record's part.
        absent: bool: whether key and value are null.
        keys, values: uint8: the bytes, one after another; longer by `SLACK`.
        used: uint64: the number of records, bytes of keys, bytes of values, and headers.
    """

    numbers: Array
    headers_at: Array
    ends: Array
    absent: Array
    keys: Octets
    values: Octets
    used: Array

    @classmethod
    def of(cls, records: int, size: int) -> "ColumnBuffers":
        """Return buffers for that many records, whose keys and values take at most `size` bytes each.

        The parts that become columns are one piece of Arrow's memory. Its pool keeps freed memory; to get new
        memory from the system costs more than to fill it.
        """
        size += int(SLACK)
        parts = (16 * max(records, 1), 12 * (records + 1), 2 * records, size)
        memory = np.frombuffer(_allocate(sum(parts)), np.uint8)
        numbers, ends, absent, values = np.split(memory, np.cumsum(parts)[:-1])
        rows = ends.view(np.int32).reshape(3, -1)
        rows[:, 0] = 0
        pair = numbers.view(np.int64).reshape(2, -1), absent.view(np.bool_).reshape(2, -1)
        headers_at, keys = _SCRATCH.of(records, size)
        return cls(pair[0], headers_at, rows, pair[1], keys, values, np.zeros(4, np.uint64))


# --- blocks ---

RecordForm: TypeAlias = Literal["slots", "columns"] | None
"""The form in which records are kept; None keeps only the verdicts.

The kernels that read one batch or message are the same for all forms. Slots hold positions only, which is
enough for digests and JSON; columns copy keys and values, which takes about twice the time.
"""

MAX_BLOCK_BYTES: Final = 16 << 20
"""Bytes of the entries of a block: large enough that the fixed cost of a block does not matter."""

MIN_MESSAGE_BYTES: Final = 26
"""Bytes of the smallest message: §2.1."""


@frozen
class JudgedBlock:
    """Entries that the kernels judged together.

    Attributes:
        entries: the entries.
        entry_headers: their fixed fields, rows of `HEADER`.
        clean: whether the kernels found an entry clean; the reference must decide about the others.
        records: the number of records of each clean entry; 0 for the others.
        unpacked: the decompressed bytes of each entry.
        slots: the records of the clean entries in order, rows of `SLOT`; empty unless kept as slots.
        arena: the decompressed bytes, unless only verdicts are kept. Positions in slots and column buffers
            that are not less than the size of the buffer are positions in the arena.
        buffers: the records of the clean entries as columns; None unless kept as columns. They are valid
            until the next block is requested.
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
    buffers: ColumnBuffers | None = None
    first_offset: "Array | None" = None


@frozen
class SlotTarget:
    """The rows of `slots` for the records of entries: from `first` of each entry on; step 0 keeps none."""

    slots: Array
    first: Array
    step: int


def judge_entries(entries: EntryIndex, most: int, *, keep: RecordForm) -> Iterator[JudgedBlock]:
    """Judge entries: in blocks limited by their decompressed bytes if records are kept, else in one block.

    Args:
        entries: one or more.
        most: the greatest number of decompressed bytes of one entry.
        keep: the form in which records are kept.
    """
    entry_headers = np.zeros(entries.magic.size, HEADER)
    kernels.read_entry_headers(entries.wire, entries.position, entries.magic, entry_headers)
    clean = checksums_match(entries, entry_headers)
    kernels.check_headers(entry_headers, entries.magic, clean)
    if keep is None:
        yield _with_verdicts(entries, entry_headers, clean, most)
        return
    first, make = 0, _with_slots if keep == "slots" else _with_columns
    while first < clean.size:
        unpacked = decompress_entries(
            entries.part(first, clean.size), entry_headers[first:], clean[first:], most
        )
        rows = slice(first, first + unpacked.stop)
        yield make(entries.part(first, rows.stop), entry_headers[rows], clean[rows], unpacked)
        first = rows.stop


def _with_verdicts(entries: EntryIndex, entry_headers: Array, clean: Array, most: int) -> JudgedBlock:
    """Judge every entry that is clean so far, without keeping records."""
    size, first = judge_compressed(entries, entry_headers, clean, most)
    plain = entry_headers["attributes"] & CODEC == 0
    _fit(entries, entry_headers, clean, np.where(plain, entries.length - np.uint64(BATCH_HEADER), size))
    slots = np.empty(1, SLOT)
    _read_plain(
        entries, entry_headers, clean & plain, clean, SlotTarget(slots, np.zeros(clean.size, np.int64), 0)
    )
    records = np.where(clean, entry_headers["records_count"], 0).astype(np.int64)
    return JudgedBlock(
        entries, entry_headers, clean, records, size, slots[:0], np.empty(0, np.uint8), first_offset=first
    )


def _fit(entries: EntryIndex, entry_headers: Array, clean: Array, room: Array) -> None:
    """Mark batches as not clean whose bytes have no room for their records; messages are not checked."""
    least = entry_headers["records_count"].astype(np.int64) * MIN_RECORD_BYTES
    clean &= (entries.magic != 2) | (least <= room.astype(np.int64))


def _with_slots(
    entries: EntryIndex, entry_headers: Array, clean: Array, unpacked: DecompressedEntries
) -> JudgedBlock:
    """Read the records of every entry that is clean so far into slots."""
    arena, selected, magic = unpacked.arena, unpacked.selected, entries.magic
    plain = np.ones(clean.size, np.bool_)
    plain[selected] = False
    size = np.zeros(clean.size, np.uint64)
    size[selected] = unpacked.end - unpacked.start
    batch = magic[selected] == 2
    start, end, indices = unpacked.start[~batch], unpacked.end[~batch], selected[~batch]
    message_kernels.store_inner_counts(arena, start, end, indices, magic, entry_headers)
    _fit(entries, entry_headers, clean, np.where(plain, entries.length - np.uint64(BATCH_HEADER), size))
    counts = np.where(clean, entry_headers["records_count"], 0).astype(np.int64)
    first = np.concatenate((np.zeros(1, np.int64), np.cumsum(counts)))[:-1]
    slots = np.empty(int(counts.sum()), SLOT)  # a clean record fills every field of its slot
    _read_plain(entries, entry_headers, clean & plain, clean, SlotTarget(slots, first, 1))
    rows = batch & clean[selected]
    start, end, indices = unpacked.start[rows], unpacked.end[rows], selected[rows]
    kernels.read_batches(arena, start, end, indices, entry_headers, slots, first, 1, clean)
    rows = ~batch & clean[selected]
    start, end, indices = unpacked.start[rows], unpacked.end[rows], selected[rows]
    message_kernels.read_sets(arena, start, end, indices, entry_headers, magic, slots, first, 1, clean)
    slots = _clean_slots(slots, counts, clean, ~plain, entries.wire.size)
    return JudgedBlock(entries, entry_headers, clean, np.where(clean, counts, 0), size, slots, arena)


def _with_columns(
    entries: EntryIndex, entry_headers: Array, clean: Array, unpacked: DecompressedEntries
) -> JudgedBlock:
    """Read the records of every entry that is clean so far into column buffers."""
    arena, selected, batch = unpacked.arena, unpacked.selected, entries.magic == 2
    start, end, size = (np.full(clean.size, fill, np.uint64) for fill in (BAD, BAD, 0))
    start[selected], end[selected], size[selected] = (
        unpacked.start,
        unpacked.end,
        unpacked.end - unpacked.start,
    )
    plain = start == BAD
    room = np.where(plain, entries.length - np.uint64(BATCH_HEADER), size)
    _fit(entries, entry_headers, clean, room)
    inner = (size // np.uint64(MIN_MESSAGE_BYTES)).astype(np.int64)
    most = np.where(batch, entry_headers["records_count"], np.where(plain, 1, inner))
    buffers = ColumnBuffers.of(int(most[clean].sum()), int(entries.length.sum() + size.sum()))
    message_kernels.read_columns(
        entries.wire, entries.position, entries.length, entries.magic, arena, start, end, entry_headers,
        np.empty(1, SLOT), clean, buffers.numbers, buffers.headers_at, buffers.ends, buffers.absent,
        buffers.keys, buffers.values, buffers.used,
    )  # fmt: skip
    records = np.where(clean, entry_headers["records_count"], 0).astype(np.int64)
    return JudgedBlock(entries, entry_headers, clean, records, size, np.empty(0, SLOT), arena, buffers)


def _read_plain(
    entries: EntryIndex, entry_headers: Array, wanted: Array, clean: Array, places: SlotTarget
) -> None:
    """Read the records of the wanted entries, which are not compressed."""
    wire, end, batch, slots = entries.wire, entries.end, entries.magic == 2, places.slots
    selected = np.flatnonzero(wanted & batch)
    start = entries.position[selected] + np.uint64(BATCH_HEADER)
    kernels.read_batches(
        wire, start, end[selected], selected, entry_headers, slots, places.first, places.step, clean
    )
    selected = np.flatnonzero(wanted & ~batch)
    start = entries.position[selected]
    message_kernels.read_messages(
        wire, start, end[selected], selected, entries.magic, slots, places.first, places.step, clean
    )


def _clean_slots(slots: Array, counts: Array, clean: Array, inner: Array, base: int) -> Array:
    """Return the slots of clean entries; shift the positions of decompressed ones past the buffer."""
    inner = np.repeat(inner, counts)
    for name in ("key_at", "value_at", "headers_at"):
        slots[name][inner] += np.uint64(base)
    return slots if clean[counts > 0].all() else slots[np.repeat(clean, counts)]
