"""The transaction index, `.txnindex`: the aborted transactions of a segment.

An entry is an int16 version (0) and four int64: producer id, first offset, last offset and last stable
offset. The last offset is that of the ABORT marker, which is in this segment. The last stable offset is the
first offset of the oldest transaction that is still open, or the offset after the marker
(`ProducerStateManager.lastStableOffset`). The file is not allocated in advance. A transaction may begin in an
earlier segment. An aborted transaction without records has no entry. A read_committed reader skips the
transactions that are listed here, and no others. Source: Apache Kafka, `AbortedTxn` and `TransactionIndex`.
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
    """An entry.

    Attributes:
        at: position of the entry in the index file.
        version: version of the entry.
        producer: the producer id.
        first: the first offset of the transaction.
        last: the offset of its ABORT marker.
        stable: the last stable offset.
    """

    at: int
    version: int
    producer: int
    first: int
    last: int
    stable: int


@frozen
class TransactionIndex:
    """The entries of a transaction index, and the base offset of its segment."""

    entries: tuple[AbortedTransaction, ...]
    raw: Rows
    base: int


@frozen
class Ended:
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


def read(data: bytes, base: int) -> TransactionIndex:
    """Read the transaction index of a segment with the base offset `base`; raise nothing."""
    raw = rows(data, ENTRY.size, allocated=False)
    entries = (
        AbortedTransaction(number * ENTRY.size, *ENTRY.unpack(row)) for number, row in enumerate(raw.rows)
    )
    return TransactionIndex(tuple(entries), raw, base)


def aborted(segment: Segment) -> dict[int, Ended]:
    """Return the aborted transactions that this segment shows, by the offset of their marker."""
    begun: dict[int, int] = {}
    ended: dict[int, Ended] = {}
    for head in segment.heads:
        if head.marker is None:
            if head.transactional:
                begun.setdefault(head.producer, head.first)
            continue
        first = begun.pop(head.producer, None)
        if head.marker == ABORT:
            stable = min(begun.values(), default=head.last + 1)
            ended[head.last] = Ended(head.producer, first, head.last, stable)
    return ended


def alone(index: TransactionIndex) -> Iterator[Finding]:
    """Check the entries without the log."""
    yield from odd(index.raw, ENTRY.size)
    before: AbortedTransaction | None = None
    for entry in index.entries:
        at, last = entry.at, entry.last
        if entry.version != VERSION:
            then = "a broker rejects the whole index, so every read_committed fetch of this segment fails"
            yield Finding(at, f"version {entry.version}: Kafka knows only version {VERSION}", then)
        if entry.first > last:
            yield Finding(at + 10, f"first offset {entry.first} is above the last one, {last}")
        if last < index.base:
            text = f"last offset {last} is below the base offset of the segment, {index.base}"
            yield Finding(at + 18, text)
        if entry.stable > last + 1:
            yield Finding(at + 26, f"last stable offset {entry.stable} is after the marker at {last}")
        if before is not None and last <= before.last:
            yield Finding(at + 18, f"last offset {last} is not above {before.last}, the one before it")
        before = entry


def against(index: TransactionIndex, segment: Segment) -> Iterator[Finding]:
    """Check the entries against the log; wrong ones deliver aborted records or hide committed ones."""
    ended = aborted(segment)
    for entry in index.entries:
        yield from _entry(entry, index.base, ended, segment)
    listed = {entry.last for entry in index.entries}
    end = len(index.entries) * ENTRY.size
    for known in ended.values():
        if known.first is not None and known.last not in listed:
            text = f"offsets {known.first} to {known.last} of producer {known.producer} were aborted"
            yield Finding(end, f"{text}, and are not listed: read_committed readers receive them")


def _entry(
    entry: AbortedTransaction, base: int, ended: Mapping[int, Ended], segment: Segment
) -> Iterator[Finding]:
    known = ended.get(entry.last)
    if known is None:
        yield _no_marker(entry, segment)
    elif known.producer != entry.producer:
        text = f"producer {entry.producer}, but the marker at {entry.last} is of producer {known.producer}"
        yield Finding(entry.at + 2, text)
    else:
        yield from _offsets(entry, base, known, segment)


def _no_marker(entry: AbortedTransaction, segment: Segment) -> Finding:
    """Return the finding for a missing marker; compaction may have removed it."""
    at, last = entry.at + 18, entry.last
    if out_of_sight(segment, last):
        text = f"the marker at {last} cannot be checked: the log ends at {segment.end}, {segment.why}"
        return Finding(at, text, "look at the log: wireproof explain", wrong=False)
    gap = segment.heads and last < segment.heads[-1].last and holding(segment, last) is None
    if gap:
        text = f"no entry of the log holds offset {last}, where the marker was"
        return Finding(at, text, "nothing, if the log is compacted", wrong=False)
    return Finding(at, f"the log has no ABORT marker at offset {last}")


def _offsets(entry: AbortedTransaction, base: int, known: Ended, segment: Segment) -> Iterator[Finding]:
    """Check first and last stable offset, unless they are in an earlier segment or in a compaction gap."""
    if entry.first >= base and entry.first != known.first and holding(segment, entry.first) is not None:
        text = f"first offset {entry.first}, but in the log the transaction"
        begin = "has no record" if known.first is None else f"begins at {known.first}"
        yield Finding(entry.at + 10, f"{text} {begin}")
    gone = entry.stable <= entry.last and holding(segment, entry.stable) is None
    if entry.stable >= base and entry.stable != known.stable and not gone:
        text = f"last stable offset {entry.stable}, but by the log it was {known.stable}"
        yield Finding(entry.at + 26, text)
