"""A partition that cleans a compacted topic when a segment ends, after Kafka's Cleaner, and its faults."""

from collections.abc import Iterator
from typing import Any

from attrs import evolve

from wireproof.kafka.attribute_bits import TRANSACTIONAL
from wireproof.kafka.family.loopback_broker.append_rules import Form, batches_of, finished, written_records
from wireproof.kafka.family.loopback_broker.partition import Aborted, ServedPartition, StoredEntry
from wireproof.kafka.values import Record, RecordBatch


class CleaningPartition(ServedPartition):
    """Cleans all batches before the one that begins a segment, if the topic says how long that is.

    Records without a value are left.
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
        lasts = {batch.producer_id: one.last_offset for one, batch in _data(entries)}
        return [
            left
            for one in entries
            if (left := one if one.is_marker else _left(one, kept)) is not None
            and (left.is_marker or _records(left) or _keeps_sequence(left, lasts))
        ]

    def kept(self, entries: list[StoredEntry]) -> set[int]:
        """Return the offsets of the records that are left."""
        rows = [
            record
            for one, batch in _data(entries)
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


def _batch(entry: StoredEntry) -> RecordBatch:
    (batch,) = batches_of(entry.data)
    return batch


def _records(entry: StoredEntry) -> tuple[Record, ...]:
    return _batch(entry).records


def _data(entries: list[StoredEntry]) -> Iterator[tuple[StoredEntry, RecordBatch]]:
    return ((one, _batch(one)) for one in entries if not one.is_marker)


def _keeps_sequence(entry: StoredEntry, lasts: dict[int, int]) -> bool:
    producer = _batch(entry).producer_id
    return producer >= 0 and lasts[producer] == entry.last_offset


def _left(entry: StoredEntry, kept: set[int]) -> StoredEntry:
    """Return a batch with the records that are left; its base is the time of the first of them."""
    batch = _batch(entry)
    records = [one for one in batch.records if one.offset in kept]
    if len(records) == len(batch.records):
        return entry
    base = records[0].timestamp if records else batch.base_timestamp
    written = tuple(evolve(one, timestamp_delta=one.timestamp - base) for one in records)
    header = evolve(batch, base_timestamp=base, records=written)
    return evolve(entry, data=finished(Form(header, written_records(header))))


class CleansMarkers(CleaningPartition):
    """Takes markers for records, whose keys are equal: of each kind the last one is left."""

    def cleaned(self, entries: list[StoredEntry]) -> list[StoredEntry]:
        """Leave the last marker of each key."""
        last = {_records(one)[0].key: one.base_offset for one in entries if one.is_marker}
        return [
            one for one in super().cleaned(entries) if not one.is_marker or one.base_offset in last.values()
        ]


class CleansMarkersOfOthers(CleaningPartition):
    """Leaves the markers of the producer that ended a transaction last."""

    def cleaned(self, entries: list[StoredEntry]) -> list[StoredEntry]:
        """Leave those of one producer."""
        producers = [_batch(one).producer_id for one in entries if one.is_marker]
        return [
            one
            for one in super().cleaned(entries)
            if not one.is_marker or _batch(one).producer_id == producers[-1]
        ]


class CleansNewerRecords(CleaningPartition):
    """Leaves the first record of each key."""

    def kept(self, entries: list[StoredEntry]) -> set[int]:
        """Begin at the end."""
        rows = [record for _, batch in _data(entries) for record in batch.records]
        return set({record.key: record.offset for record in reversed(rows)}.values())


class CleaningCountsAborted(CleaningPartition):
    """Takes aborted records for the state of their keys."""

    def is_aborted(self, *_: Any, **__: Any) -> bool:
        """Know no aborted batch."""
        return False


class CleaningForgetsAborted(CleaningPartition):
    """Names no aborted transaction any more after it has cleaned."""

    def cleaned(self, entries: list[StoredEntry]) -> list[StoredEntry]:
        """Forget them."""
        left = super().cleaned(entries)
        self.aborted = list[Aborted]()
        return left


class CleaningKeepsTimes(CleaningPartition):
    """Answers the times of records that were cleaned away."""

    def cleaned(self, entries: list[StoredEntry]) -> list[StoredEntry]:
        """Keep what was there."""
        self._before = [record for _, batch in _data(entries) for record in batch.records]
        return super().cleaned(entries)

    def first_after(self, timestamp: int) -> Record | None:
        """Look there first."""
        found = (one for one in getattr(self, "_before", ()) if one.timestamp >= timestamp)
        return next(found, None) or super().first_after(timestamp)
