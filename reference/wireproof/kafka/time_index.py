"""`.timeindex`: from times to offsets. Apache Kafka's `TimeIndex`, `LogSegment` (storage/internals/log, 4.x).

An entry is an int64 timestamp in milliseconds and an int32 offset, relative to the base offset of the
segment: the greatest timestamp so far, and an offset of the first batch that has it. All that is later comes
behind that offset. Timestamps rise; a segment that is closed ends with the greatest of its log.
"""

from collections.abc import Iterator
from itertools import accumulate
from struct import Struct
from typing import Final

from attrs import frozen

from wireproof.kafka.companion import REBUILD, Finding, Rows, holding, odd, out_of_sight, rows
from wireproof.kafka.segment import NO_TIMESTAMP, Head, Segment

ENTRY: Final = Struct(">qi")


@frozen
class TimeEntry:
    """An entry; `at` is where it stands, `relative` the offset as it is stored."""

    at: int
    timestamp: int
    relative: int
    offset: int


@frozen
class TimeIndex:
    """The entries of an index."""

    entries: tuple[TimeEntry, ...]
    raw: Rows


def read(data: bytes, base: int) -> TimeIndex:
    """The entries of an index whose segment has the base offset `base`; raises nothing."""
    raw = rows(data, ENTRY.size)
    found = []
    for number, row in enumerate(raw.rows):
        timestamp, relative = ENTRY.unpack(row)
        found.append(TimeEntry(number * ENTRY.size, timestamp, relative, base + relative))
    return TimeIndex(tuple(found), raw)


def alone(index: TimeIndex) -> Iterator[Finding]:
    """What is wrong with the entries by themselves: `maybeAppend` takes later times at offsets not below."""
    yield from odd(index.raw, ENTRY.size)
    before: TimeEntry | None = None
    for one in index.entries:
        if one.relative < 0:
            yield Finding(
                one.at + 8, f"relative offset {one.relative} is below the base offset of the segment"
            )
        if one.timestamp < 0:
            yield Finding(one.at, f"timestamp {one.timestamp}: an entry without a time is not written")
        if before is not None and one.timestamp <= before.timestamp:
            yield Finding(
                one.at, f"timestamp {one.timestamp} is not above {before.timestamp}, the one before it"
            )
        if before is not None and one.offset < before.offset:
            yield Finding(one.at + 8, f"offset {one.offset} is below {before.offset}, the one before it")
        before = one


def against(index: TimeIndex, segment: Segment) -> Iterator[Finding]:
    """What disagrees with the log: a search by time begins too late, and misses records."""
    sofar = list(accumulate((head.timestamp for head in segment.heads), max, initial=NO_TIMESTAMP))
    numbers = {head.position: number for number, head in enumerate(segment.heads)}
    for one in index.entries:
        head = holding(segment, one.offset)
        if head is not None:
            yield from _time(one, head, sofar[numbers[head.position]])
        elif out_of_sight(segment, one.offset):
            text = f"offset {one.offset} cannot be checked: the log ends at {segment.end}, {segment.why}"
            yield Finding(one.at + 8, text, "look at the log: wireproof explain", wrong=False)
        else:
            yield Finding(one.at + 8, f"no entry of the log holds offset {one.offset}")
    yield from _last(index, sofar[-1], segment)


def _time(one: TimeEntry, head: Head, before: int) -> Iterator[Finding]:
    """The timestamp is that of the batch, and none before it has a later one."""
    if head.timestamp != one.timestamp:
        text = f"timestamp {one.timestamp}, but the entry of the log that holds offset {one.offset} has"
        yield Finding(one.at, f"{text} {head.timestamp}")
    elif before > one.timestamp:
        text = (
            f"timestamp {one.timestamp} is not the greatest up to offset {one.offset}: {before} stands before"
        )
        yield Finding(one.at, text)


def _last(index: TimeIndex, most: int, segment: Segment) -> Iterator[Finding]:
    """What is not allocated ahead any more was closed, and ends with the greatest timestamp of its log."""
    last = index.entries[-1].timestamp if index.entries else NO_TIMESTAMP
    if not index.raw.tail and not segment.why and last < most:
        at = len(index.entries) * ENTRY.size
        text = f"a closed segment ends with its greatest timestamp, {most}; the last one here is {last}"
        then = f"retention by time goes by it: if the segment is closed, {REBUILD}"
        yield Finding(at, text, then, wrong=False)
