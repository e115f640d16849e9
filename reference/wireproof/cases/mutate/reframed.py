"""Packed bytes in another frame of their codec: optional parts, wrong checksums, other blocks, two frames.

A writer chooses one frame, readers must know them all and take no wrong one: kafka.md, section 3. What is
in the frame is the same as before, so a reader that goes wrong goes wrong about the frame.
"""

import zlib
from collections.abc import Callable
from random import Random
from struct import pack
from typing import Final

import zstandard

from wireproof.cases.mutate.draws import below, pick
from wireproof.wire import gzip, lz4, snappy, zstd
from wireproof.wire.checksums import crc32, lz4_header_byte, xxh32

LATER: Final = (b"\0garbag", b"\0", b"abc", b"\0" * 8)
"""What stands behind a frame and is none."""

SKIPPED: Final = pack("<II", zstd.SKIPPABLE[0], 3) + b"abc"
"""A skippable frame, which LZ4 and zstd both have."""

HEAD: Final = 7
"""Bytes of the plainest LZ4 frame before its first block: magic, FLG, BD and HC."""

WRONG: Final = 6
"""Of checksums and sizes, one in so many is wrong."""


def reframed(codec: str, data: bytes, rng: Random) -> bytes:
    """`data` packed by the codec `codec`, in any frame of it, mostly in one that is right."""
    frame = FRAMES[codec]
    match below(rng, 6):
        case 0:
            cut = below(rng, len(data) + 1)
            return frame(data[:cut], rng) + frame(data[cut:], rng)
        case 1:
            return frame(data, rng) + pick(rng, (*LATER, SKIPPED, frame(b"", rng)))
        case 2:
            return pick(rng, (SKIPPED, frame(b"", rng))) + frame(data, rng)
        case _:
            return frame(data, rng)


def _perhaps(value: int, rng: Random, bits: int = 32) -> int:
    """The number, now and then another one of as many bits."""
    return value if below(rng, WRONG) else (value ^ 1 << below(rng, bits)) & (1 << bits) - 1


# --- RFC 1952; W06, N13, N14, X07 to X09, Z60 to Z66 ---


def _gzip(data: bytes, rng: Random) -> bytes:
    flags = 0
    for flag in (gzip.FHCRC, gzip.FEXTRA, gzip.FNAME, gzip.FCOMMENT):
        flags |= flag if not below(rng, 2) else 0
    if not below(rng, WRONG):
        flags |= 1 << below(rng, 8)
    method = gzip.DEFLATE if below(rng, 12) else 7
    head = pack("<HBBIBB", gzip.MAGIC, method, flags, 0, 0, 255)
    head += b"\x02\0ab" if flags & gzip.FEXTRA else b""
    head += b"n\0" * (flags & (gzip.FNAME | gzip.FCOMMENT)).bit_count()
    if flags & gzip.FHCRC:
        head += pack("<H", _perhaps(crc32(head) & 0xFFFF, rng, 16))
    engine = zlib.compressobj(pick(rng, (0, 1, 9)), wbits=-zlib.MAX_WBITS)
    trailer = pack("<II", _perhaps(crc32(data), rng), _perhaps(len(data), rng))
    return head + engine.compress(data) + engine.flush() + trailer


# --- section 3, column lz4; Z20 to Z44, X10, X14 ---


def _lz4(data: bytes, rng: Random) -> bytes:
    flags = lz4.VERSION_1 | lz4.INDEPENDENT
    for flag in (lz4.BLOCK_CHECKSUM, lz4.CONTENT_SIZE, lz4.CONTENT_CHECKSUM):
        flags |= flag if not below(rng, 3) else 0
    flags = _perhaps(flags, rng, 8)
    sizes = _perhaps(pick(rng, range(lz4.LEAST_SIZE_CODE, 8)) << 4, rng, 8)
    descriptor = bytes((flags, sizes))
    if flags & lz4.CONTENT_SIZE:
        descriptor += pack("<Q", _perhaps(len(data), rng))
    magic = lz4.MAGIC.to_bytes(4, "little")
    summed = descriptor if below(rng, WRONG) else magic + descriptor
    end = pick(rng, (lz4.END_MARK, lz4.END_MARK, lz4.END_MARK, pack("<I", lz4.STORED), b""))
    if flags & lz4.CONTENT_CHECKSUM and below(rng, WRONG):
        end += pack("<I", _perhaps(xxh32(data), rng))
    blocks = b"".join(_lz4_block(piece, flags, rng) for piece in _pieces(data, rng))
    return magic + descriptor + bytes((_perhaps(lz4_header_byte(summed), rng, 8),)) + blocks + end


def _lz4_block(piece: bytes, flags: int, rng: Random) -> bytes:
    """Stored or not; without a byte, one that is stored says the same as an EndMark to some readers."""
    if below(rng, 2) or not piece:
        made = pack("<I", len(piece) | lz4.STORED) + piece
    else:
        made = lz4.pack(piece)[HEAD : -len(lz4.END_MARK)]
    return made + (pack("<I", _perhaps(xxh32(made[4:]), rng)) if flags & lz4.BLOCK_CHECKSUM else b"")


def _pieces(data: bytes, rng: Random) -> tuple[bytes, ...]:
    """The data in one block or two, or in two with an empty one between them."""
    cut = below(rng, len(data) + 1)
    return pick(rng, ((data,), (data,), (data[:cut], data[cut:]), (data[:cut], b"", data[cut:])))


# --- section 3, column snappy; Z01 to Z13, X13 ---


def _snappy(data: bytes, rng: Random) -> bytes:
    if not below(rng, 5):
        return snappy.pack_block(data)
    versions = pack(">ii", *snappy.WRITTEN_VERSIONS)
    if not below(rng, WRONG):
        versions = pick(rng, (pack("<ii", 1, 1), pack(">ii", 2, 1), pack(">ii", 1, 2), bytes(8)))
    blocks = [
        b"" if not piece and below(rng, 2) else snappy.pack_block(piece) for piece in _pieces(data, rng)
    ]
    return snappy.MAGIC + versions + b"".join(pack(">i", len(block)) + block for block in blocks)


# --- RFC 8878; Z50 to Z58, X04 to X06, X12, X15 ---


def _zstd(data: bytes, rng: Random) -> bytes:
    if not below(rng, 3):
        return _zstd_raw(data, rng)
    size, checksum = bool(below(rng, 2)), not below(rng, 3)
    made = zstandard.ZstdCompressor(write_content_size=size, write_checksum=checksum).compress(data)
    return made if below(rng, WRONG) or not checksum else made[:-1] + bytes((made[-1] ^ 1,))


def _zstd_raw(data: bytes, rng: Random) -> bytes:
    """One frame of one raw block; its window is drawn about the largest that Kafka takes."""
    descriptor = _perhaps(0, rng, 8)
    window = pick(rng, (10, 17, 27, 27, 28)) - 10 << 3
    last = len(data) << 3 | zstd.RAW << 1 | 1
    return pack("<IBB", zstd.MAGIC, descriptor, window) + pack("<I", last)[:3] + data


FRAMES: Final[dict[str, Callable[[bytes, Random], bytes]]] = {
    "gzip": _gzip,
    "lz4": _lz4,
    "snappy": _snappy,
    "zstd": _zstd,
}
"""By the name of a codec in traces."""
