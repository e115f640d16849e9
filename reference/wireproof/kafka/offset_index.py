"""The offset index, `.index`: from offsets to positions in the log.

An entry is an int32 offset, relative to the base offset of the segment, and an int32 position in the `.log`.
Kafka writes one before it appends a batch, if enough bytes were appended since the entry before. The position
is that of the batch. The offset is the last one of the batch, or of the batches appended together with it. A
lookup takes the entry with the greatest offset that is not above the target, and reads the log from there.
Source: Apache Kafka, `OffsetIndex` (storage/internals/log, 4.x).
"""

from collections.abc import Iterator, Sequence
from typing import Final

from attrs import frozen

from wireproof.kafka.index_file import IndexFinding, check_extra_bytes, split_entries
from wireproof.kafka.layouts import OFFSET_ENTRY
from wireproof.kafka.segment_headers import SegmentHeaders
from wireproof.segment_files import RawEntries
from wireproof.wire.layout_codec import runs
from wireproof.wire.packed_rows import PackedRows

(_ENTRY,) = runs(OFFSET_ENTRY)

ENTRY_SIZE: Final = OFFSET_ENTRY.fixed_size

_POSITION_AT: Final = OFFSET_ENTRY.offset("position")


@frozen
class OffsetEntry:
    """An entry.

    Attributes:
        at: position of the entry in the index file.
        relative: the offset as stored.
        offset: the absolute offset.
        position: position in the log.
    """

    at: int
    relative: int
    offset: int
    position: int


@frozen
class OffsetIndex:
    """The entries of an offset index."""

    entries: Sequence[OffsetEntry]
    raw: RawEntries


def read(data: bytes, base: int) -> OffsetIndex:
    """Read the offset index of a segment with the base offset `base`; raise nothing."""
    raw = split_entries(data, ENTRY_SIZE)

    def entry(number: int) -> OffsetEntry:
        relative, position = _ENTRY.peek(data, number * ENTRY_SIZE)
        return OffsetEntry(number * ENTRY_SIZE, relative, base + relative, position)

    return OffsetIndex(PackedRows(len(raw.rows), entry), raw)


def check_alone(index: OffsetIndex) -> Iterator[IndexFinding]:
    """Check the entries without the log: Kafka's `append` only takes larger offsets, and positions follow."""
    yield from check_extra_bytes(index.raw, ENTRY_SIZE)
    before: OffsetEntry | None = None
    for entry in index.entries:
        if entry.relative < 0:
            text = f"relative offset {entry.relative} is below the base offset of the segment"
            yield IndexFinding(entry.at, text)
        if entry.position < 0:
            yield IndexFinding(entry.at + _POSITION_AT, f"position {entry.position} is negative")
        if before is not None and entry.offset <= before.offset:
            yield IndexFinding(
                entry.at, f"offset {entry.offset} is not above {before.offset}, the one before it"
            )
        if before is not None and entry.position <= before.position:
            text = f"position {entry.position} is not above {before.position}, the one before it"
            yield IndexFinding(entry.at + _POSITION_AT, text)
        before = entry


def check_against_log(index: OffsetIndex, segment: SegmentHeaders) -> Iterator[IndexFinding]:
    """Check the entries against the log; with a wrong entry a lookup misses records or reads garbage."""
    for number, entry in enumerate(index.entries):
        at, position = entry.at + _POSITION_AT, entry.position
        if position >= segment.size:
            text = f"position {position} is past the end of the log, which has {segment.size} bytes"
            yield IndexFinding(at, text)
        elif position >= segment.end:
            text = f"position {position} cannot be checked: the log ends at {segment.end}, {segment.why}"
            yield IndexFinding(at, text, "look at the log: wireproof explain", is_error=False)
        elif (first := segment.heads.number_at(position)) is None:
            yield IndexFinding(at, f"no entry of the log begins at position {position}")
        else:
            later = index.entries[number + 1 : number + 2]
            until = later[0].position if later else segment.size
            yield from _offset(entry, segment, first, until)


def _offset(entry: OffsetEntry, segment: SegmentHeaders, first: int, until: int) -> Iterator[IndexFinding]:
    """Check the offset: it must be the last one of a batch from the entry's position to the next entry's."""
    heads, number = segment.heads, first
    while (
        heads[number].last < entry.offset and number + 1 < len(heads) and heads[number + 1].position < until
    ):
        number += 1
    if heads[number].last != entry.offset:
        text = f"offset {entry.offset} ends no entry of the log from position {entry.position} on"
        yield IndexFinding(entry.at, f"{text}; the entry there ends at {heads[first].last}")
