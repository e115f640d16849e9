"""The headers of the entries of a log segment: position, offsets, timestamp and transaction of each entry.

kafka.md §1.1, §1.9 and §2.1. Index files are checked against these headers. A segment may be a gigabyte
large, so they are kept in columns.
"""

from array import array
from bisect import bisect_left
from collections.abc import Iterable
from itertools import accumulate
from typing import Final

from attrs import astuple, fields, frozen

from wireproof.wire.packed_rows import NumberRows

NO_MARKER: Final = -1
"""The marker of an entry that ends no transaction; types of control records are not negative."""


@frozen
class SegmentEntry:
    """The header of one entry of a segment.

    Attributes:
        position: position of its first byte in the file.
        size: its size in bytes.
        magic: 0, 1 or 2.
        first, last: its first and last offset. The first offset of a v0 or v1 wrapper is compressed, and
            `first` is then the same as `last`.
        timestamp: the greatest timestamp of its records, or -1.
        producer: the producer id, or -1.
        transactional: 1 if its records belong to a transaction, else 0.
        marker: `ABORT` or `COMMIT` for a batch that ends a transaction; `NO_MARKER` for others.
        epoch: the leader epoch of a batch; -1 if it is unknown, as for messages.
    """

    position: int
    size: int
    magic: int
    first: int
    last: int
    timestamp: int
    producer: int = -1
    transactional: int = 0
    marker: int = NO_MARKER
    epoch: int = -1


class EntryHeaders(NumberRows[SegmentEntry]):
    """The headers of many entries, in 80 bytes each: a segment may have hundreds of thousands."""

    def __init__(self, heads: Iterable[SegmentEntry] = ()) -> None:
        """Begin with some headers."""
        super().__init__([one.name for one in fields(SegmentEntry)], SegmentEntry)
        for head in heads:
            self.add(astuple(head))

    def number_at(self, position: int) -> int | None:
        """Return the number of the entry that begins at a position; None if none does."""
        positions = self.column("position")
        number = bisect_left(positions, position)
        return number if number < len(positions) and positions[number] == position else None

    def number_with_offset(self, offset: int) -> int:
        """Return the number of the first entry that reaches an offset; that of all entries if none does.

        An offset that goes back, as one that is damaged, does not count.
        """
        if "reached" not in self._columns:
            self._columns["reached"] = array("q", accumulate(self.column("last"), max))
        return bisect_left(self._columns["reached"], offset)


@frozen
class SegmentHeaders:
    """The headers of a segment.

    Attributes:
        heads: the headers in the order of the file.
        size: size of the file in bytes.
        end: position after the last whole entry.
        why: the reason why reading ended there; empty at the end of the file.
    """

    heads: EntryHeaders
    size: int
    end: int = 0
    why: str = ""
