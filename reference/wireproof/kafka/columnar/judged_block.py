"""Judge whole entries together, in blocks. kafka.md §1, §2.

A block is limited by the bytes of its entries and, if records are kept, by their decompressed bytes. A single
larger entry is a block of its own.
"""

from collections.abc import Iterator
from typing import Final, Literal, TypeAlias

from attrs import frozen

from wireproof.columnar.basic_kernels import BAD, Array, Octets
from wireproof.columnar.optional_deps import np
from wireproof.kafka.columnar import compressed_entries, message_kernels
from wireproof.kafka.columnar import entry_kernels as kernels
from wireproof.kafka.columnar.column_buffers import ColumnBuffers
from wireproof.kafka.columnar.compressed_entries import BATCH_HEADER, DecompressedEntries
from wireproof.kafka.columnar.entry_index import EntryIndex, checksums_match
from wireproof.kafka.columnar.entry_kernels import CODEC, HEADER, SLOT
from wireproof.kafka.columnar.message_kernels import MIN_RECORD_BYTES

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
        unpacked = compressed_entries.decompress_entries(
            entries.part(first, clean.size), entry_headers[first:], clean[first:], most
        )
        rows = slice(first, first + unpacked.stop)
        yield make(entries.part(first, rows.stop), entry_headers[rows], clean[rows], unpacked)
        first = rows.stop


def _with_verdicts(entries: EntryIndex, entry_headers: Array, clean: Array, most: int) -> JudgedBlock:
    """Judge every entry that is clean so far, without keeping records."""
    size, first = compressed_entries.judge_compressed(entries, entry_headers, clean, most)
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
