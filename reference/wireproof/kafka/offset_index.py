"""`.index`: from offsets to positions in the log. Apache Kafka's `OffsetIndex` (storage/internals/log, 4.x).

An entry is an int32 offset, relative to the base offset of the segment, and an int32 position in the `.log`.
It is written before a batch is appended, once enough bytes have gone by: the position is that of the batch,
the offset its last one, or the last one of those that were appended together with it. A lookup takes the
greatest offset that is not above the one that is wanted, and reads on from its position.
"""

from collections.abc import Iterator
from struct import Struct
from typing import Final

from attrs import frozen

from wireproof.kafka.companion import Finding, Rows, odd, rows
from wireproof.kafka.segment import Segment

ENTRY: Final = Struct(">ii")


@frozen
class OffsetEntry:
    """An entry; `at` is where it stands, `relative` the offset as it is stored."""

    at: int
    relative: int
    offset: int
    position: int


@frozen
class OffsetIndex:
    """The entries of an index."""

    entries: tuple[OffsetEntry, ...]
    raw: Rows


def read(data: bytes, base: int) -> OffsetIndex:
    """The entries of an index whose segment has the base offset `base`; raises nothing."""
    raw = rows(data, ENTRY.size)
    found = []
    for number, row in enumerate(raw.rows):
        relative, position = ENTRY.unpack(row)
        found.append(OffsetEntry(number * ENTRY.size, relative, base + relative, position))
    return OffsetIndex(tuple(found), raw)


def alone(index: OffsetIndex) -> Iterator[Finding]:
    """What is wrong with the entries by themselves: `append` takes rising offsets, and positions follow."""
    yield from odd(index.raw, ENTRY.size)
    before: OffsetEntry | None = None
    for one in index.entries:
        if one.relative < 0:
            yield Finding(one.at, f"relative offset {one.relative} is below the base offset of the segment")
        if one.position < 0:
            yield Finding(one.at + 4, f"position {one.position} is negative")
        if before is not None and one.offset <= before.offset:
            yield Finding(one.at, f"offset {one.offset} is not above {before.offset}, the one before it")
        if before is not None and one.position <= before.position:
            yield Finding(
                one.at + 4, f"position {one.position} is not above {before.position}, the one before it"
            )
        before = one


def against(index: OffsetIndex, segment: Segment) -> Iterator[Finding]:
    """What disagrees with the log: a lookup that begins there misses records, or reads garbage."""
    places = {head.position: number for number, head in enumerate(segment.heads)}
    for number, one in enumerate(index.entries):
        if one.position >= segment.size:
            yield Finding(
                one.at + 4, f"position {one.position} is behind the log, which has {segment.size} bytes"
            )
        elif one.position >= segment.end:
            text = f"position {one.position} cannot be checked: the log ends at {segment.end}, {segment.why}"
            yield Finding(one.at + 4, text, "look at the log: wireproof explain", wrong=False)
        elif one.position not in places:
            yield Finding(one.at + 4, f"no entry of the log begins at position {one.position}")
        else:
            later = index.entries[number + 1 : number + 2]
            yield from _offset(
                one, segment, places[one.position], later[0].position if later else segment.size
            )


def _offset(one: OffsetEntry, segment: Segment, place: int, until: int) -> Iterator[Finding]:
    """Its offset ends one of the batches that begin at its position or behind it, up to the next entry's."""
    heads, number = segment.heads, place
    while heads[number].last < one.offset and number + 1 < len(heads) and heads[number + 1].position < until:
        number += 1
    if heads[number].last != one.offset:
        text = f"offset {one.offset} ends no entry of the log from position {one.position} on"
        yield Finding(one.at, f"{text}; the one there ends at {heads[place].last}")
