"""The three index files of a segment: `.index`, `.timeindex` and `.txnindex`.

They are arrays of entries of a fixed size, big-endian and without checksums. `.index` and `.timeindex` are
allocated in advance, filled with zeros, and cut to their entries when the segment is closed. A broker that
finds an index file missing builds it again from the log. Source: Apache Kafka, `AbstractIndex`,
`OffsetIndex`, `TimeIndex`, `TransactionIndex`, `AbortedTxn` and `LogSegment` (storage/internals/log, 4.x).
"""

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import accumulate
from typing import Any, Final, TypeAlias

from attrs import astuple, fields, frozen

from wireproof.data_files import FileFinding
from wireproof.kafka.control_types import ABORT
from wireproof.kafka.layouts import NO_TIMESTAMP
from wireproof.schema.layout import Layout, Number
from wireproof.schema.source import packing
from wireproof.segment_files import EntryLayout, NumberRows, Order, SegmentIndex

# --- index files ---

OFFSET_ENTRY: Final = Layout(
    "OffsetIndexEntry",
    (
        Number("relativeOffset", "int32", meaning="minus the base offset of the segment"),
        Number("position", "int32", meaning="in the log"),
    ),
    cites="Apache Kafka 4.x, OffsetIndex",
)

TIME_ENTRY: Final = Layout(
    "TimeIndexEntry",
    (
        Number("timestamp", "int64", meaning="the greatest so far"),
        Number("relativeOffset", "int32", meaning="minus the base offset of the segment"),
    ),
    cites="Apache Kafka 4.x, TimeIndex",
)

ABORTED_TRANSACTION_VERSION: Final = 0

ABORTED_TRANSACTION: Final = Layout(
    "AbortedTxn",
    (
        Number("version", "int16", const=ABORTED_TRANSACTION_VERSION),
        Number("producerId", "int64"),
        Number("firstOffset", "int64", meaning="of the transaction"),
        Number("lastOffset", "int64", meaning="of its ABORT marker"),
        Number("lastStableOffset", "int64", meaning="the first offset of the oldest open transaction"),
    ),
    cites="Apache Kafka 4.x, AbortedTxn",
)

# --- segment headers ---
#
# The headers of the entries of a log segment: position, offsets, timestamp and transaction of each entry.
#
# kafka.md §1.1, §1.9 and §2.1. Index files are checked against these headers. A segment may be a gigabyte
# large, so they are kept in columns.


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


REBUILD: Final = "stop the broker and delete the segment's .index: it rebuilds all three indexes from the log"
"""The repair of every index file of a Kafka segment whose log is intact: if its `.index` is missing,
`LogLoader.loadSegmentFiles` (storage/internals/log, 4.x) recovers the segment and rebuilds all three."""


Entry: TypeAlias = Any
"""An entry of one of the three: its columns are named where the index is."""

_wrong: Final = partial(FileFinding, next_step=REBUILD)


def entry_with_offset(segment: SegmentHeaders, offset: int) -> SegmentEntry | None:
    """Return the header of the entry that contains `offset`; None if there is none, as after compaction.

    The first offset of a v0 or v1 wrapper is not known: all offsets after the entry before it count (§2.2).
    """
    heads = segment.heads
    index = heads.number_with_offset(offset)
    if index == len(heads):
        return None
    head = heads[index]
    first = head.first if head.magic > 1 else (heads[index - 1].last + 1 if index else 0)
    return head if first <= offset else None


def is_past_readable_end(segment: SegmentHeaders, offset: int) -> bool:
    """Return True if `offset` may be after the last entry of the log that could be read."""
    return bool(segment.why) and (not segment.heads or offset > segment.heads[-1].last)


# --- the offset index: from offsets to positions in the log ---
#
# An entry is an int32 offset, relative to the base offset of the segment, and an int32 position in the log.
# Kafka writes one before it appends a batch, if enough bytes were appended since the entry before. The
# position is that of the batch. The offset is the last one of the batch, or of the batches appended together
# with it. A lookup takes the entry with the greatest offset that is not above the target, and reads the log
# from there.

_POSITION_AT: Final = OFFSET_ENTRY.offset("position")


def _offset_faults(entry: Entry, _: int) -> Iterator[FileFinding]:
    """Check an entry without the log: Kafka's `append` only takes larger offsets, and positions follow."""
    if entry.relative < 0:
        text = f"relative offset {entry.relative} is below the base offset of the segment"
        yield _wrong(entry.at, text)
    if entry.position < 0:
        yield _wrong(entry.at + _POSITION_AT, f"position {entry.position} is negative")


def _check_offsets(index: SegmentIndex, segment: SegmentHeaders) -> Iterator[FileFinding]:
    """Check the entries against the log; with a wrong entry a lookup misses records or reads garbage."""
    for number, entry in enumerate(index.entries):
        at, position = entry.at + _POSITION_AT, entry.position
        if position >= segment.size:
            text = f"position {position} is past the end of the log, which has {segment.size} bytes"
            yield _wrong(at, text)
        elif position >= segment.end:
            text = f"position {position} cannot be checked: the log ends at {segment.end}, {segment.why}"
            yield FileFinding(at, text, "look at the log: wireproof explain", is_error=False)
        elif (first := segment.heads.number_at(position)) is None:
            yield _wrong(at, f"no entry of the log begins at position {position}")
        else:
            later = index.entries[number + 1 : number + 2]
            until = later[0].position if later else segment.size
            yield from _check_offset(entry, segment, first, until)


def _check_offset(entry: Entry, segment: SegmentHeaders, first: int, until: int) -> Iterator[FileFinding]:
    """Check the offset: it must be the last one of a batch from the entry's position to the next entry's."""
    heads, number = segment.heads, first
    while (
        heads[number].last < entry.offset and number + 1 < len(heads) and heads[number + 1].position < until
    ):
        number += 1
    if heads[number].last != entry.offset:
        text = f"offset {entry.offset} ends no entry of the log from position {entry.position} on"
        yield _wrong(entry.at, f"{text}; the entry there ends at {heads[first].last}")


OFFSET_INDEX: Final = EntryLayout(
    packing(OFFSET_ENTRY.numbers),
    ("relative", "position"),
    (Order("offset", "offset"), Order("position", "position")),
    _offset_faults,
    _check_offsets,
    allocated=True,
    next_step=REBUILD,
)


# --- the time index: from timestamps to offsets ---
#
# An entry is an int64 timestamp in milliseconds and an int32 offset, relative to the base offset of the
# segment: the greatest timestamp so far, and an offset in the first batch that has it. All records with a
# later timestamp come after that offset. Timestamps increase, and the last entry of a closed segment has the
# greatest timestamp of its log.

_OFFSET_AT: Final = TIME_ENTRY.offset("relativeOffset")


def _time_faults(entry: Entry, _: int) -> Iterator[FileFinding]:
    """Check an entry without the log: Kafka's `maybeAppend` takes later timestamps, no lower offsets."""
    if entry.relative < 0:
        text = f"relative offset {entry.relative} is below the base offset of the segment"
        yield _wrong(entry.at + _OFFSET_AT, text)
    if entry.timestamp < 0:
        text = f"timestamp {entry.timestamp}: Kafka writes no entry without a timestamp"
        yield _wrong(entry.at, text)


def _check_times(index: SegmentIndex, segment: SegmentHeaders) -> Iterator[FileFinding]:
    """Check the entries against the log; with a wrong entry a search by time misses records."""
    latest = array("q", accumulate(segment.heads.column("timestamp"), max, initial=NO_TIMESTAMP))
    untimed: list[Entry] = []
    for entry in index.entries:
        head = entry_with_offset(segment, entry.offset)
        if head is not None and not head.magic:
            untimed.append(entry)
        elif head is not None:
            yield from _check_timestamp(entry, head, latest[segment.heads.number_at(head.position) or 0])
        elif is_past_readable_end(segment, entry.offset):
            text = f"offset {entry.offset} cannot be checked: the log ends at {segment.end}, {segment.why}"
            yield FileFinding(
                entry.at + _OFFSET_AT, text, "look at the log: wireproof explain", is_error=False
            )
        else:
            yield _wrong(entry.at + _OFFSET_AT, f"no entry of the log holds offset {entry.offset}")
    if untimed:  # LogAppendTime in message format v0: the broker indexes times that no message has
        text = f"{len(untimed)} entries lead to messages of v0, which have no timestamp"
        yield FileFinding(untimed[0].at, text, "", is_error=False)
    last = index.entries[-1].timestamp if index.entries else NO_TIMESTAMP
    if not index.raw.tail and not segment.why and last < latest[-1]:
        at = len(index.entries) * TIME_ENTRY.fixed_size
        text = f"a closed segment ends with its greatest timestamp, {latest[-1]}; the last one here is {last}"
        then = f"retention by time uses the last entry: if the segment is closed, {REBUILD}"
        yield FileFinding(at, text, then, is_error=False)


def _check_timestamp(entry: Entry, head: SegmentEntry, before: int) -> Iterator[FileFinding]:
    """Check the timestamp: it must be that of the batch, and no earlier batch may have a later one."""
    text = f"timestamp {entry.timestamp}"
    if head.timestamp != entry.timestamp:
        text += f", but the entry of the log that holds offset {entry.offset} has {head.timestamp}"
        yield _wrong(entry.at, text)
    elif before > entry.timestamp:
        text += f" is not the greatest up to offset {entry.offset}: an earlier entry of the log has {before}"
        yield _wrong(entry.at, text)


TIME_INDEX: Final = EntryLayout(
    packing(TIME_ENTRY.numbers),
    ("timestamp", "relative"),
    (Order("timestamp", "timestamp"), Order("offset", "offset", repeats=True)),
    _time_faults,
    _check_times,
    allocated=True,
    next_step=REBUILD,
)


# --- the transaction index: the aborted transactions of a segment ---
#
# An entry is an int16 version (0) and four int64: producer id, first offset, last offset and last stable
# offset. The last offset is that of the ABORT marker, which is in this segment. The last stable offset is the
# first offset of the oldest transaction that is still open, or the offset after the marker
# (`ProducerStateManager.lastStableOffset`). The file is not allocated in advance. A transaction may begin in
# an earlier segment. An aborted transaction without records has no entry. A read_committed reader skips the
# transactions that are listed here, and no others.

_PRODUCER_AT, _FIRST_AT, _LAST_AT, _STABLE_AT = map(
    ABORTED_TRANSACTION.offset, ("producerId", "firstOffset", "lastOffset", "lastStableOffset")
)


@frozen
class EndedTransaction:
    """An aborted transaction whose marker is in a log.

    Attributes:
        producer: the producer id.
        first: the first offset of the transaction in this segment, or None if it has no record there.
        last: the offset of the marker.
        stable: the first offset of the oldest open transaction that began in this segment, or `last` + 1.
    """

    producer: int
    first: int | None
    last: int
    stable: int


def aborted_transactions(segment: SegmentHeaders) -> dict[int, EndedTransaction]:
    """Return the aborted transactions that this segment shows, by the offset of their marker."""
    begun: dict[int, int] = {}
    ended: dict[int, EndedTransaction] = {}
    for head in segment.heads:
        if head.marker == NO_MARKER:
            if head.transactional:
                begun.setdefault(head.producer, head.first)
            continue
        first = begun.pop(head.producer, None)
        if head.marker == ABORT:
            stable = min(begun.values(), default=head.last + 1)
            ended[head.last] = EndedTransaction(head.producer, first, head.last, stable)
    return ended


def _transaction_faults(entry: Entry, base: int) -> Iterator[FileFinding]:
    """Check an entry without the log."""
    at, last = entry.at, entry.last
    if entry.version != ABORTED_TRANSACTION_VERSION:
        then = "a broker rejects the whole index, so every read_committed fetch of this segment fails"
        text = f"version {entry.version}: Kafka knows only version {ABORTED_TRANSACTION_VERSION}"
        yield FileFinding(at, text, then)
    if entry.first > last:
        yield _wrong(at + _FIRST_AT, f"first offset {entry.first} is above the last one, {last}")
    if last < base:
        text = f"last offset {last} is below the base offset of the segment, {base}"
        yield _wrong(at + _LAST_AT, text)
    if entry.stable > last + 1:
        yield _wrong(at + _STABLE_AT, f"last stable offset {entry.stable} is after the marker at {last}")


def _check_transactions(index: SegmentIndex, segment: SegmentHeaders) -> Iterator[FileFinding]:
    """Check the entries against the log; wrong ones deliver aborted records or hide committed ones."""
    ended = aborted_transactions(segment)
    for entry in index.entries:
        known = ended.get(entry.last)
        if known is None:
            yield _no_marker(entry, segment)
        elif known.producer != entry.producer:
            text = (
                f"producer {entry.producer}, but the marker at {entry.last} is of producer {known.producer}"
            )
            yield _wrong(entry.at + _PRODUCER_AT, text)
        else:
            yield from _check_ends(entry, index.base, known, segment)
    listed = {entry.last for entry in index.entries}
    end = len(index.entries) * ABORTED_TRANSACTION.fixed_size
    for known in ended.values():
        if known.first is not None and known.last not in listed:
            text = f"offsets {known.first} to {known.last} of producer {known.producer} were aborted"
            yield _wrong(end, f"{text}, and are not listed: read_committed readers receive them")


def _no_marker(entry: Entry, segment: SegmentHeaders) -> FileFinding:
    """Return the finding for a missing marker; compaction may have removed it."""
    at, last = entry.at + _LAST_AT, entry.last
    if is_past_readable_end(segment, last):
        text = f"the marker at {last} cannot be checked: the log ends at {segment.end}, {segment.why}"
        return FileFinding(at, text, "look at the log: wireproof explain", is_error=False)
    gap = segment.heads and last < segment.heads[-1].last and entry_with_offset(segment, last) is None
    if gap:
        text = f"no entry of the log holds offset {last}, where the marker was"
        return FileFinding(at, text, "nothing, if the log is compacted", is_error=False)
    return _wrong(at, f"the log has no ABORT marker at offset {last}")


def _check_ends(
    entry: Entry, base: int, known: EndedTransaction, segment: SegmentHeaders
) -> Iterator[FileFinding]:
    """Check first and last stable offset, unless they are in an earlier segment or in a compaction gap."""
    if (
        entry.first >= base
        and entry.first != known.first
        and entry_with_offset(segment, entry.first) is not None
    ):
        text = f"first offset {entry.first}, but in the log the transaction"
        begin = "has no record" if known.first is None else f"begins at {known.first}"
        yield _wrong(entry.at + _FIRST_AT, f"{text} {begin}")
    gone = entry.stable <= entry.last and entry_with_offset(segment, entry.stable) is None
    if entry.stable >= base and entry.stable != known.stable and not gone:
        text = f"last stable offset {entry.stable}, but by the log it was {known.stable}"
        yield _wrong(entry.at + _STABLE_AT, text)


TRANSACTION_INDEX: Final = EntryLayout(
    packing(ABORTED_TRANSACTION.numbers),
    ("version", "producer", "first", "last", "stable"),
    (Order("last", "last offset"),),
    _transaction_faults,
    _check_transactions,
    next_step=REBUILD,
)

INDEX_READERS: Final = {".index": OFFSET_INDEX, ".timeindex": TIME_INDEX, ".txnindex": TRANSACTION_INDEX}
"""The functions for each kind of index file, by the ending of its name."""
