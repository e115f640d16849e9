"""Compressed regions whole, at the libraries' own speed, where they are as Kafka's writers make them.

kafka.md §3. Each function takes the plainest shape of its codec. Any other shape, and every defect, goes
through the reference's own frame reader (`wireproof.wire.compress`): it says whether the region is sound and
what it leaves open, so nothing is taken here that it would refuse or remark on. What may come out is bounded
before anything is unpacked.
"""

import zlib
from collections.abc import Callable, Mapping
from functools import partial
from struct import Struct
from threading import local
from typing import Final, TypeAlias

import cramjam
import zstandard
from attrs import define, field

from wireproof.columnar.extra import np
from wireproof.columnar.kernels import Octets
from wireproof.wire import gzip, lz4, snappy, zstd
from wireproof.wire.compress import decompress_prefix
from wireproof.wire.reader import Budget, Reader
from wireproof.wire.rejected import Rejected

GZIP: Final = bytes((0x1F, 0x8B, gzip.DEFLATE, 0))
"""A member without optional parts."""
DEFLATE_RATIO: Final = 1032
"""Deflated data grows by at most 258 bytes for two bits."""
XERIAL: Final = snappy.MAGIC + Struct(">ii").pack(*snappy.WRITTEN_VERSIONS)
LZ4_HEADS: Final = {head: most for most, head in lz4.HEADS}
LZ4_V0_HEADS: Final = {head: most for most, head in lz4.V0_HEADS}
"""Frame headers without optional parts, and the block size of each; v0 has the byte of its time (§2.3)."""
RIGHT_HEAD: Final = dict(lz4.HEADS)
ZSTD_MAGIC: Final = zstd.MAGIC.to_bytes(4, "little")
STORED_LAST: Final = 1

CHUNK: Final = Struct(">i")
BLOCK: Final = Struct("<I")
BLOCK_HEAD: Final = 3


@define
class Arena:
    """Memory that regions are unpacked into, one behind another; it grows by being replaced.

    Attributes:
        octets: all of it, as an array.
        room: the same, as a view that slices.
        size: how much of it is taken, bytes.
    """

    octets: Octets
    room: memoryview = field(init=False)
    size: int = 0

    def __attrs_post_init__(self) -> None:
        """The view of the array."""
        self.room = memoryview(self.octets)  # type: ignore[arg-type] # an array is a buffer

    @classmethod
    def of(cls, size: int) -> "Arena":
        """One of so many bytes, which the system gives when they are first written."""
        return cls(np.empty(size, np.uint8))

    def free(self, size: int) -> memoryview:
        """The next `size` bytes, which are not taken by this."""
        if self.size + size > self.octets.size:
            octets = np.empty(max(self.size + size, 2 * self.octets.size), np.uint8)
            octets[: self.size] = self.octets[: self.size]
            self.octets, self.room = octets, memoryview(octets)  # type: ignore[arg-type] # as above
        return self.room[self.size : self.size + size]

    def take(self, data: bytes | memoryview) -> None:
        """Keep `data`; a view is of what is free, and lies there already."""
        size = len(data)
        if not isinstance(data, memoryview):
            self.free(size)[:] = data
        self.size += size


Region: TypeAlias = bytes | memoryview
"""What is unpacked; nothing of it is kept."""
Given: TypeAlias = bytes | memoryview | None
"""What a region gives: bytes of their own, or a view of what is free in the arena until it is taken."""


def inflate(region: Region, codec: int, most: int, arena: Arena, *, kip57: bool = False) -> Given:
    """What `region` unpacks to, read-only; None if it is unsound, open to readings, or larger than `most`.

    Args:
        region: the bytes under the attributes' codec, all of them.
        codec: 1 to 4.
        most: bytes that may come out.
        arena: memory that may be used behind what it holds.
        kip57: the region is the value of a v0 message (§2.3).
    """
    data = (V0 if kip57 else PLAIN)[codec](region, most, arena)
    return _by_reference(bytes(region), codec, most, kip57=kip57) if data is None else data


def _by_reference(region: bytes, codec: int, most: int, *, kip57: bool) -> Given:
    reader = Reader(region, budget=Budget(most))
    try:
        inner, torn = decompress_prefix(reader, "records", codec, kip57=kip57)
    except Rejected:
        return None
    return None if torn is not None or reader.remarks else bytes(inner.data)


def _gzip(packed: Region, most: int, _: Arena) -> Given:
    """One member; zlib itself holds the trailer to what came out (Z60, Z61).

    cramjam's inflater is no slower, but takes distances that reach back over the beginning.
    """
    region = bytes(packed)
    size = int.from_bytes(region[-4:], "little")
    if region[:4] != GZIP or size > most:
        return None
    try:
        data = _inflated(region, size) if _ends_once(region, most) else _inflated_to_its_end(region, size)
    except zlib.error:
        return None
    return data if data is not None and len(data) == size else None


def _ends_once(region: bytes, most: int) -> bool:
    """Whether a member of the size in the last bytes must end with them, and can give no more than `most`.

    Where it ends its size stands: at the end of the region, if these four bytes stand nowhere before.
    """
    return DEFLATE_RATIO * len(region) <= most and region.find(region[-4:]) == len(region) - 4


def _inflated(region: bytes, size: int) -> bytes:
    """In one step, in memory of that size: bytes behind a member would be passed over."""
    return zlib.decompress(region, 16 + zlib.MAX_WBITS, max(size, 1))


def _inflated_to_its_end(region: bytes, size: int) -> bytes | None:
    """At most a byte more than `size`; None if the region does not end with the member."""
    engine = zlib.decompressobj(16 + zlib.MAX_WBITS)
    data = engine.decompress(region, size + 1)
    return data if engine.eof and not engine.unused_data else None


def _snappy(region: Region, most: int, arena: Arena) -> Given:
    """A xerial stream whose chunks fill the region."""
    if region[:16] != XERIAL:
        return None
    at, stop, total, blocks = 16, len(region), 0, []
    view = memoryview(region)
    try:
        while at < stop:
            if stop - at < CHUNK.size:  # Z08: the reference remarks on it
                return None
            (length,) = CHUNK.unpack_from(region, at)
            block = view[at + 4 : at + 4 + length]
            size = cramjam.snappy.decompress_raw_len(block)
            at, total = at + 4 + length, total + size
            if length <= 0 or at > stop or total > most or size > snappy.MOST_RATIO * length:
                return None
            blocks.append((block, size))
        room = arena.free(total)
        return room.toreadonly() if _filled(blocks, room) else None
    except cramjam.DecompressionError:
        return None


def _filled(blocks: list[tuple[memoryview, int]], room: memoryview) -> bool:
    """Each raw block, into its place."""
    at = 0
    for block, size in blocks:
        if cramjam.snappy.decompress_raw_into(block, room[at : at + size]) != size:
            return False
        at += size
    return True


def _lz4(region: Region, most: int, arena: Arena, heads: Mapping[bytes, int] = LZ4_HEADS) -> Given:
    """One frame of plain blocks that ends with its EndMark."""
    largest = heads.get(bytes(region[:7]))
    if largest is None:
        return None
    at, stop, bound, blocks = 7, len(region) - 4, 0, []
    while at < stop:
        (word,) = BLOCK.unpack_from(region, at)
        length = word & ~lz4.STORED
        if not 0 < length <= largest:
            return None
        room = length if word & lz4.STORED else min(largest, lz4.MOST_RATIO * length + lz4.SLACK)
        blocks.append((at + 4, length, room, bool(word & lz4.STORED)))
        at, bound = at + 4 + length, bound + room
    if at != stop or region[stop:] != lz4.END_MARK or bound - largest > most:
        return None
    room = arena.free(bound)
    try:
        size = _blocks(memoryview(region), blocks, room, RIGHT_HEAD[largest])
    except cramjam.DecompressionError:
        return None
    return room[:size].toreadonly() if size <= most else None


def _blocks(view: memoryview, blocks: list[tuple[int, int, int, bool]], out: memoryview, head: bytes) -> int:
    """Each block (begin, length, most that may come out, whether it is stored) behind the one before it.

    `head`: of a frame of such blocks, as the library takes it.
    """
    size = 0
    for start, length, room, stored in blocks:
        block = view[start : start + length]
        if stored:
            out[size : size + length] = block
            size += length
        elif int.from_bytes(block[:4], "little") > room:
            size += cramjam.lz4.decompress_block_into(block, out[size : size + room], room)
        else:  # cramjam reads a block that fails once more, as if it began with a size; above none could be
            alone = b"".join((head, BLOCK.pack(length), block, lz4.END_MARK))
            size += cramjam.lz4.decompress_into(alone, out[size : size + room])
    return size


class _Engine(local):
    """A decompressor of each thread's own: it is dear to make, and not to be shared."""

    def __init__(self) -> None:
        self.zstd = zstandard.ZstdDecompressor(max_window_size=zstd.MOST_WINDOW)


_ENGINE: Final = _Engine()


def _zstd(region: Region, most: int, _: Arena) -> Given:
    """One frame without dictionary, its blocks walked as the reference walks them: RFC 8878, §3.1.1."""
    if region[:4] != ZSTD_MAGIC or len(region) < 5 or region[4] & (zstd.RESERVED | 3):
        return None
    try:
        head = zstandard.get_frame_parameters(region)
        if not _is_plain(region, head, most):
            return None
        engine = _ENGINE.zstd.decompressobj()
        data: bytes = engine.decompress(region)
    except zstandard.ZstdError:
        return None
    sized = head.content_size in (zstandard.CONTENTSIZE_UNKNOWN, len(data))
    return data if sized and engine.eof and len(data) <= most else None


def _is_plain(region: Region, head: zstandard.FrameParameters, most: int) -> bool:
    """Whether blocks of allowed sizes fill the region and cannot give much more than `most` bytes."""
    if head.window_size > zstd.MOST_WINDOW or head.dict_id:
        return False
    largest = min(head.window_size, zstd.MOST_BLOCK)
    at, bound, last = zstandard.frame_header_size(region), 0, False
    while not last:
        word = int.from_bytes(region[at : at + BLOCK_HEAD], "little")
        last, kind, size = bool(word & STORED_LAST), word >> 1 & 3, word >> 3
        if at + BLOCK_HEAD > len(region) or kind > zstd.COMPRESSED or size > largest:
            return False
        if kind == zstd.COMPRESSED and not size:  # the reference remarks on it
            return False
        at += BLOCK_HEAD + (1 if kind == zstd.RLE else size)
        bound += zstd.MOST_BLOCK if kind == zstd.COMPRESSED else size
    return at + 4 * head.has_checksum == len(region) and bound - zstd.MOST_BLOCK <= most


PLAIN: Final[dict[int, Callable[[Region, int, Arena], Given]]] = {
    1: _gzip,
    2: _snappy,
    3: _lz4,
    4: _zstd,
}
"""By codec number: §1.2."""
V0: Final = PLAIN | {3: partial(_lz4, heads=LZ4_V0_HEADS)}
"""The same of values of v0 messages: §2.3."""
