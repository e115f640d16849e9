"""The bytes of generated cases: of values, and their compressed forms; a recipe in the fixture says which.

Nothing here uses the reference codecs or a compressor, so that compressed bytes are independent of both, and
equal on every machine. The generators of the families lay the parts out.
"""

import struct
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache, partial
from hashlib import sha256
from itertools import groupby
from typing import Final, Literal, TypeAlias

import xxhash
from attrs import evolve, frozen

Fill = Literal["noise", "text", "runs"]
"""The bytes of values: `noise` and `text` do not repeat, in `runs` each 64 KiB repeat one byte."""

Codec = Literal["none", "gzip", "snappy", "snappy-raw", "lz4", "zstd"]
"""The compression of Kafka entries: `snappy` is in xerial framing, `snappy-raw` one block without it."""

MAX_PAYLOAD: Final = 64 * 1024 * 1024
"""Most bytes of all values together: a recipe may come from a token, which nobody has checked."""

MAX_RECORDS: Final = 256 * 1024
"""Most records or messages."""

MAX_ASKED: Final = 3 * 512 * 1024
"""Most bytes of all values together for which an adapter that answers no digests is asked: 1.5 MiB."""


@frozen
class Recipe:
    """What is made: writing-a-case.md#a-generated-case explains its fields."""

    kind: str
    records: int = 1
    value: int = 0
    fill: Fill = "noise"
    codec: Codec = "none"
    block: int = 0
    sized: bool = False

    def __attrs_post_init__(self) -> None:
        if not 1 <= self.records <= MAX_RECORDS:
            raise ValueError(f"generate: records must be 1 to {MAX_RECORDS}, got {self.records}")
        if not 0 <= self.value <= MAX_PAYLOAD // self.records:
            raise ValueError(
                f"generate: all values may have {MAX_PAYLOAD} bytes together, got {self.payload}"
            )
        if not 0 <= self.block <= MAX_PAYLOAD:
            raise ValueError(f"generate: block must be 0 to {MAX_PAYLOAD}, got {self.block}")

    @property
    def payload(self) -> int:
        return self.records * self.value


PAGE: Final = 64 * 1024
"""Bytes of a page of `runs`, so that a lost or exchanged block shows."""

PAGE_BYTES: Final = 251
"""Number of different pages: a prime, so that blocks of no common size repeat at the same places."""


@frozen
class RepeatedByte:
    """The byte `byte`, `count` times."""

    byte: int
    count: int

    def __len__(self) -> int:
        return self.count


Piece: TypeAlias = bytes | RepeatedByte
"""A part of some content: bytes as they are, or one byte repeated."""


def value_pieces(fill: Fill, size: int, record: int = 0) -> list[Piece]:
    if fill != "runs":
        data = noise(size, record) if fill == "noise" else noise(size, record).hex().encode()[:size]
        return [data] if size else []
    return [RepeatedByte(at // PAGE % PAGE_BYTES, min(PAGE, size - at)) for at in range(0, size, PAGE)]


@lru_cache(maxsize=1)  # several cases in a row have one large value
def noise(size: int, record: int = 0) -> bytes:
    """Return `size` bytes that do not compress, different for each record."""
    digests = (sha256(b"wireproof %d %d" % (record, n)).digest() for n in range(-(-size // 32)))
    return b"".join(digests)[:size]


def joined(pieces: Iterable[Piece]) -> bytes:
    return b"".join(
        piece if isinstance(piece, bytes) else bytes((piece.byte,)) * piece.count for piece in pieces
    )


def size_of(pieces: Iterable[Piece]) -> int:
    return sum(map(len, pieces))


def merged(pieces: Iterable[Piece]) -> Iterator[Piece]:
    for kind, group in groupby(pieces, type):
        if kind is not bytes:
            yield from group
        elif data := joined(group):
            yield data


def blocks(pieces: Iterable[Piece], size: int) -> Iterator[list[Piece]]:
    """Yield the pieces in blocks of `size` bytes; the last one may be shorter."""
    block: list[Piece] = []
    room = size
    for piece in merged(pieces):
        head: Piece
        rest = piece
        while len(rest) >= room:
            if isinstance(rest, bytes):
                head, rest = rest[:room], rest[room:]
            else:
                head, rest = evolve(rest, count=room), evolve(rest, count=rest.count - room)
            yield [*block, head]
            block, room = [], size
        if len(rest):
            block.append(rest)
            room -= len(rest)
    if block:
        yield block


SHORT_RUN: Final = 64
"""Runs below this number of bytes are written as they are."""

# --- gzip: RFC 1951, RFC 1952 ---

GZIP_HEAD: Final = bytes((0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0xFF))
STORED_BLOCK: Final = 65535


def gzip(pieces: Sequence[Piece]) -> bytes:
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
        matches, rest = divmod(len(piece) - 1, 258)  # the longest match
        yield _stored(bits, plain + bytes((piece.byte,)) * (rest + 1))
        bits, plain = MATCHES_HEAD + "10" * matches + "0", b""
    yield _stored(bits, plain) + _stored("", b"", last=True)


def _stored(bits: str, data: bytes, *, last: bool = False) -> bytes:
    """Return stored blocks of `data`, at least one, after the bits of the block before."""
    parts = []
    for at in range(0, max(len(data), 1), STORED_BLOCK):
        piece = data[at : at + STORED_BLOCK]
        bits = f"{bits}{last:d}00"  # the first bit is the lowest
        head = int(bits[::-1], 2).to_bytes(-(-len(bits) // 8), "little")
        parts += [head, struct.pack("<HH", len(piece), len(piece) ^ 0xFFFF), piece]
        bits = ""
    return b"".join(parts)


def _number(value: int, width: int) -> str:
    return f"{value:0{width}b}"[::-1]


LENGTH_CODE_ORDER: Final = (16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1)
"""The order in which a block gives the lengths of code lengths, up to the last in use: RFC 1951, 3.2.7."""


def _zeros(count: int) -> str:
    return "1" + _number(count - 11, 7)


MATCHES_HEAD: Final = (
    "001"  # not the last block; dynamic codes
    # all 286 literal and length codes; of code lengths 1 (code 0), and 18 for a row of 11 to 138 zeros
    + _number(286 - 257, 5) + _number(0, 5) + _number(len(LENGTH_CODE_ORDER) - 4, 4)
    + "".join(_number(code in (1, 18), 3) for code in LENGTH_CODE_ORDER)
    + _zeros(138) + _zeros(118) + "0" + _zeros(28) + "0" + "0"
)  # fmt: skip
"""The head of a block of three codes of one bit: the end (0), a match of 258 bytes (1), and distance 1 (0).

These are the codes 256 and 285 of literals and lengths, and the code 0 of distances.
"""


# --- snappy ---

XERIAL_HEAD: Final = bytes.fromhex("82534e41505059000000000100000001")
SNAPPY_LITERAL: Final = 65536
SNAPPY_COPY: Final = 64


def xerial(pieces: Iterable[Piece], block: int = 0) -> bytes:
    parts = [snappy_block(part) for part in blocks(pieces, block or 32 * 1024)]
    return XERIAL_HEAD + b"".join(struct.pack(">i", len(part)) + part for part in parts)


def snappy_block(pieces: Iterable[Piece]) -> bytes:
    whole = list(merged(pieces))
    parts = [_base128(size_of(whole))]
    for piece in whole:
        if isinstance(piece, bytes):
            parts += _snappy_literals(piece)
        else:
            full, rest = divmod(piece.count - 1, SNAPPY_COPY)
            parts += _snappy_literals(bytes((piece.byte,)))
            parts += [_snappy_copy(SNAPPY_COPY) * full, _snappy_copy(rest) if rest else b""]
    return b"".join(parts)


def _snappy_literals(data: bytes) -> Iterator[bytes]:
    """Yield literals with the shortest tag: some readers want four bytes after a longer one."""
    for at in range(0, len(data), SNAPPY_LITERAL):
        piece = data[at : at + SNAPPY_LITERAL]
        size = len(piece)
        if size <= 60:
            yield bytes((size - 1 << 2,))
        else:
            layout, tag = ("<BB", 60) if size <= 256 else ("<BH", 61)
            yield struct.pack(layout, tag << 2, size - 1)
        yield piece


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
    sequences, plain = [], b""
    for piece in pieces:
        if isinstance(piece, bytes) or len(piece) < SHORT_RUN:
            plain += joined([piece])
            continue
        sequences.append(_lz4_sequence(plain + bytes((piece.byte,)), len(piece) - 1 - LZ4_TAIL))
        plain = bytes((piece.byte,)) * LZ4_TAIL
    data = b"".join((*sequences, _lz4_sequence(plain, 0)))
    if len(data) < size_of(pieces):
        return struct.pack("<I", len(data)) + data
    return struct.pack("<I", size_of(pieces) | LZ4_STORED) + joined(pieces)


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


def zstd(pieces: Sequence[Piece], block: int = 0, *, sized: bool = False) -> bytes:
    """Return a zstd frame of raw blocks and, for runs, RLE blocks."""
    size = struct.pack("<I", size_of(pieces)) if sized else b""
    # a content size of 4 bytes, and a window of 2 MiB, as libzstd's default level has
    head = ZSTD_MAGIC + bytes((0x80 if sized else 0, 0x58)) + size
    body = []
    for piece in (piece for group in blocks(pieces, block or ZSTD_BLOCK) for piece in group):
        match piece:
            case RepeatedByte(byte, count):
                body.append(_zstd_head(1, count) + bytes((byte,)))
            case _:
                body.append(_zstd_head(0, len(piece)) + piece)
    return head + b"".join(body) + _zstd_head(0, 0, last=True)


def _zstd_head(kind: int, size: int, *, last: bool = False) -> bytes:
    return (size << 3 | kind << 1 | last).to_bytes(3, "little")


# --- the table ---

CODEC_NUMBERS: Final = {"none": 0, "gzip": 1, "snappy": 2, "snappy-raw": 2, "lz4": 3, "zstd": 4}
"""The number of each codec in the attributes of an entry."""


def writer_of(recipe: Recipe, *, v0: bool = False) -> Callable[[Sequence[Piece]], bytes]:
    writers: dict[str, Callable[[Sequence[Piece]], bytes]] = {
        "none": joined,
        "gzip": gzip,
        "snappy": partial(xerial, block=recipe.block),
        "snappy-raw": snappy_block,
        "lz4": partial(lz4, block=recipe.block, v0=v0),
        "zstd": partial(zstd, block=recipe.block, sized=recipe.sized),
    }
    return writers[recipe.codec]
