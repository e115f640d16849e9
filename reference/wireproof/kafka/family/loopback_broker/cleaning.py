"""A partition that cleans a compacted topic when a segment ends, after Kafka's Cleaner."""

from collections.abc import Iterator

from attrs import evolve

from wireproof.kafka.attribute_bits import TRANSACTIONAL
from wireproof.kafka.family.loopback_broker.append_rules import Form, batches_of, finished, written_records
from wireproof.kafka.family.loopback_broker.partition import ServedPartition, StoredEntry
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
        lasts = {batch.producer_id: one.last_offset for one, batch in data_in(entries)}
        return [
            left
            for one in entries
            if (left := one if one.is_marker else _left(one, kept)) is not None
            and (left.is_marker or records_in(left) or _keeps_sequence(left, lasts))
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
    """Return the batch of an entry."""
    (batch,) = batches_of(entry.data)
    return batch


def records_in(entry: StoredEntry) -> tuple[Record, ...]:
    """Return the records of an entry."""
    return batch_in(entry).records


def data_in(entries: list[StoredEntry]) -> Iterator[tuple[StoredEntry, RecordBatch]]:
    """Yield the entries that are no markers, each with its batch."""
    return ((one, batch_in(one)) for one in entries if not one.is_marker)


def _keeps_sequence(entry: StoredEntry, lasts: dict[int, int]) -> bool:
    producer = batch_in(entry).producer_id
    return producer >= 0 and lasts[producer] == entry.last_offset


def _left(entry: StoredEntry, kept: set[int]) -> StoredEntry:
    """Return a batch with the records that are left; its base is the time of the first of them."""
    batch = batch_in(entry)
    records = [one for one in batch.records if one.offset in kept]
    if len(records) == len(batch.records):
        return entry
    base = records[0].timestamp if records else batch.base_timestamp
    written = tuple(evolve(one, timestamp_delta=one.timestamp - base) for one in records)
    header = evolve(batch, base_timestamp=base, records=written)
    return evolve(entry, data=finished(Form(header, written_records(header))))
