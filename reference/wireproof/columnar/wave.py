"""A run of whole entries, judged by the kernels together. kafka.md §1, §2.

A wave is bounded by the bytes of its entries and, where records are kept, by what they unpack to, unless one
entry alone is larger.
"""

from collections.abc import Iterator
from typing import Final, Literal, TypeAlias

from attrs import frozen

from wireproof.columnar import kernels, message_kernels, packed
from wireproof.columnar.entries import Entries, sealed
from wireproof.columnar.extra import np
from wireproof.columnar.kernels import BAD, CODEC, HEAD, SLOT, Array, Octets
from wireproof.columnar.message_kernels import LEAST_RECORD
from wireproof.columnar.packed import BATCH_HEADER, Unpacked
from wireproof.columnar.shelf import Shelf

Keep: TypeAlias = Literal["slots", "columns"] | None
"""What is wanted of the records; None is a verdict only."""

WIRE_BYTES: Final = 16 << 20
"""Bytes of the entries of a wave: what each wave costs by itself is then next to nothing."""

LEAST_MESSAGE: Final = 26
"""Bytes of the smallest message: §2.1."""


@frozen
class Wave:
    """What the kernels say of some entries.

    Attributes:
        entries: those that were judged.
        heads: their fixed fields, rows of `HEAD`.
        clean: whether the kernels answer for an entry; the reference is to be asked for the others.
        records: how many records each clean entry holds; 0 for the others.
        unpacked: bytes that the compressed region of each gave.
        slots: the records of the clean ones in order, rows of `SLOT`; empty unless they were wanted.
        arena: what was unpacked, unless only a verdict was wanted. A position in a slot, or of headers on the
            shelf, from the buffer's size on is one of the arena.
        shelf: the records of the clean ones as columns; None unless they were wanted. It holds until the next
            wave is asked for.
    """

    entries: Entries
    heads: Array
    clean: Array
    records: Array
    unpacked: Array
    slots: Array
    arena: Octets
    shelf: Shelf | None = None


@frozen
class Places:
    """Where the records of entries go: rows of `slots` from `first` of each on; step 0 keeps none."""

    slots: Array
    first: Array
    step: int


def judge(entries: Entries, most: int, *, keep: Keep) -> Iterator[Wave]:
    """Judge entries; where records are kept in waves of what they unpack to, else in one.

    Args:
        entries: one or more.
        most: bytes that one entry may unpack to.
        keep: what is wanted of the records.
    """
    heads = np.zeros(entries.magic.size, HEAD)
    kernels.read_heads(entries.wire, entries.position, entries.magic, heads)
    clean = sealed(entries, heads)
    kernels.clean_heads(heads, entries.magic, clean)
    if keep is None:
        yield _judged(entries, heads, clean, most)
        return
    first, make = 0, _walked if keep == "slots" else _shelved
    while first < clean.size:
        unpacked = packed.unpack(entries.part(first, clean.size), heads[first:], clean[first:], most)
        rows = slice(first, first + unpacked.stop)
        yield make(entries.part(first, rows.stop), heads[rows], clean[rows], unpacked)
        first = rows.stop


def _judged(entries: Entries, heads: Array, clean: Array, most: int) -> Wave:
    """The verdict on every entry that is clean so far, and no record kept."""
    size = packed.read(entries, heads, clean, most)
    plain = heads["attributes"] & CODEC == 0
    _fit(entries, heads, clean, np.where(plain, entries.length - np.uint64(BATCH_HEADER), size))
    slots = np.empty(1, SLOT)
    _read_plain(entries, heads, clean & plain, clean, Places(slots, np.zeros(clean.size, np.int64), 0))
    records = np.where(clean, heads["count"], 0).astype(np.int64)
    return Wave(entries, heads, clean, records, size, slots[:0], np.empty(0, np.uint8))


def _fit(entries: Entries, heads: Array, clean: Array, room: Array) -> None:
    """Drop the batches whose bytes have no room for their records; no message is one."""
    least = heads["count"].astype(np.int64) * LEAST_RECORD
    clean &= (entries.magic != 2) | (least <= room.astype(np.int64))


def _walked(entries: Entries, heads: Array, clean: Array, unpacked: Unpacked) -> Wave:
    """The records of every entry that is clean so far."""
    arena, which, magic = unpacked.arena, unpacked.which, entries.magic
    plain = np.ones(clean.size, np.bool_)
    plain[which] = False
    size = np.zeros(clean.size, np.uint64)
    size[which] = unpacked.end - unpacked.start
    batch = magic[which] == 2
    start, end, these = unpacked.start[~batch], unpacked.end[~batch], which[~batch]
    message_kernels.count_inners(arena, start, end, these, magic, heads)
    _fit(entries, heads, clean, np.where(plain, entries.length - np.uint64(BATCH_HEADER), size))
    counts = np.where(clean, heads["count"], 0).astype(np.int64)
    first = np.concatenate((np.zeros(1, np.int64), np.cumsum(counts)))[:-1]
    slots = np.empty(int(counts.sum()), SLOT)  # a clean record fills all of its own
    _read_plain(entries, heads, clean & plain, clean, Places(slots, first, 1))
    rows = batch & clean[which]
    start, end, these = unpacked.start[rows], unpacked.end[rows], which[rows]
    kernels.read_batches(arena, start, end, these, heads, slots, first, 1, clean)
    rows = ~batch & clean[which]
    start, end, these = unpacked.start[rows], unpacked.end[rows], which[rows]
    message_kernels.read_sets(arena, start, end, these, heads, magic, slots, first, 1, clean)
    slots = _kept(slots, counts, clean, ~plain, entries.wire.size)
    return Wave(entries, heads, clean, np.where(clean, counts, 0), size, slots, arena)


def _shelved(entries: Entries, heads: Array, clean: Array, unpacked: Unpacked) -> Wave:
    """The records of every entry that is clean so far, as columns."""
    arena, which, batch = unpacked.arena, unpacked.which, entries.magic == 2
    start, end, size = (np.full(clean.size, fill, np.uint64) for fill in (BAD, BAD, 0))
    start[which], end[which], size[which] = unpacked.start, unpacked.end, unpacked.end - unpacked.start
    plain = start == BAD
    room = np.where(plain, entries.length - np.uint64(BATCH_HEADER), size)
    _fit(entries, heads, clean, room)
    inner = (size // np.uint64(LEAST_MESSAGE)).astype(np.int64)
    most = np.where(batch, heads["count"], np.where(plain, 1, inner))
    shelf = Shelf.of(int(most[clean].sum()), int(entries.length.sum() + size.sum()))
    message_kernels.read_columns(
        entries.wire, entries.position, entries.length, entries.magic, arena, start, end, heads,
        np.empty(1, SLOT), clean, shelf.numbers, shelf.headers_at, shelf.ends, shelf.absent, shelf.keys,
        shelf.values, shelf.taken,
    )  # fmt: skip
    records = np.where(clean, heads["count"], 0).astype(np.int64)
    return Wave(entries, heads, clean, records, size, np.empty(0, SLOT), arena, shelf)


def _read_plain(entries: Entries, heads: Array, wanted: Array, clean: Array, places: Places) -> None:
    """The records of the wanted entries, which are not compressed."""
    wire, end, batch, slots = entries.wire, entries.end, entries.magic == 2, places.slots
    which = np.flatnonzero(wanted & batch)
    start = entries.position[which] + np.uint64(BATCH_HEADER)
    kernels.read_batches(wire, start, end[which], which, heads, slots, places.first, places.step, clean)
    which = np.flatnonzero(wanted & ~batch)
    start = entries.position[which]
    message_kernels.read_messages(
        wire, start, end[which], which, entries.magic, slots, places.first, places.step, clean
    )


def _kept(slots: Array, counts: Array, clean: Array, inner: Array, base: int) -> Array:
    """The slots of clean entries, those of unpacked ones placed behind the buffer."""
    inner = np.repeat(inner, counts)
    for name in ("key_at", "value_at", "headers_at"):
        slots[name][inner] += np.uint64(base)
    return slots if clean[counts > 0].all() else slots[np.repeat(clean, counts)]
