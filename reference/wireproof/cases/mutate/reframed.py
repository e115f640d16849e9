"""Packed bytes in another frame of their codec: optional parts, wrong checksums, other blocks, two frames.

A writer chooses one frame, readers must know them all and take no wrong one: kafka.md, section 3. What is
in the frame is the same as before, so a reader that goes wrong goes wrong about the frame.
"""

import zlib
from collections.abc import Callable, Sequence
from random import Random
from struct import pack
from typing import Final

import zstandard

from wireproof.cases.mutate.draws import below, pick
from wireproof.wire import gzip, lz4, snappy, zstd
from wireproof.wire.checksums import crc32, lz4_header_byte, xxh32

_Frame = Callable[[bytes, Random, str, Sequence[int]], bytes]
"""Packs data with one part as it should not be, some of the blocks ending where the elements do."""

LATER: Final = (b"\0garbag", b"\0", b"abc", b"\0" * 8)
"""What stands behind a frame and is none."""

SKIPPED: Final = pack("<II", zstd.SKIPPABLE[0], 3) + b"abc"
"""A skippable frame, which LZ4 and zstd both have."""

HEAD: Final = 7
"""Bytes of the plainest LZ4 frame before its first block: magic, FLG, BD and HC."""


def reframed(codec: str, data: bytes, rng: Random, ends: Sequence[int] = ()) -> bytes:
    """`data` packed by the codec `codec`: in any frame of it, of which at most one part is wrong.

    `ends`: where elements of `data` end; a reader that loses what is behind a block then loses whole ones.
    """
    frame = FRAMES[codec]
    match below(rng, 8):
        case 0:
            cut = _cut(data, rng, ends)
            return frame(data[:cut], rng, "", ()) + frame(data[cut:], rng, "", ())
        case 1:
            return frame(data, rng, "", ends) + pick(rng, (*LATER, SKIPPED, frame(b"", rng, "", ())))
        case 2:
            return pick(rng, (SKIPPED, frame(b"", rng, "", ()))) + frame(data, rng, "", ends)
        case _:
            return frame(data, rng, pick(rng, ODD[codec]), ends)


def _cut(data: bytes, rng: Random, ends: Sequence[int]) -> int:
    return pick(rng, ends) if ends and below(rng, 2) else below(rng, len(data) + 1)


def _but(odd: bool, value: int, rng: Random, bits: int = 32) -> int:
    """The number, or if it is to be odd the same but for one of its bits."""
    return value ^ 1 << below(rng, bits) if odd else value


def _some(flags: tuple[int, ...], rng: Random) -> int:
    return sum(flag for flag in flags if not below(rng, 3))


# --- RFC 1952; W06, N13, N14, X07 to X09, Z60 to Z66 ---


def _gzip(data: bytes, rng: Random, odd: str, _: Sequence[int]) -> bytes:
    flags = _some((gzip.FHCRC, gzip.FEXTRA, gzip.FNAME, gzip.FCOMMENT), rng)
    flags = _but(odd == "flags", flags | gzip.FHCRC if odd == "header crc" else flags, rng, 8)
    method = gzip.DEFLATE - (odd == "method")
    head = pack("<HBBIBB", gzip.MAGIC, method, flags, 0, 0, 255)
    head += b"\2\0ab" if flags & gzip.FEXTRA else b""
    head += b"n\0" * (flags & (gzip.FNAME | gzip.FCOMMENT)).bit_count()
    if flags & gzip.FHCRC:
        head += pack("<H", _but(odd == "header crc", crc32(head) & 0xFFFF, rng, 16))
    engine = zlib.compressobj(pick(rng, (0, 1, 9)), wbits=-zlib.MAX_WBITS)
    body = engine.compress(data) + engine.flush()
    return (
        head + body + pack("<II", _but(odd == "crc", crc32(data), rng), _but(odd == "size", len(data), rng))
    )


# --- section 3, column lz4; Z20 to Z44, X10, X14 ---


def _lz4(data: bytes, rng: Random, odd: str, ends: Sequence[int]) -> bytes:
    flags = lz4.VERSION_1 | lz4.INDEPENDENT * (odd != "linked")
    flags |= _some((lz4.BLOCK_CHECKSUM, lz4.CONTENT_SIZE, lz4.CONTENT_CHECKSUM), rng) | _ODD_FLAGS.get(odd, 0)
    flags = _but(odd == "flags", flags, rng, 8)
    sizes = _but(odd == "sizes", pick(rng, range(lz4.LEAST_SIZE_CODE, 8)) << 4, rng, 8)
    descriptor = bytes((flags, sizes))
    if flags & lz4.CONTENT_SIZE:
        descriptor += pack("<Q", _but(odd == "content size", len(data), rng))
    magic = lz4.MAGIC.to_bytes(4, "little")
    summed = magic + descriptor if odd == "kip57" else descriptor
    seal = _but(odd == "header checksum", lz4_header_byte(summed), rng, 8)
    pieces = _pieces(data, _cut(data, rng, ends), rng, empty=odd == "empty block")
    blocks = b"".join(_lz4_block(piece, flags, rng, odd) for piece in pieces)
    made = magic + descriptor + bytes((seal,)) + blocks + _ENDS.get(odd, lz4.END_MARK)
    if not flags & lz4.CONTENT_CHECKSUM:
        return made
    return made + pack("<I", _but(odd == "content checksum", xxh32(data), rng))


def _lz4_block(piece: bytes, flags: int, rng: Random, odd: str) -> bytes:
    """Stored, or as a writer makes it; an empty one that is stored is an EndMark to some readers (X10)."""
    if below(rng, 2) or not piece:
        made = pack("<I", len(piece) | lz4.STORED) + piece
    else:
        made = lz4.pack(piece)[HEAD : -len(lz4.END_MARK)]
    if not flags & lz4.BLOCK_CHECKSUM:
        return made
    return made + pack("<I", _but(odd == "block checksum", xxh32(made[4:]), rng))


_ODD_FLAGS: Final = {
    "content size": lz4.CONTENT_SIZE,
    "content checksum": lz4.CONTENT_CHECKSUM,
    "block checksum": lz4.BLOCK_CHECKSUM,
}

_ENDS: Final = {"stored end": pack("<I", lz4.STORED), "no end": b""}


def _pieces(data: bytes, cut: int, rng: Random, *, empty: bool) -> tuple[bytes, ...]:
    """The data in one block or two, or in two with an empty one between them."""
    if empty:
        return data[:cut], b"", data[cut:]
    return (data,) if not 0 < cut < len(data) else pick(rng, ((data,), (data[:cut], data[cut:])))


# --- section 3, column snappy; Z01 to Z13, X13 ---


def _snappy(data: bytes, rng: Random, odd: str, ends: Sequence[int]) -> bytes:
    if odd == "raw":
        return snappy.pack_block(data)
    versions = pack(">ii", *snappy.WRITTEN_VERSIONS)
    if odd == "versions":
        versions = pick(rng, (pack("<ii", 1, 1), pack(">ii", 2, 1), pack(">ii", 1, 2), bytes(8)))
    pieces = _pieces(data, _cut(data, rng, ends), rng, empty=odd in ("empty block", "empty chunk"))
    blocks = [snappy.pack_block(piece) if piece or odd != "empty chunk" else b"" for piece in pieces]
    made = b"".join(pack(">I", _but(odd == "length", len(block), rng)) + block for block in blocks)
    return snappy.MAGIC + versions + made


# --- RFC 8878; Z50 to Z58, X04 to X06, X12, X15 ---


def _zstd(data: bytes, rng: Random, odd: str, _: Sequence[int]) -> bytes:
    if odd in ("window", "descriptor", "content size"):
        return _zstd_raw(data, rng, odd)
    size, checksum = bool(below(rng, 2)), odd == "checksum" or not below(rng, 3)
    made = zstandard.ZstdCompressor(write_content_size=size, write_checksum=checksum).compress(data)
    return made[:-1] + bytes((made[-1] ^ 1 << below(rng, 8),)) if odd == "checksum" else made


def _zstd_raw(data: bytes, rng: Random, odd: str) -> bytes:
    """One frame of one raw block; its window is drawn about the largest that Kafka takes."""
    last = pack("<I", len(data) << 3 | zstd.RAW << 1 | 1)[:3]
    if odd == "content size":
        head = bytes((zstd.SINGLE_SEGMENT, _but(bool(below(rng, 2)), len(data) & 0xFF, rng, 8)))
    else:
        window = pick(rng, (17, 27, 27, 28)) if odd == "window" else 17
        head = bytes((_but(odd == "descriptor", 0, rng, 8), window - 10 << 3))
    return pack("<I", zstd.MAGIC) + head + last + data


FRAMES: Final[dict[str, _Frame]] = {
    "gzip": _gzip,
    "lz4": _lz4,
    "snappy": _snappy,
    "zstd": _zstd,
}
"""By the name of a codec in traces."""

ODD: Final[dict[str, tuple[str, ...]]] = {
    "gzip": ("", "header crc", "crc", "size", "method", "flags"),
    "lz4": (
        "", "linked", "flags", "sizes", "content size", "content checksum", "block checksum",
        "header checksum", "kip57", "empty block", "stored end", "no end",
    ),
    "snappy": ("", "raw", "versions", "empty block", "empty chunk", "length"),
    "zstd": ("", "checksum", "window", "descriptor", "content size"),
}  # fmt: skip
"""The one part of a frame that is not as it should be, by codec; nothing is wrong where it is empty."""
