"""The entries and records of a log that a consumer delivers to its application: kafka.md §1.9, "Consumer".

The options `fetch_offset`, `isolation` and `aborted` turn this view on; without them a decoded log has all
entries, markers and aborted records included. A consumer does not deliver control batches, records below the
fetch offset (a compressed set may begin before it) or, under read_committed, records of aborted transactions.
An entry without any delivered record is dropped.
"""

from collections import deque

from attrs import evolve

from wireproof.kafka import control_types
from wireproof.kafka.attribute_bits import CONTROL, TRANSACTIONAL, wrap64
from wireproof.kafka.values import LogEntry, Message, RecordBatch
from wireproof.wire.options import Options


def delivered_entries(entries: list[LogEntry], options: Options) -> list[LogEntry]:
    """Return the entries that a consumer with these options delivers."""
    if options.fetch_offset is None and options.isolation == "read_uncommitted":
        return entries
    committed = options.isolation == "read_committed"
    aborted = AbortedTransactions(options.aborted if committed else ())
    delivered = (_drop_earlier(entry, options.fetch_offset) for entry in entries if not aborted.hides(entry))
    return [entry for entry in delivered if entry is not None]


class AbortedTransactions:
    """The producers whose transaction is aborted, at the consumer's current position in the log."""

    def __init__(self, transactions: tuple[tuple[int, int], ...]) -> None:
        """Start with (producerId, firstOffset) of each aborted transaction, in any order."""
        self._ahead = deque(sorted(transactions, key=lambda pair: pair[1]))
        self._open: set[int] = set()

    def hides(self, entry: LogEntry) -> bool:
        """Advance to the next entry; return True for a control batch or data of an aborted transaction."""
        if not isinstance(entry, RecordBatch):
            return False
        last = wrap64(entry.base_offset + entry.last_offset_delta)
        while self._ahead and self._ahead[0][1] <= last:
            self._open.add(self._ahead.popleft()[0])
        if entry.attributes & CONTROL:
            self._close(entry)
            return True
        return bool(entry.attributes & TRANSACTIONAL) and entry.producer_id in self._open

    def _close(self, marker: RecordBatch) -> None:
        """End the transaction of an ABORT marker; only the first record of a control batch counts."""
        typed = marker.records[0].control if marker.records else None
        if typed is not None and typed.type == control_types.ABORT:
            self._open.discard(marker.producer_id)


def _drop_earlier(entry: LogEntry, fetch: int | None) -> LogEntry | None:
    """Return the entry without records below the offset `fetch`; None if no record is left."""
    match entry:
        case RecordBatch():
            records = tuple(record for record in entry.records if _is_fetched(record.offset, fetch))
            return evolve(entry, records=records) if records else None
        case Message(messages=None):
            return entry if _is_fetched(entry.offset, fetch) else None
        case Message():
            messages = tuple(inner for inner in entry.messages or () if _is_fetched(inner.offset, fetch))
            return evolve(entry, messages=messages) if messages else None


def _is_fetched(offset: int, fetch: int | None) -> bool:
    """Return True if `offset` is not below `fetch`; None fetches all offsets, negative ones too."""
    return fetch is None or offset >= fetch
