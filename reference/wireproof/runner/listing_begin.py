"""Find the entry at which a listing begins, without reading the entries before it.

Entries are passed over by the sizes in their headers, from an indexed one on if an index file is beside the
log. Nothing that is passed over is checked. Where a header fits no entry, or offsets go back, reading begins
there, and the survey finds out what is wrong.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Final

from attrs import frozen

from wireproof.cases.byte_source import ByteSource
from wireproof.cases.log_survey import bytes_needed
from wireproof.family import EntryListing, object_at
from wireproof.formats import Format

PASSED_FROM: Final = 1 << 20
"""Bytes of an input from which on entries are passed over: less is read and checked whole."""

HEAD_BYTES: Final = 512
WINDOW_BYTES: Final = 1 << 16
"""Bytes of a header, and of what is read in one go: the headers of many small entries."""

HeadOffsets = Callable[[Format, bytes], tuple[int | None, int | None] | None]


@frozen
class Place:
    """Where a listing begins: at an offset, or at the position of a byte."""

    number: int
    is_position: bool


def begin_of(fmt: Format, listing: EntryListing, source: ByteSource, place: Place, log: Path | None) -> int:
    """Return the position of an entry that is not after the place; 0 if nothing can be passed over.

    Args:
        fmt: a stream.
        listing: of the stream.
        source: its bytes.
        place: where the listing begins.
        log: the path of the file, whose index file may be beside it.
    """
    if source.size < PASSED_FROM or (listing.head_offsets is None and not place.is_position):
        return 0
    walk = _Walk(fmt, listing.head_offsets, source)
    return walk.to(place, _indexed(walk, listing, place, log))


def _indexed(walk: "_Walk", listing: EntryListing, place: Place, log: Path | None) -> int:
    """Return the position of an indexed entry before the place, if its entry is the one of the index."""
    if log is None or not listing.indexed:
        return 0
    found = object_at(listing.indexed)(log, place.number, is_position=place.is_position)
    if found is None:
        return 0
    last, position = found
    return position if walk.offsets(position)[1] == last else 0


class _Walk:
    """Goes from header to header."""

    def __init__(self, fmt: Format, head_offsets: HeadOffsets | None, source: ByteSource) -> None:
        self._fmt, self._head_offsets, self._source = fmt, head_offsets, source
        self._at, self._data = 0, b""

    def to(self, place: Place, at: int) -> int:
        """Return the position of the last entry that is not after the place, from an entry on."""
        before, last = at, -1
        while size := self._size(at):
            first, end = self.offsets(at)
            if place.is_position:
                if place.number < at + size:
                    break
            elif first is None and end is None:
                break
            elif first is not None and first > place.number:
                return before
            elif end is not None and end >= place.number:
                break
            known = end if end is not None else first
            if known is not None and known < last:
                break  # offsets that go back: a damaged header, or a log that is out of order
            before, at, last = at, at + size, last if known is None else known
        return at if self._size(at) else before

    def offsets(self, at: int) -> tuple[int | None, int | None]:
        """Return the first and the last offset of the entry at a position, as far as its header has them."""
        head = self._head(at)
        found = self._head_offsets(self._fmt, head) if self._head_offsets is not None and head else None
        return found or (None, None)

    def _size(self, at: int) -> int:
        """Return the size of the entry at a position; 0 if there is no whole entry."""
        size = bytes_needed(self._fmt, self._head(at)) if at < self._source.size else 0
        return size if 0 < size <= self._source.size - at else 0

    def _head(self, at: int) -> bytes:
        begin = at - self._at
        if begin < 0 or begin + HEAD_BYTES > len(self._data):
            self._data, self._at, begin = self._source.read(at, WINDOW_BYTES), at, 0
        return self._data[begin : begin + HEAD_BYTES]
