"""The compressed regions of entries: one by one for a verdict, or a wave of them for their records.

For a verdict a region is judged as soon as it is unpacked, while it lies in a cache, and nothing is kept.
"""

from typing import Final

from attrs import frozen

from wireproof.columnar import message_kernels
from wireproof.columnar.entries import Entries
from wireproof.columnar.extra import np
from wireproof.columnar.inflate import Arena, inflate
from wireproof.columnar.kernels import CODEC, SLOT, Array, Octets

UNPACKED_BYTES: Final = 2 << 20
"""Bytes that compressed entries of a wave may unpack to before it is closed: few enough for a cache."""
ARENA_BYTES: Final = UNPACKED_BYTES + (256 << 10)
"""Memory for that, and for what the entry that closes the wave most often unpacks to."""
BATCH_HEADER: Final = 61


@frozen
class Unpacked:
    """The compressed regions of a wave: whose, and where each lies in the arena; `stop`: entries judged."""

    which: Array
    start: Array
    end: Array
    arena: Octets
    stop: int


def closed(heads: Array, magic: Array, clean: Array) -> list[int]:
    """The compressed entries that are clean so far; without a record a batch is not opened (N08)."""
    empty = (magic == 2) & (heads["count"] == 0) & (heads["attributes"] & CODEC != 0)
    clean &= ~empty
    found: list[int] = np.flatnonzero(clean & (heads["attributes"] & CODEC != 0)).tolist()
    return found


def read(entries: Entries, heads: Array, clean: Array, most: int) -> Array:
    """Judge the records of each compressed entry that is clean so far.

    Returns:
        How many bytes the region of each entry gave, uint64; `clean` and the wrappers' counts are set.
    """
    size = np.zeros(clean.size, np.uint64)
    arena, slots = Arena.of(0), np.empty(1, SLOT)
    codec = heads["attributes"] & CODEC
    for index in closed(heads, entries.magic, clean):
        data = _unpacked(entries, index, int(codec[index]), most, arena)
        if data is None:
            clean[index] = False
            continue
        octets = np.frombuffer(data, np.uint8)
        message_kernels.read_packed(octets, index, heads, entries.magic, slots, clean)
        size[index] = octets.size
    return size


def unpack(entries: Entries, heads: Array, clean: Array, most: int) -> Unpacked:
    """Unpack what is compressed and clean so far, and mark what cannot be."""
    codec, arena = heads["attributes"] & CODEC, Arena.of(0)
    which: list[int] = []
    ends: list[int] = []
    stop = clean.size
    for index in closed(heads, entries.magic, clean):
        if arena.size > UNPACKED_BYTES:
            stop = index
            break
        arena = arena if arena.octets.size else Arena.of(ARENA_BYTES)
        data = _unpacked(entries, index, int(codec[index]), most, arena)
        if data is None:
            clean[index] = False
            continue
        arena.take(data)
        which.append(index)
        ends.append(arena.size)
    end = np.array(ends, np.uint64)
    start = np.concatenate((np.zeros(1, np.uint64), end))[:-1]
    return Unpacked(np.array(which, np.int64), start, end, arena.octets[: arena.size], stop)


def _unpacked(entries: Entries, index: int, codec: int, most: int, arena: Arena) -> bytes | memoryview | None:
    """What the region of an entry gives, as `inflate` has it."""
    start = int(entries.position[index])
    stop, magic = start + int(entries.length[index]), int(entries.magic[index])
    if magic == 2:
        return inflate(entries.view[start + BATCH_HEADER : stop], codec, most, arena)
    start += 26 if magic else 18
    head = bytes(entries.view[start : start + 8])  # §2.2: a null key, a value that ends the message
    if len(head) < 8 or head[:4] != b"\xff\xff\xff\xff" or int.from_bytes(head[4:]) != stop - start - 8:
        return None
    return inflate(entries.view[start + 8 : stop], codec, most, arena, kip57=magic == 0)
