"""Compressed forms, written from pieces: a run of one byte becomes the shortest form that the codec has.

No compressor is used: the bytes that one writes differ between its versions. The layouts are
those of RFC 1951 and RFC 1952, the snappy format description with xerial's framing, the LZ4 block and frame
formats, and RFC 8878.
"""

import struct
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Final

import xxhash

from wireproof.cases.generate.payload import Piece, RepeatedByte, blocks, joined, merged, size_of
from wireproof.cases.generate.recipe import Recipe

SHORT_RUN: Final = 64
"""Runs below this number of bytes are written as they are."""

# --- gzip: RFC 1951, RFC 1952 ---

GZIP_HEAD: Final = bytes((0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0xFF))
STORED_BLOCK: Final = 65535
LONGEST_MATCH: Final = 258


def gzip(pieces: Sequence[Piece]) -> bytes:
    """Return one gzip member."""
    data = joined(pieces)
    return GZIP_HEAD + b"".join(_deflated(pieces)) + struct.pack("<II", zlib.crc32(data), len(data))


def _deflated(pieces: Iterable[Piece]) -> Iterator[bytes]:
    """Yield stored blocks, and a block of matches after the first bytes of each run.

    A block of matches ends inside a byte, so its `bits` wait for the block that follows.
    """
    bits, plain = "", b""
    for piece in merged(pieces):
        if isinstance(piece, bytes) or len(piece) < SHORT_RUN:
            plain += joined([piece])
            continue
        matches, rest = divmod(len(piece) - 1, LONGEST_MATCH)
        yield _stored(bits, plain + bytes((piece.byte,)) * (rest + 1))
        bits, plain = _matches(matches), b""
    yield _stored(bits, plain) + _stored("", b"", last=True)


def _stored(bits: str, data: bytes, *, last: bool = False) -> bytes:
    """Return stored blocks of `data`, at least one, after the bits of the block before."""
    parts = []
    for at in range(0, max(len(data), 1), STORED_BLOCK):
        piece = data[at : at + STORED_BLOCK]
        parts += [_packed(f"{bits}{last:d}00"), struct.pack("<HH", len(piece), len(piece) ^ 0xFFFF), piece]
        bits = ""
    return b"".join(parts)


def _packed(bits: str) -> bytes:
    """Return the bytes of bits, the first bit lowest."""
    return int(bits[::-1], 2).to_bytes(-(-len(bits) // 8), "little")


def _number(value: int, width: int) -> str:
    return f"{value:0{width}b}"[::-1]


LENGTH_CODES: Final = 286
"""All literal and length codes: 0 to 285."""

LENGTH_CODE_ORDER: Final = (16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1)
"""The order in which a block gives the lengths of code lengths, up to the last in use: RFC 1951, 3.2.7."""

USED_LENGTHS: Final = (1, 18)
"""The code lengths in use: 1, whose code is 0, and 18, whose code is 1, for a row of 11 to 138 zeros."""


def _zeros(count: int) -> str:
    return "1" + _number(count - 11, 7)


MATCHES_HEAD: Final = (
    "001"  # not the last block; dynamic codes
    + _number(LENGTH_CODES - 257, 5) + _number(0, 5) + _number(len(LENGTH_CODE_ORDER) - 4, 4)
    + "".join(_number(code in USED_LENGTHS, 3) for code in LENGTH_CODE_ORDER)
    + _zeros(138) + _zeros(118) + "0" + _zeros(28) + "0" + "0"
)  # fmt: skip
"""The head of a block of three codes of one bit: the end (0), a match of 258 bytes (1), and distance 1 (0).

These are the codes 256 and 285 of literals and lengths, and the code 0 of distances.
"""


def _matches(count: int) -> str:
    return MATCHES_HEAD + "10" * count + "0"


# --- snappy ---

XERIAL_HEAD: Final = bytes.fromhex("82534e41505059000000000100000001")
XERIAL_BLOCK: Final = 32 * 1024
SNAPPY_LITERAL: Final = 65536
SNAPPY_COPY: Final = 64


def xerial(pieces: Iterable[Piece], block: int = 0) -> bytes:
    """Return snappy blocks in xerial's framing."""
    parts = [snappy_block(one) for one in blocks(pieces, block or XERIAL_BLOCK)]
    return XERIAL_HEAD + b"".join(struct.pack(">i", len(one)) + one for one in parts)


def snappy_block(pieces: Iterable[Piece]) -> bytes:
    """Return one raw snappy block."""
    whole = list(merged(pieces))
    return _base128(size_of(whole)) + b"".join(map(_snappy_piece, whole))


def _snappy_piece(piece: Piece) -> bytes:
    if isinstance(piece, bytes):
        return _snappy_literals(piece)
    full, rest = divmod(piece.count - 1, SNAPPY_COPY)
    copies = _snappy_copy(SNAPPY_COPY) * full + (_snappy_copy(rest) if rest else b"")
    return _snappy_literals(bytes((piece.byte,))) + copies


def _snappy_literals(data: bytes) -> bytes:
    parts = []
    for at in range(0, len(data), SNAPPY_LITERAL):
        piece = data[at : at + SNAPPY_LITERAL]
        parts += [_snappy_literal_head(len(piece)), piece]
    return b"".join(parts)


def _snappy_literal_head(size: int) -> bytes:
    """Return the shortest tag: some readers want four bytes after a longer one."""
    if size <= 60:
        return bytes((size - 1 << 2,))
    return struct.pack("<BB", 60 << 2, size - 1) if size <= 256 else struct.pack("<BH", 61 << 2, size - 1)


def _snappy_copy(size: int) -> bytes:
    return struct.pack("<BH", size - 1 << 2 | 2, 1)


def _base128(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


# --- LZ4 ---

LZ4_MAGIC: Final = bytes.fromhex("04224d18")
LZ4_INDEPENDENT: Final = 0x60
LZ4_BLOCK: Final = 64 * 1024
LZ4_STORED: Final = 0x80000000
LZ4_TAIL: Final = 16
"""Literal bytes after a match: a block ends with 5, and its last match begins 12 bytes before its end."""


def lz4(pieces: Iterable[Piece], block: int = 0, *, v0: bool = False) -> bytes:
    """Return an LZ4 frame of independent blocks; with `v0` the header checksum covers the magic too."""
    most = block or LZ4_BLOCK
    code = (most.bit_length() - 9) // 2  # 4 to 7: 64 KiB, 256 KiB, 1 MiB, 4 MiB
    descriptor = bytes((LZ4_INDEPENDENT, code << 4))
    check = xxhash.xxh32(LZ4_MAGIC + descriptor if v0 else descriptor).intdigest() >> 8 & 0xFF
    return b"".join(
        (LZ4_MAGIC, descriptor, bytes((check,)), *map(_lz4_block, blocks(pieces, most)), bytes(4))
    )


def _lz4_block(pieces: Sequence[Piece]) -> bytes:
    data = b"".join(_lz4_sequences(pieces))
    if len(data) < size_of(pieces):
        return struct.pack("<I", len(data)) + data
    return struct.pack("<I", size_of(pieces) | LZ4_STORED) + joined(pieces)


def _lz4_sequences(pieces: Iterable[Piece]) -> Iterator[bytes]:
    plain = b""
    for piece in pieces:
        if isinstance(piece, bytes) or len(piece) < SHORT_RUN:
            plain += joined([piece])
            continue
        yield _lz4_sequence(plain + bytes((piece.byte,)), len(piece) - 1 - LZ4_TAIL)
        plain = bytes((piece.byte,)) * LZ4_TAIL
    yield _lz4_sequence(plain, 0)


def _lz4_sequence(literals: bytes, match: int) -> bytes:
    """Return literals and a match at distance 1; the last sequence of a block has no match."""
    more = match - 4 if match else 0
    token = bytes((min(len(literals), 15) << 4 | min(more, 15),))
    head = token + _lz4_more(len(literals)) + literals
    return head + struct.pack("<H", 1) + _lz4_more(more) if match else head


def _lz4_more(size: int) -> bytes:
    if size < 15:
        return b""
    full, rest = divmod(size - 15, 255)
    return b"\xff" * full + bytes((rest,))


# --- zstd: RFC 8878 ---

ZSTD_MAGIC: Final = bytes.fromhex("28b52ffd")
ZSTD_BLOCK: Final = 128 * 1024
ZSTD_WINDOW: Final = 0x58
"""A window of 2 MiB, as libzstd's default level has."""

ZSTD_SIZE_OF_4: Final = 0x80
"""The frame header descriptor of a content size of 4 bytes."""


def zstd(pieces: Sequence[Piece], block: int = 0, *, sized: bool = False) -> bytes:
    """Return a zstd frame of raw blocks and, for runs, RLE blocks."""
    size = struct.pack("<I", size_of(pieces)) if sized else b""
    head = ZSTD_MAGIC + bytes((ZSTD_SIZE_OF_4 if sized else 0, ZSTD_WINDOW)) + size
    body = [part for one in blocks(pieces, block or ZSTD_BLOCK) for part in _zstd_blocks(one)]
    return head + b"".join(body) + _zstd_head(0, 0, last=True)


def _zstd_blocks(pieces: Iterable[Piece]) -> Iterator[bytes]:
    for piece in pieces:
        match piece:
            case RepeatedByte(byte, count):
                yield _zstd_head(1, count) + bytes((byte,))
            case _:
                yield _zstd_head(0, len(piece)) + piece


def _zstd_head(kind: int, size: int, *, last: bool = False) -> bytes:
    return (size << 3 | kind << 1 | last).to_bytes(3, "little")


# --- the table ---

CODEC_NUMBERS: Final = {"none": 0, "gzip": 1, "snappy": 2, "snappy-raw": 2, "lz4": 3, "zstd": 4}
"""The number of each codec in the attributes of an entry."""


def writer_of(recipe: Recipe, *, v0: bool = False) -> Callable[[Sequence[Piece]], bytes]:
    """Return the writer of the compressed form of a recipe."""
    writers: dict[str, Callable[[Sequence[Piece]], bytes]] = {
        "none": joined,
        "gzip": gzip,
        "snappy": partial(xerial, block=recipe.block),
        "snappy-raw": snappy_block,
        "lz4": partial(lz4, block=recipe.block, v0=v0),
        "zstd": partial(zstd, block=recipe.block, sized=recipe.sized),
    }
    return writers[recipe.codec]
