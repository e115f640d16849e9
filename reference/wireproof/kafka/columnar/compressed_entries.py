"""Decompress the compressed entries of a block: one at a time for a verdict, or together for their records.

For a verdict, an entry is judged as soon as it is decompressed, while its bytes are in the cache, and nothing
is kept.
"""

from typing import Final

from attrs import frozen

from wireproof.columnar.basic_kernels import Array, Octets
from wireproof.columnar.decompress import Arena, Decompressed, decompress_region
from wireproof.columnar.optional_deps import np
from wireproof.kafka.columnar import message_kernels
from wireproof.kafka.columnar.entry_index import EntryIndex
from wireproof.kafka.columnar.entry_kernels import CODEC, SLOT
from wireproof.kafka.layouts import BATCH, MESSAGE_V0, MESSAGE_V1

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
