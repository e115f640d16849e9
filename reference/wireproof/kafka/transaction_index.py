"""The transaction index, `.txnindex`: the aborted transactions of a segment.

An entry is an int16 version (0) and four int64: producer id, first offset, last offset and last stable
offset. The last offset is that of the ABORT marker, which is in this segment. The last stable offset is the
first offset of the oldest transaction that is still open, or the offset after the marker
(`ProducerStateManager.lastStableOffset`). The file is not allocated in advance. A transaction may begin in an
earlier segment. An aborted transaction without records has no entry. A read_committed reader skips the
transactions that are listed here, and no others. Source: Apache Kafka, `AbortedTxn` and `TransactionIndex`.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from attrs import frozen

from wireproof.kafka.control_types import ABORT
from wireproof.kafka.index_file import (
    IndexFinding,
    check_extra_bytes,
    entry_with_offset,
    is_past_readable_end,
    split_entries,
)
from wireproof.kafka.layouts import ABORTED_TRANSACTION, ABORTED_TRANSACTION_VERSION
from wireproof.kafka.segment_headers import SegmentHeaders
from wireproof.segment_files import RawEntries
from wireproof.wire.layout_codec import runs

(_ENTRY,) = runs(ABORTED_TRANSACTION)

ENTRY_SIZE: Final = ABORTED_TRANSACTION.fixed_size

_PRODUCER_AT, _FIRST_AT, _LAST_AT, _STABLE_AT = map(
    ABORTED_TRANSACTION.offset, ("producerId", "firstOffset", "lastOffset", "lastStableOffset")
)


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
    raw: RawEntries
    base: int


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


def read(data: bytes, base: int) -> TransactionIndex:
    """Read the transaction index of a segment with the base offset `base`; raise nothing."""
    raw = split_entries(data, ENTRY_SIZE, allocated=False)
    entries = (
        AbortedTransaction(number * ENTRY_SIZE, *_ENTRY.peek(row, 0)) for number, row in enumerate(raw.rows)
    )
    return TransactionIndex(tuple(entries), raw, base)


def aborted_transactions(segment: SegmentHeaders) -> dict[int, EndedTransaction]:
    """Return the aborted transactions that this segment shows, by the offset of their marker."""
    begun: dict[int, int] = {}
    ended: dict[int, EndedTransaction] = {}
    for head in segment.heads:
        if head.marker is None:
            if head.transactional:
                begun.setdefault(head.producer, head.first)
            continue
        first = begun.pop(head.producer, None)
        if head.marker == ABORT:
            stable = min(begun.values(), default=head.last + 1)
            ended[head.last] = EndedTransaction(head.producer, first, head.last, stable)
    return ended


def check_alone(index: TransactionIndex) -> Iterator[IndexFinding]:
    """Check the entries without the log."""
    yield from check_extra_bytes(index.raw, ENTRY_SIZE)
    before: AbortedTransaction | None = None
    for entry in index.entries:
        at, last = entry.at, entry.last
        if entry.version != ABORTED_TRANSACTION_VERSION:
            then = "a broker rejects the whole index, so every read_committed fetch of this segment fails"
            text = f"version {entry.version}: Kafka knows only version {ABORTED_TRANSACTION_VERSION}"
            yield IndexFinding(at, text, then)
        if entry.first > last:
            yield IndexFinding(at + _FIRST_AT, f"first offset {entry.first} is above the last one, {last}")
        if last < index.base:
            text = f"last offset {last} is below the base offset of the segment, {index.base}"
            yield IndexFinding(at + _LAST_AT, text)
        if entry.stable > last + 1:
            yield IndexFinding(
                at + _STABLE_AT, f"last stable offset {entry.stable} is after the marker at {last}"
            )
        if before is not None and last <= before.last:
            yield IndexFinding(
                at + _LAST_AT, f"last offset {last} is not above {before.last}, the one before it"
            )
        before = entry


def check_against_log(index: TransactionIndex, segment: SegmentHeaders) -> Iterator[IndexFinding]:
    """Check the entries against the log; wrong ones deliver aborted records or hide committed ones."""
    ended = aborted_transactions(segment)
    for entry in index.entries:
        yield from _entry(entry, index.base, ended, segment)
    listed = {entry.last for entry in index.entries}
    end = len(index.entries) * ENTRY_SIZE
    for known in ended.values():
        if known.first is not None and known.last not in listed:
            text = f"offsets {known.first} to {known.last} of producer {known.producer} were aborted"
            yield IndexFinding(end, f"{text}, and are not listed: read_committed readers receive them")


def _entry(
    entry: AbortedTransaction, base: int, ended: Mapping[int, EndedTransaction], segment: SegmentHeaders
) -> Iterator[IndexFinding]:
    known = ended.get(entry.last)
    if known is None:
        yield _no_marker(entry, segment)
    elif known.producer != entry.producer:
        text = f"producer {entry.producer}, but the marker at {entry.last} is of producer {known.producer}"
        yield IndexFinding(entry.at + _PRODUCER_AT, text)
    else:
        yield from _offsets(entry, base, known, segment)


def _no_marker(entry: AbortedTransaction, segment: SegmentHeaders) -> IndexFinding:
    """Return the finding for a missing marker; compaction may have removed it."""
    at, last = entry.at + _LAST_AT, entry.last
    if is_past_readable_end(segment, last):
        text = f"the marker at {last} cannot be checked: the log ends at {segment.end}, {segment.why}"
        return IndexFinding(at, text, "look at the log: wireproof explain", is_error=False)
    gap = segment.heads and last < segment.heads[-1].last and entry_with_offset(segment, last) is None
    if gap:
        text = f"no entry of the log holds offset {last}, where the marker was"
        return IndexFinding(at, text, "nothing, if the log is compacted", is_error=False)
    return IndexFinding(at, f"the log has no ABORT marker at offset {last}")


def _offsets(
    entry: AbortedTransaction, base: int, known: EndedTransaction, segment: SegmentHeaders
) -> Iterator[IndexFinding]:
    """Check first and last stable offset, unless they are in an earlier segment or in a compaction gap."""
    if (
        entry.first >= base
        and entry.first != known.first
        and entry_with_offset(segment, entry.first) is not None
    ):
        text = f"first offset {entry.first}, but in the log the transaction"
        begin = "has no record" if known.first is None else f"begins at {known.first}"
        yield IndexFinding(entry.at + _FIRST_AT, f"{text} {begin}")
    gone = entry.stable <= entry.last and entry_with_offset(segment, entry.stable) is None
    if entry.stable >= base and entry.stable != known.stable and not gone:
        text = f"last stable offset {entry.stable}, but by the log it was {known.stable}"
        yield IndexFinding(entry.at + _STABLE_AT, text)
