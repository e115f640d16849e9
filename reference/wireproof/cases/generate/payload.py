"""The bytes of generated values, as pieces that a writer of a compressed form can use without a search.

noise   byte streams of SHA-256: the digests of `wireproof <record> <n>` for n = 0, 1, …; it does not compress
text    the same in hex
runs    page p, of 64 KiB, is the byte p modulo 251 repeated; it compresses about 1:1000 in gzip and zstd
"""

from collections.abc import Iterable, Iterator
from functools import lru_cache
from hashlib import sha256
from typing import Final, TypeAlias

from attrs import frozen

from wireproof.cases.generate.recipe import Fill

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
        """Return the number of bytes."""
        return self.count


Piece: TypeAlias = bytes | RepeatedByte
"""A part of some content: bytes as they are, or one byte repeated."""


def value_pieces(fill: Fill, size: int, record: int = 0) -> list[Piece]:
    """Return the pieces of the value of a record."""
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
    """Return the bytes of pieces."""
    return b"".join(one if isinstance(one, bytes) else bytes((one.byte,)) * one.count for one in pieces)


def size_of(pieces: Iterable[Piece]) -> int:
    """Return the number of bytes of pieces."""
    return sum(map(len, pieces))


def merged(pieces: Iterable[Piece]) -> Iterator[Piece]:
    """Yield the pieces with adjacent bytes joined."""
    plain: list[bytes] = []
    for piece in pieces:
        if isinstance(piece, bytes):
            plain.append(piece)
            continue
        yield from _whole(plain)
        plain = []
        yield piece
    yield from _whole(plain)


def _whole(plain: list[bytes]) -> Iterator[bytes]:
    if data := b"".join(plain):
        yield data


def blocks(pieces: Iterable[Piece], size: int) -> Iterator[list[Piece]]:
    """Yield the pieces in blocks of `size` bytes; the last one may be shorter."""
    block: list[Piece] = []
    room = size
    for piece in merged(pieces):
        rest = piece
        while len(rest) >= room:
            block.append(_cut(rest, 0, room))
            rest = _cut(rest, room, len(rest))
            yield block
            block, room = [], size
        if len(rest):
            block.append(rest)
            room -= len(rest)
    if block:
        yield block


def _cut(piece: Piece, start: int, end: int) -> Piece:
    return piece[start:end] if isinstance(piece, bytes) else RepeatedByte(piece.byte, end - start)
