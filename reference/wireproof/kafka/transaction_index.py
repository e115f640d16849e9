"""`.txnindex`: the aborted transactions of a segment. Apache Kafka's `AbortedTxn` and `TransactionIndex`.

An entry is an int16 version (0), and four int64: producer id, first offset, last offset (that of the ABORT
marker, which stands in this segment) and the last stable offset at that time: the first offset of the oldest
transaction that is open still, or the one behind the marker (`ProducerStateManager.lastStableOffset`). The
file is not allocated ahead. A transaction may have begun in an earlier segment; one without any record ends
without an entry. A read_committed reader leaves out what is listed here, and nothing else.
"""

from collections.abc import Iterator, Mapping
from struct import Struct
from typing import Final

from attrs import frozen

from wireproof.kafka.companion import Finding, Rows, holding, odd, out_of_sight, rows
from wireproof.kafka.control import ABORT
from wireproof.kafka.segment import Segment

ENTRY: Final = Struct(">hqqqq")

VERSION: Final = 0


@frozen
class AbortedTransaction:
    """An entry; `at` is where it stands."""

    at: int
    version: int
    producer: int
    first: int
    last: int
    stable: int


@frozen
class TransactionIndex:
    """The entries of an index."""

    entries: tuple[AbortedTransaction, ...]
    raw: Rows
    base: int


@frozen
class Ended:
    """A transaction whose marker stands in a log; `first` is None if it has no record in this segment.

    Attributes:
        stable: the first offset of the oldest one that began in this segment and is open, or `last` + 1.
    """

    producer: int
    first: int | None
    last: int
    stable: int


def read(data: bytes, base: int) -> TransactionIndex:
    """The entries of an index whose segment has the base offset `base`; raises nothing."""
    raw = rows(data, ENTRY.size, allocated=False)
    found = (
        AbortedTransaction(number * ENTRY.size, *ENTRY.unpack(row)) for number, row in enumerate(raw.rows)
    )
    return TransactionIndex(tuple(found), raw, base)


def aborted(segment: Segment) -> dict[int, Ended]:
    """The aborted transactions of a log by the offset of their marker, as far as this segment tells."""
    begun: dict[int, int] = {}
    found: dict[int, Ended] = {}
    for head in segment.heads:
        if head.marker is None:
            if head.transactional:
                begun.setdefault(head.producer, head.first)
            continue
        first = begun.pop(head.producer, None)
        if head.marker == ABORT:
            stable = min(begun.values(), default=head.last + 1)
            found[head.last] = Ended(head.producer, first, head.last, stable)
    return found


def alone(index: TransactionIndex) -> Iterator[Finding]:
    """What is wrong with the entries by themselves."""
    yield from odd(index.raw, ENTRY.size)
    before: AbortedTransaction | None = None
    for one in index.entries:
        if one.version != VERSION:
            then = "a broker refuses the whole index, and with it every read_committed fetch of this segment"
            yield Finding(one.at, f"version {one.version}: Kafka knows {VERSION}", then)
        if one.first > one.last:
            yield Finding(one.at + 10, f"first offset {one.first} is above the last one, {one.last}")
        if one.last < index.base:
            text = f"last offset {one.last} is below the base offset of the segment, {index.base}"
            yield Finding(one.at + 18, text)
        if one.stable > one.last + 1:
            yield Finding(one.at + 26, f"last stable offset {one.stable} is behind the marker at {one.last}")
        if before is not None and one.last <= before.last:
            yield Finding(
                one.at + 18, f"last offset {one.last} is not above {before.last}, the one before it"
            )
        before = one


def against(index: TransactionIndex, segment: Segment) -> Iterator[Finding]:
    """What disagrees with the log: aborted records are delivered, or good ones left out."""
    ended = aborted(segment)
    for one in index.entries:
        yield from _entry(one, index.base, ended, segment)
    listed = {one.last for one in index.entries}
    end = len(index.entries) * ENTRY.size
    for known in ended.values():
        if known.first is not None and known.last not in listed:
            text = f"offsets {known.first} to {known.last} of producer {known.producer} were aborted"
            yield Finding(end, f"{text}, and are not listed: read_committed readers are given them")


def _entry(
    one: AbortedTransaction, base: int, ended: Mapping[int, Ended], segment: Segment
) -> Iterator[Finding]:
    known = ended.get(one.last)
    if known is None:
        yield _no_marker(one, segment)
    elif known.producer != one.producer:
        yield Finding(
            one.at + 2, f"producer {one.producer}, but the marker at {one.last} is of {known.producer}"
        )
    else:
        yield from _offsets(one, base, known, segment)


def _no_marker(one: AbortedTransaction, segment: Segment) -> Finding:
    """Whether the log has none there, or may have had one: compaction takes markers away in the end."""
    if out_of_sight(segment, one.last):
        text = f"the marker at {one.last} cannot be checked: the log ends at {segment.end}, {segment.why}"
        return Finding(one.at + 18, text, "look at the log: wireproof explain", wrong=False)
    gap = segment.heads and one.last < segment.heads[-1].last and holding(segment, one.last) is None
    if gap:
        text = f"no entry of the log holds offset {one.last}, where the marker of the entry was"
        return Finding(one.at + 18, text, "nothing, if the log is compacted", wrong=False)
    return Finding(one.at + 18, f"no ABORT marker stands at offset {one.last} of the log")


def _offsets(one: AbortedTransaction, base: int, known: Ended, segment: Segment) -> Iterator[Finding]:
    """Both may lie in an earlier segment, of which this log says nothing, or where compaction left a gap."""
    if one.first >= base and one.first != known.first and holding(segment, one.first) is not None:
        began = "no record of it" if known.first is None else f"it begins at {known.first}"
        yield Finding(one.at + 10, f"first offset {one.first}, but in the log there is {began}")
    gone = one.stable <= one.last and holding(segment, one.stable) is None
    if one.stable >= base and one.stable != known.stable and not gone:
        yield Finding(one.at + 26, f"last stable offset {one.stable}, but by the log it was {known.stable}")
