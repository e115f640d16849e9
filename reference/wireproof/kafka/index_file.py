"""Common parts of the three index files of a segment: `.index`, `.timeindex` and `.txnindex`.

They are arrays of entries of a fixed size, big-endian and without checksums. `.index` and `.timeindex` are
allocated in advance, filled with zeros, and cut to their entries when the segment is closed. A broker that
finds an index file missing builds it again from the log. Source: Apache Kafka, `AbstractIndex` and
`LogSegment` (storage/internals/log, 4.x).
"""

from bisect import bisect_left
from collections.abc import Iterator
from typing import Final

from attrs import frozen

from wireproof.kafka.segment_headers import SegmentEntry, SegmentHeaders
from wireproof.segment_files import RawEntries
from wireproof.wire.packed_rows import PackedRows

REBUILD: Final = "stop the broker and delete the segment's .index: it rebuilds all three indexes from the log"
"""The repair of every index file of a Kafka segment whose log is intact: if its `.index` is missing,
`LogLoader.loadSegmentFiles` (storage/internals/log, 4.x) recovers the segment and rebuilds all three."""


@frozen
class IndexFinding:
    """A problem of an index file.

    Attributes:
        at: position in the index file, in bytes.
        message: the problem.
        next_step: the advice, or an empty text.
        is_error: True if the problem misleads a reader; False for a note.
    """

    at: int
    message: str
    next_step: str = REBUILD
    is_error: bool = True


def split_entries(data: bytes, size: int, *, allocated: bool = True) -> RawEntries:
    """Divide an index file into entries of `size` bytes.

    With `allocated`, entries of zeros at the end count as not written.
    """
    whole = len(data) // size
    written = -(-len(data[: whole * size].rstrip(b"\0")) // size) if allocated else whole
    parts = PackedRows(written, lambda row: data[row * size : (row + 1) * size])
    return RawEntries(parts, whole - written, len(data) % size)


def check_extra_bytes(found: RawEntries, size: int) -> Iterator[IndexFinding]:
    """Report bytes after the last whole entry; `sanityCheck` of Kafka's index classes rejects such a file."""
    if found.odd:
        at = (len(found.rows) + found.tail) * size
        yield IndexFinding(at, f"{found.odd} bytes after the last whole entry; an entry has {size} bytes")


def entry_with_offset(segment: SegmentHeaders, offset: int) -> SegmentEntry | None:
    """Return the header of the entry that contains `offset`; None if there is none, as after compaction.

    The first offset of a v0 or v1 wrapper is not known: all offsets after the entry before it count (§2.2).
    """
    heads = segment.heads
    index = bisect_left(heads.column("last"), offset)
    if index == len(heads):
        return None
    head = heads[index]
    first = head.first if head.magic > 1 else (heads[index - 1].last + 1 if index else 0)
    return head if first <= offset else None


def is_past_readable_end(segment: SegmentHeaders, offset: int) -> bool:
    """Return True if `offset` may be after the last entry of the log that could be read."""
    return bool(segment.why) and (not segment.heads or offset > segment.heads[-1].last)
