"""The headers of the entries of a log segment: position, offsets, timestamp and transaction of each entry.

kafka.md §1.1, §1.9 and §2.1. Index files are checked against these headers. A segment may be a gigabyte
large, so nothing is decompressed and no checksum is computed; only control batches are decoded.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable
from typing import Final, TypeAlias

from attrs import astuple, field, fields, frozen

from wireproof.kafka import entry
from wireproof.kafka.attribute_bits import CONTROL, TRANSACTIONAL, wrap64
from wireproof.kafka.control_types import ABORT, COMMIT
from wireproof.kafka.entry import V2
from wireproof.kafka.layouts import HEADS, NO_TIMESTAMP
from wireproof.kafka.size_and_magic import (
    SizeAndMagic,
    has_valid_crc,
    peek_size_and_magic,
    peek_whole_entry,
)
from wireproof.kafka.values import RecordBatch
from wireproof.wire.options import DEFAULT_OPTIONS
from wireproof.wire.packed_rows import NumberRows
from wireproof.wire.reader import Reader
from wireproof.wire.rejection import Rejected

HEADER_BYTES: Final = HEADS[V2].size
"""Bytes of the longest header of an entry: §1.1."""

PIECE_BYTES: Final = 1 << 16
"""Bytes that are read in one go: the headers of many small entries, and little of a large one."""

ReadAt: TypeAlias = Callable[[int, int], bytes]
"""Returns the bytes at a position up to a length."""

_numbers = HEADS[V2].select(
    "baseOffset", "partitionLeaderEpoch", "attributes", "lastOffsetDelta", "maxTimestamp", "producerId"
)
"""The integers of a batch that a segment entry is made of."""


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
        transactional: True if its records belong to a transaction.
        marker: `ABORT` or `COMMIT` for a batch that ends a transaction; None for others.
        epoch: the leader epoch of a batch; -1 if it is unknown, as for messages.
    """

    position: int
    size: int
    magic: int
    first: int
    last: int
    timestamp: int
    producer: int = -1
    transactional: bool = False
    marker: int | None = None
    epoch: int = -1


class EntryHeaders(NumberRows[SegmentEntry]):
    """The headers of many entries, in 80 bytes each: a segment may have hundreds of thousands."""

    def __init__(self, heads: Iterable[SegmentEntry] = ()) -> None:
        """Begin with some headers."""
        super().__init__([one.name for one in fields(SegmentEntry)], _entry_of)
        for head in heads:
            self.append(head)

    def append(self, head: SegmentEntry) -> None:
        """Add a header."""
        numbers = astuple(head)
        self.add(NO_MARKER if number is None else int(number) for number in numbers)

    def number_at(self, position: int) -> int | None:
        """Return the number of the entry that begins at a position; None if none does."""
        positions = self.column("position")
        number = bisect_left(positions, position)
        return number if number < len(positions) and positions[number] == position else None


def _packed(heads: Iterable[SegmentEntry]) -> EntryHeaders:
    return heads if isinstance(heads, EntryHeaders) else EntryHeaders(heads)


NO_MARKER: Final = -1
"""The number of a header without a marker; types of control records are not negative."""


def _entry_of(*numbers: int) -> SegmentEntry:
    position, size, magic, first, last, timestamp, producer, transactional, marker, epoch = numbers
    ends = None if marker == NO_MARKER else marker
    return SegmentEntry(
        position, size, magic, first, last, timestamp, producer, bool(transactional), ends, epoch
    )


@frozen
class SegmentHeaders:
    """The headers of a segment.

    Attributes:
        heads: the headers in the order of the file.
        size: size of the file in bytes.
        end: position after the last whole entry.
        why: the reason why reading ended there; empty at the end of the file.
    """

    heads: EntryHeaders = field(converter=_packed)
    size: int
    end: int = field(default=0)
    why: str = ""


def read(data: bytes) -> SegmentHeaders:
    """Return the headers of a segment up to the first invalid entry; raise nothing."""
    return read_in_pieces(lambda at, length: data[at : at + length], len(data))


def read_in_pieces(read_at: ReadAt, size: int) -> SegmentHeaders:
    """Do as `read`, of a segment of which only the headers are read.

    No checksum covers the size of an entry: if nothing valid follows it, its own checksum must be right.

    Args:
        read_at: returns the bytes at a position up to a length; fewer if the file shrank.
        size: of the segment, in bytes.

    Raises:
        OSError: the system cannot read it.
    """
    window = _Window(read_at, size)
    heads, at = EntryHeaders(), 0
    held: SegmentEntry | None = None
    try:
        while at < size:
            reader = Reader(window.at(at, HEADER_BYTES))
            reader.end = size - at  # an entry is cut by the end of the file, not by that of its header
            prefix = None if window.shrank else peek_whole_entry(reader)
            if prefix is None:
                break
            if held is not None:
                heads.append(held)
            held = (_batch_head if prefix.magic > 1 else _message_head)(window, at, prefix)
            at += prefix.total
        why = "" if at == size else f"{size - at} bytes of an entry that is cut"
    except Rejected as rejected:
        why = f"{rejected.cls} at {at + int(rejected.at or 0)}"
    if held is not None and why and not _is_sound(window, held):
        at, why = held.position, f"crc-mismatch at {held.position}"
    elif held is not None:
        heads.append(held)
    return SegmentHeaders(heads, size, at, "the file shrank while it was read" * window.shrank or why)


def _is_sound(window: "_Window", head: SegmentEntry) -> bool:
    data = window.at(head.position, head.size)
    return len(data) == head.size and has_valid_crc(data, 0, head.size)


class _Window:
    """The piece of a segment that was read last, because many headers are in one piece."""

    def __init__(self, read_at: ReadAt, size: int) -> None:
        """Begin with no bytes."""
        self._read_at, self._size = read_at, size
        self._begin, self._data = 0, b""
        self.shrank = False

    def at(self, position: int, length: int) -> bytes:
        """Return the bytes at a position up to a length, fewer at the end of the segment."""
        length = min(length, self._size - position)
        first = position - self._begin
        if first < 0 or first + length > len(self._data):
            self._data = self._read_at(position, max(length, PIECE_BYTES))
            self._begin, first = position, 0
            self.shrank = self.shrank or len(self._data) < length
        return self._data[first : first + length]


def _batch_head(window: _Window, at: int, prefix: SizeAndMagic) -> SegmentEntry:
    """Return the header of a batch: §1.1. Its last offset stays when compaction removes records (§1.6)."""
    size, header = prefix.total, window.at(at, HEADER_BYTES)
    base, epoch, attributes, delta, timestamp, producer = _numbers(HEADS[V2].peek(header))
    marker = _marker(window.at(at, size)) if attributes & CONTROL else None
    transactional = bool(attributes & TRANSACTIONAL)
    last = wrap64(base + delta)
    return SegmentEntry(at, size, prefix.magic, base, last, timestamp, producer, transactional, marker, epoch)


def _marker(data: bytes) -> int | None:
    """Return the type of a control batch's first record: §1.9; None if it does not end a transaction."""
    inner = Reader(data)
    prefix = peek_size_and_magic(inner)
    assert prefix is not None
    found = entry.read(inner, prefix, DEFAULT_OPTIONS)
    control = found.records[0].control if isinstance(found, RecordBatch) and found.records else None
    return control.type if control is not None and control.type in (ABORT, COMMIT) else None


def _message_head(window: _Window, at: int, prefix: SizeAndMagic) -> SegmentEntry:
    """Return the header of a message or wrapper; a wrapper has the offset of its last message: §2.2."""
    magic = prefix.magic
    offset, *_, last = HEADS[magic].peek(window.at(at, HEADER_BYTES))
    return SegmentEntry(at, prefix.total, magic, offset, offset, last if magic else NO_TIMESTAMP)
