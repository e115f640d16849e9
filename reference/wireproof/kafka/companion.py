"""What the three companions of a segment share: rows of one size, an unwritten tail, findings.

Facts from Apache Kafka's `AbstractIndex` and `LogSegment` (storage/internals/log, 4.x): `.index` and
`.timeindex` are allocated ahead, full of zeros, and cut to their entries when the segment is closed; none of
the three bears a checksum; a broker that finds one missing builds it anew from the log. Big-endian all over.
"""

from bisect import bisect_left
from collections.abc import Iterator
from typing import Final

from attrs import frozen

from wireproof.kafka.segment import Head, Segment

REBUILD: Final = "delete the segment's .index while the broker is down: it builds all three anew from the log"
"""What repairs every index of a Kafka segment while the log is whole: where its `.index` is missing,
`LogLoader.loadSegmentFiles` (storage/internals/log, 4.x) recovers the segment and builds all three anew."""


@frozen
class Finding:
    """One thing that is not as it should be.

    Attributes:
        at: the byte in the companion.
        what, then: what it is, and what to do next.
        wrong: whether a reader is misled by it; else it is worth knowing only.
    """

    at: int
    what: str
    then: str = REBUILD
    wrong: bool = True


@frozen
class Rows:
    """The written rows of a companion, the bytes of each, and what lies behind them.

    Attributes:
        tail: rows that were allocated and not written.
        odd: bytes that make no row.
    """

    rows: tuple[bytes, ...]
    tail: int
    odd: int


def rows(data: bytes, size: int, *, allocated: bool = True) -> Rows:
    """The rows of a companion; `allocated`: rows of zeros at the end are not written yet."""
    whole = len(data) // size
    written = -(-len(data[: whole * size].rstrip(b"\0")) // size) if allocated else whole
    parts = tuple(data[at * size : (at + 1) * size] for at in range(written))
    return Rows(parts, whole - written, len(data) % size)


def odd(found: Rows, size: int) -> Iterator[Finding]:
    """Bytes behind the last whole row; `sanityCheck` of both indexes refuses such a file."""
    if found.odd:
        at = (len(found.rows) + found.tail) * size
        yield Finding(at, f"{found.odd} bytes behind the last whole entry, which has {size}")


def holding(segment: Segment, offset: int) -> Head | None:
    """The entry of the log that holds an offset; None if none does, for it was compacted away or never was.

    A v0 or v1 wrapper does not tell its first offset: it holds all that follow the entry before it (§2.2).
    """
    heads = segment.heads
    place = bisect_left(heads, offset, key=lambda head: head.last)
    if place == len(heads):
        return None
    head = heads[place]
    first = head.first if head.magic > 1 else (heads[place - 1].last + 1 if place else 0)
    return head if first <= offset else None


def out_of_sight(segment: Segment, offset: int) -> bool:
    """Whether an offset may lie behind the place where the log can be followed no further."""
    return bool(segment.why) and (not segment.heads or offset > segment.heads[-1].last)
