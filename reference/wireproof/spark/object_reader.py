"""The bytes of an object: by ranged reads at any position, or in pieces from a position on.

Objects are not mapped into memory. Their owner may truncate a log while it is read: a missing mapped page
kills the process, but a short read can be reported.
"""

import os
from collections.abc import Iterator
from typing import Any, Final

from attrs import define, field

from wireproof.spark.errors import SourceError
from wireproof.spark.object_places import ObjectPlace, filesystem

LOCAL_WINDOW: Final = 512
"""Bytes read at once to look at headers on a local disk, where reading unneeded bytes also costs."""

REMOTE_WINDOW: Final = 1024 * 1024
"""The same on a store behind a network, where a request costs more than a mebibyte."""

PIECE_SIZES: Final = (64 * 1024, 4 * 1024 * 1024)
"""Bytes of the first piece and of the longest: sizes double, so that a short look costs little."""


MAX_FREE_BUFFERS: Final = 2
"""Chunk buffers that are kept for the next object: new pages cost as much as reading into them."""

_free_memory: list[bytearray] = []


@define
class LocalFile:
    """A file on this machine."""

    descriptor: int

    def read_into(self, room: memoryview, position: int) -> memoryview:
        """Return the part of `room` that was filled: all of it, unless the file ends before."""
        filled = 0
        while filled < len(room) and (got := os.preadv(self.descriptor, [room[filled:]], position + filled)):
            filled += got
        return room[:filled]

    def close(self) -> None:
        """Close the file."""
        os.close(self.descriptor)


@define
class ObjectReader:
    """Reads the first `size` bytes of an object.

    Attributes:
        file: a `LocalFile`, or a file of pyarrow; both have `read_at` or `read_into`.
        display_name: the name of the object in messages.
        size: the end of the object, even if bytes were appended since.
        window: bytes that `at` reads at once.
    """

    file: Any
    display_name: str
    size: int
    window: int = LOCAL_WINDOW
    _held: bytes = field(default=b"", init=False)
    _held_at: int = field(default=0, init=False)
    _memory: bytearray = field(factory=bytearray, init=False)

    @classmethod
    def of(cls, place: ObjectPlace) -> "ObjectReader":
        """Open the object; raises `SourceError` if that fails."""
        try:
            file = (
                filesystem(place.store).open_input_file(place.path)
                if place.store
                else LocalFile(os.open(place.path, os.O_RDONLY))
            )
        except OSError as error:
            raise SourceError(f"{place.display_name}: {str(error).splitlines()[0]}") from None
        return cls(file, place.display_name, place.size, REMOTE_WINDOW if place.store else LOCAL_WINDOW)

    def read(self, position: int, length: int) -> bytes:
        """Read these bytes, as far as they are before the end.

        Raises:
            SourceError: the object got shorter.
        """
        wanted = min(length, self.size - position)
        if isinstance(self.file, LocalFile) and wanted > 0:  # most reads are short, and there are many
            data = os.pread(self.file.descriptor, wanted, position)
            if len(data) == wanted:
                return data
        return bytes(self.chunk(position, length))

    def chunk(self, position: int, length: int) -> memoryview:
        """Read these bytes into memory that the next chunk overwrites.

        New memory costs more than reading into it.
        """
        wanted = min(length, self.size - position)
        if wanted <= 0:
            return memoryview(b"")
        if isinstance(self.file, LocalFile):
            if len(self._memory) < wanted:
                self._memory = _chunk_memory(wanted)
            return self._check_length(
                self.file.read_into(memoryview(self._memory)[:wanted], position), position, wanted
            )
        return self._check_length(memoryview(self.file.read_at(wanted, position)), position, wanted)

    def _check_length(self, data: memoryview, position: int, wanted: int) -> memoryview:
        if len(data) < wanted:
            raise SourceError(
                f"{self.display_name} had {self.size} bytes and ends at {position + len(data)}: read it again"
            )
        return data

    def at(self, position: int, length: int) -> tuple[bytes, int]:
        """Return some bytes, and the index in them of `position`.

        At least `length` bytes follow that index, fewer at the end of the object.
        """
        inside = position - self._held_at
        if inside < 0 or inside + length > len(self._held):
            self._held, self._held_at, inside = self.read(position, max(length, self.window)), position, 0
        return self._held, inside

    def pieces(self, position: int) -> "PieceReader":
        """Return all bytes from `position` on, in pieces."""
        return PieceReader(self, position)

    def close(self) -> None:
        """Close the object and keep the memory of its chunks for the next one."""
        self.file.close()
        if self._memory and len(_free_memory) < MAX_FREE_BUFFERS:
            _free_memory.append(self._memory)
        self._memory = bytearray()


def _chunk_memory(wanted: int) -> bytearray:
    """Return memory for a chunk: that of another object, if it is large enough."""
    memory = _free_memory.pop() if _free_memory else bytearray()
    return memory if len(memory) >= wanted else bytearray(wanted)


@define
class PieceReader(Iterator[bytes]):
    """The bytes of an object from a position on; the last ones are kept and can be read again.

    Attributes:
        position: the first byte that was not returned yet.
        ended: whether more bytes were requested than there are.
    """

    stored: ObjectReader
    position: int
    ended: bool = field(default=False, init=False)
    _kept: bytearray = field(factory=bytearray, init=False)
    _length: int = field(default=PIECE_SIZES[0], init=False)

    def __next__(self) -> bytes:
        """Return the next piece."""
        piece = self.stored.read(self.position, self._length)
        if not piece:
            self.ended = True
            raise StopIteration
        self.position += len(piece)
        self._kept += piece
        self._length = min(2 * self._length, PIECE_SIZES[1])
        return piece

    def read(self, position: int, length: int) -> bytes:
        """Read as `ObjectReader.read`, from the kept bytes if possible."""
        inside = position - (self.position - len(self._kept))
        end = min(position + length, self.stored.size)
        if inside < 0 or end > self.position:
            return self.stored.read(position, length)
        return bytes(self._kept[inside : inside + end - position])

    def forget(self, position: int) -> None:
        """Drop the kept bytes before a position."""
        del self._kept[: max(position - (self.position - len(self._kept)), 0)]

    def skip(self, position: int) -> None:
        """Continue at a later position, without the bytes before it."""
        self.position = position
        self._kept.clear()
