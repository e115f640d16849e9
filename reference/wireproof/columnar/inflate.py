"""Compressed regions whole, at the libraries' own speed, where they are as Kafka's writers make them.

kafka.md §3. Each function takes the plainest shape of its codec. Any other shape, and every defect, goes
through the reference's own frame reader (`wireproof.wire.compress`): it says whether the region is sound and
what it leaves open, so nothing is taken here that it would refuse or remark on. What may come out is bounded
before anything is unpacked.
"""

import zlib
from collections.abc import Callable
from struct import Struct
from threading import local
from typing import Final

import cramjam
import zstandard

from wireproof.wire import gzip, lz4, snappy, zstd
from wireproof.wire.compress import decompress_prefix
from wireproof.wire.reader import Budget, Reader
from wireproof.wire.rejected import Rejected

GZIP: Final = bytes((0x1F, 0x8B, gzip.DEFLATE, 0))
"""A member without optional parts."""
XERIAL: Final = snappy.MAGIC + Struct(">ii").pack(*snappy.WRITTEN_VERSIONS)
LZ4_HEADS: Final = {head: most for most, head in lz4.HEADS}
"""Frame headers without optional parts, and the block size of each."""
ZSTD_MAGIC: Final = zstd.MAGIC.to_bytes(4, "little")
STORED_LAST: Final = 1

CHUNK: Final = Struct(">i")
BLOCK: Final = Struct("<I")
BLOCK_HEAD: Final = 3


def inflate(region: bytes, codec: int, most: int, *, kip57: bool = False) -> bytes | bytearray | None:
    """What `region` unpacks to, `most` bytes at most; None if it is unsound, open to readings, or larger.

    Args:
        region: the bytes under the attributes' codec, all of them.
        codec: 1 to 4.
        most: bytes that may come out.
        kip57: the region is the value of a v0 message (§2.3).
    """
    data = None if kip57 else PLAIN[codec](region, most)
    return _by_reference(region, codec, most, kip57=kip57) if data is None else data


def _by_reference(region: bytes, codec: int, most: int, *, kip57: bool) -> bytes | bytearray | None:
    reader = Reader(region, budget=Budget(most))
    try:
        inner, torn = decompress_prefix(reader, "records", codec, kip57=kip57)
    except Rejected:
        return None
    return None if torn is not None or reader.remarks else inner.data


def _gzip(region: bytes, most: int) -> bytes | bytearray | None:
    """One member; zlib itself holds the trailer to what came out (Z60, Z61)."""
    size = int.from_bytes(region[-4:], "little")
    if region[:4] != GZIP or size > most:
        return None
    engine = zlib.decompressobj(16 + zlib.MAX_WBITS)
    try:
        data = engine.decompress(region, size + 1)
    except zlib.error:
        return None
    return data if engine.eof and len(data) == size and not engine.unused_data else None


def _snappy(region: bytes, most: int) -> bytes | bytearray | None:
    """A xerial stream whose chunks fill the region."""
    if region[:16] != XERIAL:
        return None
    at, stop, total, blocks = 16, len(region), 0, []
    view = memoryview(region)
    try:
        while at < stop:
            (length,) = CHUNK.unpack_from(region, at)
            block = view[at + 4 : at + 4 + length]
            size = cramjam.snappy.decompress_raw_len(block)
            at, total = at + 4 + length, total + size
            if length <= 0 or at > stop or total > most or size > snappy.MOST_RATIO * length:
                return None
            blocks.append((block, size))
        return _filled(blocks, total)
    except (cramjam.DecompressionError, ValueError):
        return None


def _filled(blocks: list[tuple[memoryview, int]], total: int) -> bytes | bytearray | None:
    """Each raw block, into its place."""
    data, at = bytearray(total), 0
    room = memoryview(data)
    for block, size in blocks:
        if cramjam.snappy.decompress_raw_into(block, room[at : at + size]) != size:
            return None
        at += size
    return data


def _lz4(region: bytes, most: int) -> bytes | bytearray | None:
    """One frame of plain blocks that ends with its EndMark."""
    room = LZ4_HEADS.get(region[:7])
    if room is None:
        return None
    at, stop, bound = 7, len(region) - 4, 0
    while at < stop:
        (word,) = BLOCK.unpack_from(region, at)
        length = word & ~lz4.STORED
        if not 0 < length <= room:
            return None
        at, bound = at + 4 + length, bound + (length if word & lz4.STORED else room)
    if at != stop or region[stop:] != lz4.END_MARK or bound - room > most:
        return None
    try:
        data = bytes(cramjam.lz4.decompress(region))
    except cramjam.DecompressionError:
        return None
    return data if len(data) <= most else None


class _Engine(local):
    """A decompressor of each thread's own: it is dear to make, and not to be shared."""

    def __init__(self) -> None:
        self.zstd = zstandard.ZstdDecompressor(max_window_size=zstd.MOST_WINDOW)


_ENGINE: Final = _Engine()


def _zstd(region: bytes, most: int) -> bytes | bytearray | None:
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


def _is_plain(region: bytes, head: zstandard.FrameParameters, most: int) -> bool:
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


PLAIN: Final[dict[int, Callable[[bytes, int], bytes | bytearray | None]]] = {
    1: _gzip,
    2: _snappy,
    3: _lz4,
    4: _zstd,
}
"""By codec number: §1.2."""
