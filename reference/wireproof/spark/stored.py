"""The bytes of an object: at any position by ranged reads, or from one on in pieces.

Not mapped into memory: a log may be cut short by its owner while it is read, and a mapped page that is gone
kills the process, where a read that falls short says so.
"""

import os
from collections.abc import Iterator
from typing import Any, Final

from attrs import define, field

from wireproof.spark.errors import SourceError
from wireproof.spark.places import Place, filesystem

NEAR: Final = 512
"""Bytes read at once where headers are looked at, on a local disk: what is read for nothing costs too."""

FAR: Final = 1024 * 1024
"""The same on a store behind a network, where a request costs more than a mebibyte."""

PIECES: Final = (64 * 1024, 4 * 1024 * 1024)
"""The first piece and the longest: they double, so that a short look costs little."""


ROOMS: Final = 2
"""Blocks' memory that is kept for the next object: new pages cost as much as what is read into them."""

_rooms: list[bytearray] = []


@define
class Local:
    """A file of this machine."""

    descriptor: int

    def read_into(self, room: memoryview, position: int) -> memoryview:
        """The part of `room` that was filled; all of it, unless the file ends before."""
        done = 0
        while done < len(room) and (got := os.preadv(self.descriptor, [room[done:]], position + done)):
            done += got
        return room[:done]

    def close(self) -> None:
        """Let it go."""
        os.close(self.descriptor)


@define
class Stored:
    """The first `size` bytes of an object.

    Attributes:
        file: `Local`, or one of pyarrow, which knows `read_at`.
        shown: its name in messages.
        size: what counts as its end, whatever has been appended since.
        window: bytes read at once by `at`.
    """

    file: Any
    shown: str
    size: int
    window: int = NEAR
    _held: bytes = field(default=b"", init=False)
    _from: int = field(default=0, init=False)
    _room: bytearray = field(factory=bytearray, init=False)

    @classmethod
    def of(cls, place: Place) -> "Stored":
        """Open the object."""
        try:
            file = (
                filesystem(place.store).open_input_file(place.path)
                if place.store
                else Local(os.open(place.path, os.O_RDONLY))
            )
        except OSError as error:
            raise SourceError(f"{place.shown}: {str(error).splitlines()[0]}") from None
        return cls(file, place.shown, place.size, FAR if place.store else NEAR)

    def read(self, position: int, length: int) -> bytes:
        """As many of these bytes as lie before the end; raises `SourceError` if the object got shorter."""
        wanted = min(length, self.size - position)
        if isinstance(self.file, Local) and wanted > 0:  # most reads are short, and there are many
            data = os.pread(self.file.descriptor, wanted, position)
            if len(data) == wanted:
                return data
        return bytes(self.block(position, length))

    def block(self, position: int, length: int) -> memoryview:
        """The same in memory that the next block takes again: new pages cost more to have than to fill."""
        wanted = min(length, self.size - position)
        if wanted <= 0:
            return memoryview(b"")
        if isinstance(self.file, Local):
            if len(self._room) < wanted:
                self._room = _roomy(wanted)
            return self._whole(
                self.file.read_into(memoryview(self._room)[:wanted], position), position, wanted
            )
        return self._whole(memoryview(self.file.read_at(wanted, position)), position, wanted)

    def _whole(self, data: memoryview, position: int, wanted: int) -> memoryview:
        if len(data) < wanted:
            raise SourceError(
                f"{self.shown} had {self.size} bytes and ends at {position + len(data)}: read it again"
            )
        return data

    def at(self, position: int, length: int) -> tuple[bytes, int]:
        """Bytes, and the index in them where `position` is; `length` of them follow, less at the end."""
        inside = position - self._from
        if inside < 0 or inside + length > len(self._held):
            self._held, self._from, inside = self.read(position, max(length, self.window)), position, 0
        return self._held, inside

    def pieces(self, position: int) -> "Pieces":
        """Everything from `position` on."""
        return Pieces(self, position)

    def close(self) -> None:
        """Let the object go, and the memory of its blocks to the next one."""
        self.file.close()
        if self._room and len(_rooms) < ROOMS:
            _rooms.append(self._room)
        self._room = bytearray()


def _roomy(wanted: int) -> bytearray:
    """Memory for a block: what another object left, if it is enough."""
    left = _rooms.pop() if _rooms else bytearray()
    return left if len(left) >= wanted else bytearray(wanted)


@define
class Pieces(Iterator[bytes]):
    """The bytes of an object from a position on; those given last are kept, and need not be read again.

    Attributes:
        position: the first byte that has not been given yet.
        ended: whether somebody asked for more than there is.
    """

    stored: Stored
    position: int
    ended: bool = field(default=False, init=False)
    _kept: bytearray = field(factory=bytearray, init=False)
    _length: int = field(default=PIECES[0], init=False)

    def __next__(self) -> bytes:
        """The next piece."""
        piece = self.stored.read(self.position, self._length)
        if not piece:
            self.ended = True
            raise StopIteration
        self.position += len(piece)
        self._kept += piece
        self._length = min(2 * self._length, PIECES[1])
        return piece

    def read(self, position: int, length: int) -> bytes:
        """As `Stored.read`, from the bytes that are kept if they are those."""
        inside = position - (self.position - len(self._kept))
        end = min(position + length, self.stored.size)
        if inside < 0 or end > self.position:
            return self.stored.read(position, length)
        return bytes(self._kept[inside : inside + end - position])

    def forget(self, position: int) -> None:
        """Keep nothing before a position."""
        del self._kept[: max(position - (self.position - len(self._kept)), 0)]
