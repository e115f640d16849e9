"""Format `kafka.log`: entries one after another, as in a fetch response or a segment file. kafka.md §2.4."""

from collections import deque

from attrs import evolve

from wireproof.kafka import append, control_types, entry
from wireproof.kafka.attribute_bits import CONTROL, TRANSACTIONAL, wrap64
from wireproof.kafka.size_and_magic import peek_whole_entry, peek_whole_segment_entry
from wireproof.kafka.values import Log, LogEntry, Message, RecordBatch
from wireproof.wire.options import Options
from wireproof.wire.reader import Reader
from wireproof.wire.rejection import Rejected
from wireproof.wire.writer import Writer


def decode(reader: Reader, options: Options) -> Log:
    """Decode whole entries; an entry that is cut ends the log and is not consumed: §1.4.

    Raises:
        Rejected: for the first invalid entry. `before` is a log of the entries before it, and of the invalid
            entry as far as it was decoded.
    """
    entries: list[LogEntry] = []
    try:
        _read_all(reader, options, entries)
        if options.profile == "produce":
            append.check_request(reader, entries)
            if options.topic is not None:
                stored = append.stored(reader, entries, options.topic)
                reader.remarks.clear()  # they are about bytes that the broker reads and writes anew
                return stored
    except Rejected as rejected:
        if options.topic is not None:
            raise rejected.with_before(Log(())) from None  # a broker stores all or nothing
        partial = [] if rejected.before is None else [rejected.before]
        raise rejected.with_before(_delivered([*entries, *partial], options)) from None
    # a consumer goes on after the last entry, whatever was delivered of it
    following = wrap64(offset_range(entries[-1])[1] + 1) if entries else None
    if following is not None and reader.remarks:
        _allow_after_last_record(reader, len(entries) - 1, entries[-1], following)
    return evolve(_delivered(entries, options), next_offset=following)


def _delivered(entries: list[LogEntry], options: Options) -> Log:
    return Log(tuple(delivered_entries(entries, options)))


def _allow_after_last_record(reader: Reader, index: int, last: LogEntry, following: int) -> None:
    """Allow a consumer to go on after the last record of a log if that is after its last batch.

    Such a batch contradicts itself, and its remark says so. Kafka goes by lastOffsetDelta, librdkafka and
    franz-go by the record.
    """
    if not isinstance(last, RecordBatch) or not last.records:
        return
    highest = max(record.offset for record in last.records)
    for at, remark in enumerate(reader.remarks):
        if remark.path.startswith(f"batches[{index}]."):
            offsets = [int(other.value) for other in remark.others if other.path.endswith(".offset")]
            offsets += [highest] if remark.cls in ("last-offset-delta", "offset-delta") else []
            others = tuple(
                reader.other("after-last-record", "nextOffset", str(wrap64(offset + 1)))
                for offset in offsets
                if offset >= following
            )
            reader.remarks[at] = evolve(remark, others=(*remark.others, *others))


def _read_all(reader: Reader, options: Options, entries: list[LogEntry]) -> None:
    max_size, scope = entry.max_entry_size(options), reader.scope
    peek = peek_whole_segment_entry if options.source == "segment" else peek_whole_entry
    committed = options.isolation == "read_committed"
    aborted = AbortedTransactions(options.aborted) if committed else None
    last: int | None = None
    while True:
        reader.scope = (scope, "batches", len(entries))
        start = reader.pos
        prefix = peek(reader, max_size)
        if prefix is None:
            reader.scope = scope
            return
        header = None
        if aborted is not None and prefix.magic == entry.V2:
            header = entry.peek_batch(reader.data, reader.pos)
        if aborted is None:
            value = entry.read(reader, prefix, options)
        elif header is not None and not header.attributes & CONTROL and aborted.hides(header):
            value = entry.read_without_records(reader, prefix)  # of an aborted transaction: §1.9
        else:
            value = entry.read(reader, prefix, options)
            aborted.hides(value)
        first, end = offset_range(value)
        if first is not None and last is not None and first <= last:  # §1.5: not checked (I31)
            reader.remark("offsets-not-monotonic", "", at=start)
        last = end if last is None else max(last, end)
        entries.append(value)


def offset_range(value: LogEntry) -> tuple[int | None, int]:
    """Return the offset of the first record or None, and the last offset of the entry's range."""
    match value:
        case RecordBatch():
            first = value.records[0].offset if value.records else None
            return first, wrap64(value.base_offset + value.last_offset_delta)
        case Message():
            return (value.messages[0] if value.messages else value).offset, value.offset


def encode(writer: Writer, value: Log, _: Options) -> None:
    """Encode the entries one after another.

    Raises:
        Rejected: `invalid-value`.
    """
    for index, one in enumerate(value.batches):
        writer.enter("batches", index)
        entry.write(writer, one)
        writer.leave()


# --- what a consumer delivers to its application: kafka.md §1.9, "Consumer" ---
#
# The options `fetch_offset`, `isolation` and `aborted` turn this view on; without them a decoded log has
# all entries, markers and aborted records included. A consumer does not deliver control batches, records
# below the fetch offset (a compressed set may begin before it) or, under read_committed, records of aborted
# transactions. An entry without any delivered record is dropped.


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
