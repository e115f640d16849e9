"""A run of whole entries, judged by the kernels together. kafka.md §1, §2.

A wave is bounded by the bytes of its entries and by what they unpack to, unless one entry alone is larger.
"""

import zlib
from collections.abc import Iterator
from typing import Final

import google_crc32c
from attrs import frozen

from wireproof.columnar import kernels, message_kernels
from wireproof.columnar.extra import np
from wireproof.columnar.inflate import Arena, inflate
from wireproof.columnar.kernels import CODEC, HEAD, SLOT, Array, Octets

WIRE_BYTES: Final = 16 << 20
"""Bytes of the entries of a wave."""
UNPACKED_BYTES: Final = 2 << 20
"""Bytes that compressed ones may unpack to before the wave is closed: few enough to stay in a cache."""
ARENA_BYTES: Final = UNPACKED_BYTES + (256 << 10)
"""Memory for that, and for what the entry that closes the wave most often unpacks to."""
SMALL: Final = 512
"""Up to this length a checksum in a kernel is done before a call of the library has begun."""
LEAST_RECORD: Final = 7
"""Bytes of the smallest record: §1.3."""
BATCH_HEADER: Final = 61


@frozen
class Entries:
    """Entries of a buffer as `kernels.walk` found them: rows of equal length.

    Attributes:
        wire: the whole buffer, as an array and as a view that slices.
        position, length: of each entry in the buffer, bytes.
        magic: 0, 1 or 2.
    """

    wire: Octets
    view: memoryview
    position: Array
    length: Array
    magic: Array

    @property
    def end(self) -> Array:
        """Where each entry ends."""
        return self.position + self.length

    def part(self, first: int, stop: int) -> "Entries":
        """The entries `first` to `stop`."""
        rows = slice(first, stop)
        return Entries(self.wire, self.view, self.position[rows], self.length[rows], self.magic[rows])


@frozen
class Wave:
    """What the kernels say of some entries.

    Attributes:
        entries: those that were judged.
        heads: their fixed fields, rows of `HEAD`.
        clean: whether the kernels answer for an entry; the reference is to be asked for the others.
        records: how many records each clean entry holds; 0 for the others.
        unpacked: bytes that the compressed region of each gave.
        slots: the records of the clean ones in order, rows of `SLOT`; empty if only a verdict was wanted.
        arena: what was unpacked; without slots it holds until the next wave is asked for. A position in a
            slot from the buffer's size on is one of the arena.
    """

    entries: Entries
    heads: Array
    clean: Array
    records: Array
    unpacked: Array
    slots: Array
    arena: Octets


@frozen
class Unpacked:
    """The compressed regions of a wave: whose, and where each lies in the arena; `stop`: entries judged."""

    which: Array
    start: Array
    end: Array
    arena: Octets
    stop: int


def judge(entries: Entries, most: int, *, keep: bool) -> Iterator[Wave]:
    """Judge entries, in waves of what they unpack to; their heads and checksums are looked at once.

    Args:
        entries: one or more.
        most: bytes that one entry may unpack to.
        keep: whether slots are wanted.
    """
    heads = np.zeros(entries.magic.size, HEAD)
    kernels.read_heads(entries.wire, entries.position, entries.magic, heads)
    clean = sealed(entries, heads)
    kernels.clean_heads(heads, entries.magic, clean)
    first, arena = 0, Arena.of(ARENA_BYTES)
    while first < clean.size:
        unpacked = unpack(entries.part(first, clean.size), heads[first:], clean[first:], most, arena)
        rows = slice(first, first + unpacked.stop)
        yield _walked(entries.part(first, rows.stop), heads[rows], clean[rows], unpacked, keep=keep)
        first, arena = rows.stop, Arena.of(ARENA_BYTES) if keep else Arena(arena.octets)


def sealed(entries: Entries, heads: Array) -> Array:
    """Whether the checksum of each entry holds, but for messages, whose reader looks itself: §1.1, §2.1."""
    good = np.ones(heads.size, np.bool_)
    end = entries.end
    batch = entries.magic == 2
    small = np.flatnonzero(batch & (entries.length <= SMALL))
    found = np.zeros(small.size, np.uint64)
    kernels.crc_each(kernels.CRC32C, entries.wire, entries.position[small] + 21, end[small], found)
    good[small] = found == heads["crc"][small]
    large = np.flatnonzero(batch & (entries.length > SMALL))
    good[large] = heads["crc"][large] == _checksums(entries, large, end)
    wrapper = np.flatnonzero(~batch & (heads["attributes"] & CODEC != 0))
    rows = zip(wrapper.tolist(), entries.position[wrapper].tolist(), end[wrapper].tolist(), strict=True)
    for index, start, stop in rows:
        good[index] = heads["crc"][index] == zlib.crc32(entries.view[start + 16 : stop])
    return good


def _checksums(entries: Entries, which: Array, end: Array) -> Array:
    """CRC-32C by the library, which wants bytes of its own."""
    value, view = google_crc32c.value, entries.view
    rows = zip((entries.position[which] + 21).tolist(), end[which].tolist(), strict=True)
    return np.fromiter((value(bytes(view[start:stop])) for start, stop in rows), np.uint32, which.size)


def unpack(entries: Entries, heads: Array, clean: Array, most: int, arena: Arena) -> Unpacked:
    """Unpack what is compressed and clean so far, and mark what cannot be."""
    codec = heads["attributes"] & CODEC
    which: list[int] = []
    ends: list[int] = []
    stop = clean.size
    for index in np.flatnonzero(clean & (codec != 0)).tolist():
        if arena.size > UNPACKED_BYTES:
            stop = index
            break
        empty = entries.magic[index] == 2 and heads["count"][index] == 0  # N08: not opened
        if empty or not _inflated(entries, index, int(codec[index]), most, arena):
            clean[index] = False
            continue
        which.append(index)
        ends.append(arena.size)
    end = np.array(ends, np.uint64)
    start = np.concatenate((np.zeros(1, np.uint64), end))[:-1]
    return Unpacked(np.array(which, np.int64), start, end, arena.octets[: arena.size], stop)


def _inflated(entries: Entries, index: int, codec: int, most: int, arena: Arena) -> bool:
    start = int(entries.position[index])
    stop, magic = start + int(entries.length[index]), int(entries.magic[index])
    if magic == 2:
        return inflate(bytes(entries.view[start + BATCH_HEADER : stop]), codec, most, arena)
    start += 26 if magic else 18
    head = bytes(entries.view[start : start + 8])  # §2.2: a null key, a value that ends the message
    if len(head) < 8 or head[:4] != b"\xff\xff\xff\xff" or int.from_bytes(head[4:]) != stop - start - 8:
        return False
    return inflate(bytes(entries.view[start + 8 : stop]), codec, most, arena, kip57=magic == 0)


def _walked(entries: Entries, heads: Array, clean: Array, unpacked: Unpacked, *, keep: bool) -> Wave:
    """The records of every entry that is clean so far."""
    wire, arena, which = entries.wire, unpacked.arena, unpacked.which
    packed = np.zeros(clean.size, np.bool_)
    packed[which] = True
    size = np.zeros(clean.size, np.uint64)
    size[which] = unpacked.end - unpacked.start
    batch = entries.magic == 2
    wrapped = ~batch[which]
    message_kernels.count_inners(
        arena, unpacked.start[wrapped], unpacked.end[wrapped], which[wrapped], entries.magic, heads
    )
    room = np.where(packed, size, entries.length - np.uint64(BATCH_HEADER))
    clean &= ~batch | (heads["count"] * LEAST_RECORD <= room.astype(np.int64))
    counts = np.where(clean, heads["count"], 0).astype(np.int64)
    first = np.concatenate((np.zeros(1, np.int64), np.cumsum(counts)))[:-1]
    step = 1 if keep else 0
    slots = np.empty(int(counts.sum()) if keep else 1, SLOT)  # a clean record fills all of its own
    first *= step

    plain = np.flatnonzero(clean & ~packed & batch)
    start = entries.position[plain] + np.uint64(BATCH_HEADER)
    kernels.read_batches(wire, start, entries.end[plain], plain, heads, slots, first, step, clean)
    plain = np.flatnonzero(clean & ~packed & ~batch)
    start = entries.position[plain]
    message_kernels.read_messages(
        wire, start, entries.end[plain], plain, entries.magic, slots, first, step, clean
    )
    rows = ~wrapped & clean[which]
    start, end, these = unpacked.start[rows], unpacked.end[rows], which[rows]
    kernels.read_batches(arena, start, end, these, heads, slots, first, step, clean)
    rows = wrapped & clean[which]
    start, end, these = unpacked.start[rows], unpacked.end[rows], which[rows]
    message_kernels.read_sets(arena, start, end, these, heads, entries.magic, slots, first, step, clean)
    if keep:
        slots = _kept(slots, counts, clean, packed, wire.size)
    return Wave(entries, heads, clean, np.where(clean, counts, 0), size, slots if keep else slots[:0], arena)


def _kept(slots: Array, counts: Array, clean: Array, packed: Array, base: int) -> Array:
    """The slots of clean entries, those of unpacked ones placed behind the buffer."""
    inner = np.repeat(packed, counts)
    for name in ("key_at", "value_at", "headers_at"):
        slots[name][inner] += np.uint64(base)
    return slots if clean[counts > 0].all() else slots[np.repeat(clean, counts)]
