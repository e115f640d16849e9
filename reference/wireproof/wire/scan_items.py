"""A scan: items that divide a stream into frames, garbage and a tail without gaps, and how they are found."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, Literal

from attrs import field, frozen

from wireproof.wire.rejection import RejectClass, Remark


@frozen
class Item:
    """A range of bytes in a stream.

    Attributes:
        kind: a whole frame, bytes that belong to no frame, or the incomplete frame at the end.
        at: position of its first byte in the stream.
        length: its size in bytes.
        value: the decoded value of a frame; None for garbage and tail.
        cls: reject class of garbage that looked like the start of a frame; None elsewhere.
        remarks: the remarks of the frame.
    """

    kind: Literal["frame", "garbage", "tail"]
    at: int
    length: int
    value: Any = None
    cls: RejectClass | None = None
    remarks: tuple[Remark, ...] = field(default=())


# --- the search for the next valid entry ---

SEARCH_FACTOR: Final = 8
"""Bytes of candidates that a search may read for each byte that it passed."""


def next_valid(
    candidates: Iterable[tuple[int, int]], is_valid: Callable[[int, int], bool | None], free: int
) -> int | None:
    """Return the position of the first candidate that is a valid entry; None if there is none.

    Without a limit, input of nothing but beginnings of entries would take quadratic time: candidates that are
    too long for the bytes passed are left out.

    Args:
        candidates: position and size of what may be entries, in order; 0 is where the search begins.
        is_valid: reads a candidate, from its position to its end; None if there are not so many bytes.
        free: bytes that may be read however few were passed.
    """
    spent = 0
    for at, size in candidates:
        if spent + size <= free + SEARCH_FACTOR * at:
            valid = is_valid(at, at + size)
            if valid:
                return at
            spent += size if valid is not None else 0
    return None


class StreamBuffer:
    """The bytes of a stream that belong to no item yet.

    Attributes:
        data: these bytes, as far as they were read.
        at: position of the first of them in the stream.
    """

    __slots__ = ("_chunks", "at", "data")

    def __init__(self, chunks: Iterable[bytes]) -> None:
        """Start at the beginning of the stream."""
        self._chunks = iter(chunks)
        self.data = bytearray()
        self.at = 0

    def need(self, length: int) -> bool:
        """Read until `data` has `length` bytes; return False if the stream ends before."""
        while len(self.data) < length:
            chunk = next(self._chunks, None)
            if chunk is None:
                return False
            self.data += chunk
        return True

    def drop(self, length: int) -> None:
        """Remove the first `length` bytes: they belong to an item now."""
        del self.data[:length]
        self.at += length

    def take(self, item: Item) -> Item:
        """Return an item that begins here, and remove its bytes."""
        self.drop(item.length)
        return item


def scan_items(chunks: Iterable[bytes], next_item: Callable[[StreamBuffer], Item]) -> Iterator[Item]:
    """Yield the items of a stream; `next_item` makes the one at the beginning of a buffer, and removes it."""
    source = StreamBuffer(chunks)
    while source.need(1):
        yield next_item(source)
