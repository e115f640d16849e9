"""The time index, `.timeindex`: from timestamps to offsets.

An entry is an int64 timestamp in milliseconds and an int32 offset, relative to the base offset of the
segment: the greatest timestamp so far, and an offset in the first batch that has it. All records with a later
timestamp come after that offset. Timestamps increase, and the last entry of a closed segment has the greatest
timestamp of its log. Source: Apache Kafka, `TimeIndex` and `LogSegment` (storage/internals/log, 4.x).
"""

from array import array
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Final

from attrs import frozen

from wireproof.kafka.index_file import (
    REBUILD,
    IndexFinding,
    check_extra_bytes,
    entry_with_offset,
    is_past_readable_end,
    split_entries,
)
from wireproof.kafka.layouts import TIME_ENTRY
from wireproof.kafka.message import NO_TIMESTAMP
from wireproof.kafka.segment_headers import SegmentEntry, SegmentHeaders
from wireproof.segment_files import RawEntries
from wireproof.wire.layout_codec import runs
from wireproof.wire.packed_rows import PackedRows

(_ENTRY,) = runs(TIME_ENTRY)

ENTRY_SIZE: Final = TIME_ENTRY.fixed_size

_OFFSET_AT: Final = TIME_ENTRY.offset("relativeOffset")


@frozen
class TimeEntry:
    """An entry.

    Attributes:
        at: position of the entry in the index file.
        timestamp: in milliseconds.
        relative: the offset as stored.
        offset: the absolute offset.
    """

    at: int
    timestamp: int
    relative: int
    offset: int


@frozen
class TimeIndex:
    """The entries of a time index."""

    entries: Sequence[TimeEntry]
    raw: RawEntries


def read(data: bytes, base: int) -> TimeIndex:
    """Read the time index of a segment with the base offset `base`; raise nothing."""
    raw = split_entries(data, ENTRY_SIZE)

    def entry(number: int) -> TimeEntry:
        timestamp, relative = _ENTRY.peek(data, number * ENTRY_SIZE)
        return TimeEntry(number * ENTRY_SIZE, timestamp, relative, base + relative)

    return TimeIndex(PackedRows(len(raw.rows), entry), raw)


def check_alone(index: TimeIndex) -> Iterator[IndexFinding]:
    """Check the entries without the log: Kafka's `maybeAppend` takes later timestamps, no lower offsets."""
    yield from check_extra_bytes(index.raw, ENTRY_SIZE)
    before: TimeEntry | None = None
    for entry in index.entries:
        at, timestamp = entry.at, entry.timestamp
        if entry.relative < 0:
            text = f"relative offset {entry.relative} is below the base offset of the segment"
            yield IndexFinding(at + _OFFSET_AT, text)
        if timestamp < 0:
            yield IndexFinding(at, f"timestamp {timestamp}: Kafka writes no entry without a timestamp")
        if before is not None and timestamp <= before.timestamp:
            yield IndexFinding(
                at, f"timestamp {timestamp} is not above {before.timestamp}, the one before it"
            )
        if before is not None and entry.offset < before.offset:
            yield IndexFinding(
                at + _OFFSET_AT, f"offset {entry.offset} is below {before.offset}, the one before it"
            )
        before = entry


def check_against_log(index: TimeIndex, segment: SegmentHeaders) -> Iterator[IndexFinding]:
    """Check the entries against the log; with a wrong entry a search by time misses records."""
    latest = array("q", accumulate(segment.heads.column("timestamp"), max, initial=NO_TIMESTAMP))
    untimed: list[TimeEntry] = []
    for entry in index.entries:
        head = entry_with_offset(segment, entry.offset)
        if head is not None and not head.magic:
            untimed.append(entry)
        elif head is not None:
            yield from _timestamp(entry, head, latest[segment.heads.number_at(head.position) or 0])
        elif is_past_readable_end(segment, entry.offset):
            text = f"offset {entry.offset} cannot be checked: the log ends at {segment.end}, {segment.why}"
            yield IndexFinding(
                entry.at + _OFFSET_AT, text, "look at the log: wireproof explain", is_error=False
            )
        else:
            yield IndexFinding(entry.at + _OFFSET_AT, f"no entry of the log holds offset {entry.offset}")
    if (
        untimed
    ):  # of a topic with LogAppendTime in message format v0: the broker indexes times that no message has
        text = f"{len(untimed)} entries lead to messages of v0, which have no timestamp"
        yield IndexFinding(untimed[0].at, text, "", is_error=False)
    yield from _last(index, latest[-1], segment)


def _timestamp(entry: TimeEntry, head: SegmentEntry, before: int) -> Iterator[IndexFinding]:
    """Check the timestamp: it must be that of the batch, and no earlier batch may have a later one."""
    text = f"timestamp {entry.timestamp}"
    if head.timestamp != entry.timestamp:
        text += f", but the entry of the log that holds offset {entry.offset} has {head.timestamp}"
        yield IndexFinding(entry.at, text)
    elif before > entry.timestamp:
        text += f" is not the greatest up to offset {entry.offset}: an earlier entry of the log has {before}"
        yield IndexFinding(entry.at, text)


def _last(index: TimeIndex, latest: int, segment: SegmentHeaders) -> Iterator[IndexFinding]:
    """Check the last entry of a closed segment, whose index has no allocated entries left."""
    last = index.entries[-1].timestamp if index.entries else NO_TIMESTAMP
    if not index.raw.tail and not segment.why and last < latest:
        at = len(index.entries) * ENTRY_SIZE
        text = f"a closed segment ends with its greatest timestamp, {latest}; the last one here is {last}"
        then = f"retention by time uses the last entry: if the segment is closed, {REBUILD}"
        yield IndexFinding(at, text, then, is_error=False)
