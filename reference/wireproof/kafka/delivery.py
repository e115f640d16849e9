"""What a consumer hands on of a log: kafka.md §1.9, "Consumer".

Asked for by the options `fetch_offset`, `isolation` and `aborted`; without them a log is shown as it
stands, markers and aborted records included. Control batches are never delivered, nor records below the
fetch offset (a compressed set may begin before it), nor under read_committed those of aborted
transactions; entries of which nothing is left are left out.
"""

from collections import deque

from attrs import evolve

from wireproof.kafka import control
from wireproof.kafka.arithmetic import CONTROL, TRANSACTIONAL, wrap64
from wireproof.kafka.values import Entry, Message, RecordBatch
from wireproof.wire.options import Options


def view(entries: list[Entry], options: Options) -> list[Entry]:
    """The entries as `options` has them delivered."""
    if options.fetch_offset is None and options.isolation == "read_uncommitted":
        return entries
    committed = options.isolation == "read_committed"
    aborted = Aborted(options.aborted if committed else ())
    delivered = (_from(entry, options.fetch_offset) for entry in entries if not aborted.hides(entry))
    return [entry for entry in delivered if entry is not None]


class Aborted:
    """Which producers' transactions are aborted at the place that a consumer has come to."""

    def __init__(self, transactions: tuple[tuple[int, int], ...]) -> None:
        """`transactions`: (producerId, firstOffset) of each aborted one, in any order."""
        self._ahead = deque(sorted(transactions, key=lambda pair: pair[1]))
        self._open: set[int] = set()

    def hides(self, entry: Entry) -> bool:
        """Whether the next entry is a control batch, or data of an aborted transaction."""
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
        """Only the first record of a control batch is inspected."""
        typed = marker.records[0].control if marker.records else None
        if typed is not None and typed.type == control.ABORT:
            self._open.discard(marker.producer_id)


def _from(entry: Entry, offset: int | None) -> Entry | None:
    """The entry without what lies below `offset`; None if nothing is left."""
    match entry:
        case RecordBatch():
            records = tuple(record for record in entry.records if _reached(record.offset, offset))
            return evolve(entry, records=records) if records else None
        case Message(messages=None):
            return entry if _reached(entry.offset, offset) else None
        case Message():
            messages = tuple(inner for inner in entry.messages or () if _reached(inner.offset, offset))
            return evolve(entry, messages=messages) if messages else None


def _reached(at: int, fetch: int | None) -> bool:
    """Whether what lies at the offset `at` was asked for; None asks for all, negative offsets too."""
    return fetch is None or at >= fetch
