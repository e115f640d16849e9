"""Faults in the offsets for times. Each class overrides one step of a partition."""

from attrs import evolve

from wireproof.kafka.attribute_bits import CODEC_MASK
from wireproof.kafka.values import Record, RecordBatch
from wireproof.live.loopback_broker.append_rules import Arrival, batches_of
from wireproof.live.loopback_broker.partition import ServedPartition, StoredEntry


def _batch(stored: StoredEntry) -> RecordBatch:
    (batch,) = batches_of(stored.data)
    return batch


class ListsBatches(ServedPartition):
    """Finds the batch of a time, and answers its first record."""

    def first_after(self, timestamp: int) -> Record | None:
        """Return the first record of the batch."""
        found = super().first_after(timestamp)
        batches = (_batch(one) for one in self.stored if found and one.last_offset >= found.offset)
        return next((batch.records[0] for batch in batches), None)


class ListsCompressedBatches(ListsBatches):
    """Does not unpack a compressed batch for the times of its records."""

    def first_after(self, timestamp: int) -> Record | None:
        """Return the first record of a compressed batch."""
        exact, first = ServedPartition.first_after(self, timestamp), super().first_after(timestamp)
        batch = next((one for one in self.stored if exact and one.last_offset >= exact.offset), None)
        return first if batch and _batch(batch).attributes & CODEC_MASK else exact


class ListsBeforeTime(ServedPartition):
    """Answers the last record that is not later than the time: a search that ends one place too early."""

    def first_after(self, timestamp: int) -> Record | None:
        """Go one record back."""
        found = super().first_after(timestamp)
        if found is None or found.timestamp == timestamp or not found.offset:
            return found
        records = [record for stored in self.stored for record in _batch(stored).records]
        return next(record for record in records if record.offset == found.offset - 1)


class ListsLaterTimes(ServedPartition):
    """Answers the first record that is later than the time, and not one of the same time."""

    def first_after(self, timestamp: int) -> Record | None:
        """Look from the next millisecond on."""
        return super().first_after(timestamp + 1)


class ListsSortedTimes(ServedPartition):
    """Takes the times of the batches for rising: it begins behind the last batch that is earlier."""

    def first_after(self, timestamp: int) -> Record | None:
        """Leave out the batches before."""
        places = [place for place, one in enumerate(self.stored) if one.max_timestamp < timestamp]
        whole, self.stored = self.stored, self.stored[places[-1] + 1 if places else 0 :]
        try:
            return super().first_after(timestamp)
        finally:
            self.stored = whole


class ListsEndForFuture(ServedPartition):
    """Answers the last record for a time after it."""

    def first_after(self, timestamp: int) -> Record | None:
        """Return the last record."""
        found = super().first_after(timestamp)
        return found or next((_batch(one).records[-1] for one in reversed(self.stored)), None)


class ListsDeleted(ServedPartition):
    """Answers records before the beginning of the log as long as they are in its file."""

    def first_after(self, timestamp: int) -> Record | None:
        """Begin at 0."""
        start, self.start = self.start, 0
        try:
            return super().first_after(timestamp)
        finally:
            self.start = start


class ListsTimesOfProducers(ServedPartition):
    """Looks for the times that producers wrote, also with append time."""

    def __init__(self, *arguments: object) -> None:
        """Remember no batch."""
        super().__init__(*arguments)  # type: ignore[arg-type] # the settings
        self._written: list[Record] = []

    def check(self, arrival: Arrival, now: int) -> None:
        """Remember the records as they came."""
        super().check(arrival, now)
        self._written += [evolve(one, offset=self.end + one.offset) for one in arrival.batch.records]

    def first_after(self, timestamp: int) -> Record | None:
        """Look among them."""
        return next((one for one in self._written if one.timestamp >= timestamp), None)


class ListsOpenTransactions(ServedPartition):
    """Answers records of open transactions to consumers of committed ones."""

    def last_listed(self) -> int:
        """Return the end."""
        return self.end


class LatestIsLast(ServedPartition):
    """Takes the last record for that with the greatest time."""

    def latest(self) -> Record | None:
        """Return the last one."""
        return next((_batch(one).records[-1] for one in reversed(self.stored)), None)


class LatestIsLastOfBatch(ServedPartition):
    """Answers the last record of the batch with the greatest time, as Kafka before 3.8 (KAFKA-16342)."""

    def latest(self) -> Record | None:
        """Return the last one of the batch."""
        found = super().latest()
        batches = (_batch(one) for one in self.stored if found and one.last_offset >= found.offset)
        return next((batch.records[-1] for batch in batches), None)


class LatestOfEmptyIsFirst(ServedPartition):
    """Answers offset 0 for the greatest time of a log without records."""

    def latest(self) -> Record | None:
        """Return a record that is none."""
        return super().latest() or Record(0, -1, 0, None, None, ())


class LocalStartIsZero(ServedPartition):
    """Answers 0 for the beginning of the log on its disk."""

    def local_start(self) -> int:
        """Return 0."""
        return 0


class TieredEndIsEnd(ServedPartition):
    """Answers the last offset of the log for that in tiered storage, which it does not have."""

    def tiered_end(self) -> int:
        """Return the last offset."""
        return self.end - 1


class ListsEveryNumber(ServedPartition):
    """Takes numbers below 0 that a version does not have for times."""

    def check_listed(self, timestamp: int, version: int) -> None:
        """Check nothing."""
