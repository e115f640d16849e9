"""A partition: its batches, its producers, and the steps of an append. A fault overrides one of the steps."""

import time
from collections import deque
from collections.abc import Iterator
from typing import Final

from attrs import Factory, define, evolve, frozen

from wireproof.kafka.append import TopicSettings, deciding, stored_batch, with_time, wrong_records
from wireproof.kafka.attribute_bits import DELETE_HORIZON, TRANSACTIONAL
from wireproof.kafka.entry import V2, peek_batch
from wireproof.kafka.layouts import NO_TIMESTAMP
from wireproof.kafka.values import Record, RecordBatch
from wireproof.live.loopback_broker import append_rules
from wireproof.live.loopback_broker.append_rules import (
    BODY,
    LEADER_EPOCH,
    AppendRefused,
    Arrival,
    ErrorCode,
    Form,
    batches_of,
    finished,
    form_of,
)
from wireproof.wire.rejection import Rejected

SEQUENCES: Final = 1 << 31
"""After the sequence 2³¹ − 1 comes 0: kafka.md §1.7."""

LISTED_SINCE: Final = {-1: 0, -2: 0, -3: 7, -4: 8, -5: 9}
"""The version of ListOffsets from which on it has a number below 0: KIP-734, KIP-405, KIP-1005."""

DELETE_RETENTION_MS: Final = 86_400_000
"""How long a record without a value is left: the default of `delete.retention.ms`."""

NO_EPOCH: Final = -1


@frozen
class Appended:
    """The answer to an append that succeeded; the time is -1 unless the topic has append time."""

    base_offset: int
    append_time: int = -1


@frozen
class StoredEntry:
    """A batch in the log, from its first offset to its last one; a marker ends a transaction."""

    base_offset: int
    last_offset: int
    max_timestamp: int
    data: bytes
    is_marker: bool = False


@frozen
class Aborted:
    """An aborted transaction: its producer, its first offset, and that of its marker."""

    producer: int
    first: int
    last: int


@define
class KnownProducer:
    """What is known of a producer.

    Attributes:
        epoch: the latest one.
        latest: the time from which its age counts: the maxTimestamp of its last batch, or that of a marker.
        batches: first and last sequence of its last batches, and the answer to each as a duplicate: it has
            the batch's maxTimestamp as append time, also under CreateTime (`duplicate.timestamp` in
            UnifiedLog). Five are known: ProducerStateEntry.
    """

    epoch: int
    latest: int = NO_TIMESTAMP
    batches: deque[tuple[int, int, Appended]] = Factory(lambda: deque(maxlen=5))


class ServedPartition:
    """The log of a partition.

    Attributes:
        settings: of its topic.
        stored: the batches, in order.
        end: the offset of the next record, which is the high watermark too: there are no followers.
        start: the first offset that is not deleted.
        open: the first offset of each open transaction, by producer id.
        aborted: the aborted transactions, in the order of their markers.
    """

    def __init__(self, settings: TopicSettings) -> None:
        self.settings = settings
        self.stored: list[StoredEntry] = []
        self.end = 0
        self.start = 0
        self.open: dict[int, int] = {}
        self.aborted: list[Aborted] = []
        self._producers: dict[int, KnownProducer] = {}

    def append(self, data: bytes, version: int, transactional_id: str | None, now: int) -> Appended:
        """Append the record set of a Produce request of this version at the time `now`.

        Raises:
            AppendRefused: nothing was appended.
        """
        if len(data) >= BODY and transactional_id is None:  # KafkaApis.handleProduceRequest
            header = peek_batch(data)
            if header.magic == V2 and header.attributes & TRANSACTIONAL:
                code = ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
                raise AppendRefused(code, "a transactional batch without an id")
        arrival = self.read(data, version)
        self.check(arrival, now)
        known = self.known_producer(arrival.batch)
        if isinstance(known, Appended):
            return known
        self.check_transaction(arrival.batch)
        form = self.form(arrival, now)
        stored = self.finish(form, arrival)
        self._check_size(len(stored))
        answer = self.answer(form, now)
        if arrival.batch.attributes & TRANSACTIONAL:
            self.open.setdefault(arrival.batch.producer_id, self.end)
        self.keep(form, stored)
        if known is not None:
            first = arrival.batch.base_sequence
            last = (first + arrival.batch.last_offset_delta) % SEQUENCES
            again = evolve(answer, append_time=form.header.max_timestamp)
            known.batches.append((first, last, again))
            known.latest = form.header.max_timestamp
        return answer

    def _check_size(self, size: int) -> None:
        """Check a batch against `max.message.bytes`: UnifiedLog; raises `AppendRefused`."""
        if self.settings.max_bytes is not None and size > self.settings.max_bytes:
            text = f"the batch has {size} bytes, at most {self.settings.max_bytes}"
            raise AppendRefused(ErrorCode.MESSAGE_TOO_LARGE, text)

    # --- the steps of an append ---

    def read(self, data: bytes, version: int) -> Arrival:
        """Return the batch of a record set; raises `AppendRefused`."""
        batch = append_rules.one_batch(data, version)
        self._check_size(len(batch))
        return append_rules.read_batch(batch)

    def check(self, arrival: Arrival, now: int) -> None:
        """Check the records against the settings of the topic.

        Raises:
            AppendRefused: one has no key in a compacted topic, or a time that it must not have.
        """
        if wrong := list(wrong_records([arrival.batch], self.settings, now)):
            one = deciding(wrong)
            code = ErrorCode.INVALID_TIMESTAMP if one.cls == "invalid-value" else ErrorCode.INVALID_RECORD
            raise AppendRefused(code, one.text, tuple((row.index, row.text) for row in wrong))

    def form(self, arrival: Arrival, now: int) -> Form:
        """Return the form in which a batch is stored."""
        batch, kept = stored_batch([arrival.batch], self.settings, now)
        body = arrival.data[BODY:] if kept else form_of(batch).body
        return Form(evolve(batch, base_offset=self.end, partition_leader_epoch=LEADER_EPOCH), body)

    def finish(self, form: Form, _: Arrival) -> bytes:
        """Return the bytes that are stored."""
        return finished(form)

    def answer(self, form: Form, now: int) -> Appended:
        return Appended(form.header.base_offset, now if self.settings.append_time else -1)

    def keep(self, form: Form, data: bytes) -> None:
        """Add the bytes to the log."""
        last = self.end + form.header.last_offset_delta
        self.stored.append(StoredEntry(self.end, last, form.header.max_timestamp, data))
        self.end = last + 1

    # --- producers ---

    def known_producer(self, batch: RecordBatch) -> KnownProducer | Appended | None:
        """Return the state of the batch's producer, the answer to a duplicate, or None without a producer.

        Raises:
            AppendRefused: the epoch is old, or the sequence is not the next one: ProducerAppendInfo.
        """
        if batch.producer_id < 0:
            return None
        known = self._producers.get(batch.producer_id)
        if known is None:
            known = self._producers[batch.producer_id] = KnownProducer(NO_EPOCH)
        self.check_epoch(known, batch.producer_epoch)
        first = batch.base_sequence
        begins = batch.producer_epoch > known.epoch
        if begins:
            if first and known.epoch != NO_EPOCH:
                raise _out_of_order(first, 0)
            known.epoch = batch.producer_epoch
            known.batches.clear()
        last = (first + batch.last_offset_delta) % SEQUENCES
        for begin, end, answer in known.batches:
            if (begin, end) == (first, last):
                return answer
        if known.epoch != NO_EPOCH and not begins:
            self.check_sequence(known, first)
        return known

    def check_epoch(self, known: KnownProducer, epoch: int) -> None:
        if epoch < known.epoch:
            raise AppendRefused(ErrorCode.INVALID_PRODUCER_EPOCH, f"epoch {epoch} after {known.epoch}")

    def check_sequence(self, known: KnownProducer, first: int) -> None:
        expected = (known.batches[-1][1] + 1) % SEQUENCES if known.batches else 0
        if first != expected:
            raise _out_of_order(first, expected)

    # --- transactions: ProducerAppendInfo, UnifiedLog ---

    def check_transaction(self, batch: RecordBatch) -> None:
        """Check that a producer with an open transaction writes no other batch; raises `AppendRefused`."""
        if batch.producer_id in self.open and not batch.attributes & TRANSACTIONAL:
            raise AppendRefused(ErrorCode.INVALID_TXN_STATE, "a transaction of the producer is open")

    def write_marker(self, producer: int, epoch: int, *, commit: bool, now: int) -> None:
        """End the transaction of a producer: appendEndTxnMarker."""
        known = self._producers.setdefault(producer, KnownProducer(epoch))
        if epoch > known.epoch:
            known.batches.clear()
        known.epoch, known.latest = max(known.epoch, epoch), now
        form = self.marker(producer, epoch, commit=commit, now=now)
        first = self.open.pop(producer, None)
        if first is not None and not commit:
            self.aborted.append(Aborted(producer, first, self.end))
        ServedPartition.keep(self, form, finished(form))
        self.stored[-1] = evolve(self.stored[-1], is_marker=True)

    def marker(self, producer: int, epoch: int, *, commit: bool, now: int) -> Form:
        """Return a marker, with the timestamp type of the topic."""
        form = append_rules.marker(producer, epoch, commit=commit, offset=self.end, now=now)
        return evolve(form, header=with_time(form.header, self.settings, now))

    def last_stable_offset(self) -> int:
        """Return the first offset of an open transaction, or the high watermark."""
        return min(self.open.values(), default=self.end)

    def aborted_for(self, offset: int, end: int, *, committed: bool) -> list[Aborted]:
        """Return those that a fetch of a range names, if it is read_committed: collectAbortedTransactions."""
        return [one for one in self.aborted if committed and one.last >= offset and one.first < end]

    # --- deleting ---

    def delete_before(self, offset: int) -> int:
        """Move the beginning of the log, -1 to its end; return it: maybeIncrementLogStartOffset.

        Raises:
            AppendRefused: the offset is past the end.
        """
        wanted = self.end if offset == -1 else offset
        if wanted > self.end:
            raise AppendRefused(ErrorCode.OFFSET_OUT_OF_RANGE, f"{wanted} is past {self.end}")
        self.start = max(self.start, wanted)
        return self.start

    def check_range(self, offset: int) -> None:
        """Check the offset of a fetch: UnifiedLog.read; raises `AppendRefused`."""
        if not self.start <= offset <= self.end:
            raise AppendRefused(
                ErrorCode.OFFSET_OUT_OF_RANGE, f"{offset} is not in [{self.start}, {self.end}]"
            )

    # --- reading ---

    def note_fetch(self, offset: int, limit: int) -> None:
        """Take note that a consumer fetches from this offset, at most so many bytes."""

    def read_from(self, offset: int, max_bytes: int, bound: int | None = None) -> bytes:
        """Return whole batches from the one with `offset` on: at least one, and no more than `max_bytes`.

        Those from the offset `bound` on are left out.
        """
        found = b""
        for stored in self.stored:
            if stored.last_offset < offset:
                continue
            if bound is not None and stored.base_offset >= bound:
                break
            if found and len(found) + len(stored.data) > max_bytes:
                break
            found += stored.data
        return found

    def first_after(self, timestamp: int) -> Record | None:
        """Return the first record of this time or a later one: FileRecords.searchForTimestamp.

        Raises:
            AppendRefused: a stored batch cannot be read, as that of a broker with a fault.
        """
        later = (stored for stored in self.stored if stored.max_timestamp >= timestamp)
        try:
            records = (one for stored in later for batch in batches_of(stored.data) for one in batch.records)
            return next(
                (one for one in records if one.timestamp >= timestamp and one.offset >= self.start), None
            )
        except Rejected as rejected:
            raise AppendRefused(ErrorCode.CORRUPT_MESSAGE, rejected.text) from None

    def latest(self) -> Record | None:
        """Return the first record with the greatest time: fetchOffsetByTimestamp."""
        return self.first_after(max((stored.max_timestamp for stored in self.stored), default=NO_TIMESTAMP))

    def last_listed(self) -> int:
        """Return the offset from which on ListOffsets names no record for consumers of committed ones."""
        return self.last_stable_offset()

    def local_start(self) -> int:
        """Return the beginning of the log on the disk of the broker, which has no other tier."""
        return self.start

    def tiered_end(self) -> int:
        """Return the last offset in tiered storage: none."""
        return -1

    def check_listed(self, timestamp: int, version: int) -> None:
        """Check that a version of ListOffsets has a number below 0; raises `AppendRefused`."""
        if timestamp < 0 and version < LISTED_SINCE.get(timestamp, version + 1):
            raise AppendRefused(ErrorCode.UNSUPPORTED_VERSION, f"ListOffsets {version} of {timestamp}")


def _out_of_order(found: int, expected: int) -> AppendRefused:
    return AppendRefused(ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, f"sequence {found}, expected {expected}")


# --- cleaning of a compacted topic when a segment ends, after Kafka's Cleaner ---


class CleaningPartition(ServedPartition):
    """Cleans all batches before the one that begins a segment, if the topic says how long that is.

    Records without a value are left, and their batches get the time at which they are deleted.
    """

    def keep(self, form: Form, data: bytes) -> None:
        """Clean the segment that ends with a batch."""
        super().keep(form, data)
        first, last, time = self.stored[0], self.stored[-1], self.settings.segment_ms
        if self.settings.compacted and time is not None and last.max_timestamp - first.max_timestamp > time:
            self.stored = [*self.cleaned(self.stored[:-1]), last]

    def cleaned(self, entries: list[StoredEntry]) -> list[StoredEntry]:
        """Return what is left: for each key the last record that is not aborted; markers; last sequences."""
        kept = self.kept(entries)
        lasts = {
            batch.producer_id: one.last_offset for one, batch in data_in(entries) if batch.producer_id >= 0
        }
        rows = (one if one.is_marker else _left(one, kept) for one in entries)
        return [
            one
            for one in rows
            if one.is_marker
            or (batch := batch_in(one)).records
            or lasts.get(batch.producer_id) == one.last_offset
        ]

    def kept(self, entries: list[StoredEntry]) -> set[int]:
        """Return the offsets of the records that are left."""
        rows = [
            record
            for one, batch in data_in(entries)
            if not self.is_aborted(one, batch)
            for record in batch.records
        ]
        return set({record.key: record.offset for record in rows}.values())

    def is_aborted(self, entry: StoredEntry, batch: RecordBatch) -> bool:
        """Report whether a batch belongs to an aborted transaction."""
        return bool(batch.attributes & TRANSACTIONAL) and any(
            one.producer == batch.producer_id and one.first <= entry.base_offset < one.last
            for one in self.aborted
        )


def batch_in(entry: StoredEntry) -> RecordBatch:
    (batch,) = batches_of(entry.data)
    return batch


def data_in(entries: list[StoredEntry]) -> Iterator[tuple[StoredEntry, RecordBatch]]:
    """Yield the entries that are no markers, each with its batch."""
    return ((one, batch_in(one)) for one in entries if not one.is_marker)


def _left(entry: StoredEntry, kept: set[int]) -> StoredEntry:
    """Return a batch with the records that are left.

    Its base is the time of the first of them, or that at which those without a value are deleted: §1.15.
    """
    batch = batch_in(entry)
    records = [one for one in batch.records if one.offset in kept]
    deletes = any(one.value is None for one in records)
    if len(records) == len(batch.records) and (not deletes or batch.attributes & DELETE_HORIZON):
        return entry
    base, attributes = records[0].timestamp if records else batch.base_timestamp, batch.attributes
    if deletes:
        known = attributes & DELETE_HORIZON
        base = batch.base_timestamp if known else time.time_ns() // 1_000_000 + DELETE_RETENTION_MS
        attributes |= DELETE_HORIZON
    written = tuple(evolve(one, timestamp_delta=one.timestamp - base) for one in records)
    header = evolve(batch, attributes=attributes, base_timestamp=base, records=written)
    return evolve(entry, data=finished(form_of(header)))
