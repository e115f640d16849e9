"""The bytes of an input, read at any position: a file of any size is never in memory as a whole."""

import errno
import os
from collections.abc import Iterator
from typing import BinaryIO, Final, Protocol

from attrs import define, field, frozen

PIECE_BYTES: Final = 1 << 16
"""Bytes of the first piece; a longer look takes larger ones."""

LARGEST_PIECE: Final = 1 << 20


WINDOW_BYTES: Final = 1 << 16
"""Bytes of headers that are read in one go: the headers of many small entries, and little of a large one."""

ZEROS: Final = bytes(LARGEST_PIECE)

LONG_ZEROS: Final = 1 << 16
"""Zeros that are a run, such as the rest of a preallocated segment."""

FEW_ZEROS: Final = 64


class ShrunkError(OSError):
    """A file became shorter while it was read; `size` is what is left of it."""

    def __init__(self, expected: int, size: int) -> None:
        super().__init__(f"the file shrank from {expected} to {size} bytes while it was read")
        self.size = size


class StoredBytes(Protocol):
    """Bytes with a known end."""

    @property
    def size(self) -> int:
        """Return the number of bytes."""

    def read(self, at: int, length: int, /) -> bytes:
        """Return the bytes at a position, as far as they are before the end."""


class ByteSource(StoredBytes, Protocol):
    """Bytes of an input, which may be a file with holes."""

    def view(self, at: int, length: int, /) -> memoryview:
        """Return the same bytes in memory that the next view overwrites: new memory is slow."""

    def hole_end(self, at: int, /) -> int:
        """Return the position up to which the bytes are known to be zeros, without reading them."""


@frozen
class BytesSource:
    """Bytes in memory."""

    data: bytes

    @property
    def size(self) -> int:
        return len(self.data)

    def read(self, at: int, length: int, /) -> bytes:
        return self.data[at : at + length]

    def view(self, at: int, length: int, /) -> memoryview:
        """Return the bytes at a position, without a copy."""
        return memoryview(self.data)[at : at + length]

    def hole_end(self, at: int, /) -> int:
        """Return the position itself: nothing is known."""
        return at


@define
class FileSource:
    """The bytes that an open file had when it was opened.

    Files are not mapped into memory: if a mapped file shrinks, the process is killed.
    """

    file: BinaryIO
    size: int
    _room: bytearray = field(factory=bytearray, init=False)

    @classmethod
    def of(cls, file: BinaryIO) -> "FileSource":
        return cls(file, os.fstat(file.fileno()).st_size)

    def read(self, at: int, length: int, /) -> bytes:
        """Return the bytes at a position.

        Raises:
            ShrunkError: the file became shorter.
        """
        wanted = max(min(length, self.size - at), 0)
        parts, got = [], 0
        while got < wanted:
            part = read_at(self.file.fileno(), wanted - got, at + got)
            if not part:
                raise ShrunkError(self.size, min(os.fstat(self.file.fileno()).st_size, at + got))
            parts.append(part)
            got += len(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def view(self, at: int, length: int, /) -> memoryview:
        """Return the bytes at a position, in memory that the next view overwrites.

        Raises:
            ShrunkError: the file became shorter.
        """
        wanted = max(min(length, self.size - at), 0)
        if len(self._room) < wanted:
            self._room = bytearray(wanted)
        room, got = memoryview(self._room)[:wanted], 0
        while got < wanted:
            count = read_into(self.file.fileno(), room[got:], at + got)
            if not count:
                raise ShrunkError(self.size, min(os.fstat(self.file.fileno()).st_size, at + got))
            got += count
        return room

    def hole_end(self, at: int, /) -> int:
        return hole_end(self.file.fileno(), at, self.size) if at < self.size else at


class Window:
    """Some bytes of a source, read in one go; most of what is looked at next is in them."""

    def __init__(self, source: StoredBytes) -> None:
        """Begin with no bytes."""
        self._source, self._at, self._data = source, 0, b""

    def read(self, at: int, length: int) -> bytes:
        """Return the bytes at a position, as far as they are before the end."""
        begin = at - self._at
        if begin < 0 or begin + length > len(self._data):
            if length > WINDOW_BYTES:
                return self._source.read(at, length)
            self._data, self._at, begin = self._source.read(at, WINDOW_BYTES), at, 0
        return self._data[begin : begin + length]


def pieces(source: StoredBytes, at: int, end: int | None = None) -> Iterator[bytes]:
    size, end = PIECE_BYTES, source.size if end is None else end
    while at < end:
        piece = source.read(at, min(size, end - at))
        yield piece
        at, size = at + len(piece), min(2 * size, LARGEST_PIECE)


def zeros_end(source: ByteSource, at: int) -> int:
    """Return the position of the first byte from `at` on that is not 0; the end if all are 0."""
    size = PIECE_BYTES
    while at < source.size:
        at = source.hole_end(at)
        piece = source.read(at, size)
        if piece != ZEROS[: len(piece)]:
            return at + len(piece) - len(piece.lstrip(b"\0"))
        at, size = at + len(piece), min(2 * size, LARGEST_PIECE)
    return source.size


def long_zeros(source: ByteSource, at: int) -> int:
    """Return the length of the run of zeros at a position, less the bytes in which an entry may begin.

    It is 0 if the run is short.
    """
    for length in (FEW_ZEROS, LONG_ZEROS):
        if source.read(at, length) != ZEROS[:length]:
            return 0
    end = zeros_end(source, at)
    return (end if end == source.size else end - FEW_ZEROS) - at


def read_at(file: int, length: int, at: int, /) -> bytes:
    """Return up to a number of bytes of a descriptor from a position on; empty at its end."""
    return os.pread(file, length, at)


def read_into(file: int, room: memoryview, at: int, /) -> int:
    """Read bytes of a descriptor from a position on into memory; return their number, 0 at its end."""
    return os.preadv(file, [room], at)


def hole_end(file: int, at: int, size: int) -> int:
    """Return the end of the hole that a sparse file has at a position; the position itself if it has none.

    A hole reads as zeros and takes no blocks of the disk. Systems that cannot tell report no holes.
    """
    if not hasattr(os, "SEEK_DATA"):
        return at
    try:
        return min(os.lseek(file, at, os.SEEK_DATA), size)
    except OSError as error:
        return size if error.errno == errno.ENXIO else at  # there is no data up to the end
