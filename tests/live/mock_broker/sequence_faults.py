"""Faults that show in several requests only: of producers, of transactions, and of fetches.

Each class overrides one step of a partition.
"""

from wireproof.kafka.values import RecordBatch
from wireproof.live.loopback_broker.append_rules import AppendRefused, ErrorCode
from wireproof.live.loopback_broker.partition import (
    SEQUENCES,
    Aborted,
    Appended,
    KnownProducer,
    ServedPartition,
)

# --- producers ---


class AcceptsGap(ServedPartition):
    """Accepts a batch whose sequence does not follow the last one."""

    def check_sequence(self, known: KnownProducer, first: int) -> None:
        """Check nothing."""


class RemembersOneBatch(ServedPartition):
    """Knows the last batch of a producer only, and refuses a retry of the one before it."""

    def known_producer(self, batch: RecordBatch) -> KnownProducer | Appended | None:
        """Forget all batches but the last one."""
        known = self._producers.get(batch.producer_id)
        while known is not None and len(known.batches) > 1:
            known.batches.popleft()
        return super().known_producer(batch)


class AnswersRetryWithEnd(ServedPartition):
    """Does not store a batch again, and answers the end of the log for it."""

    def known_producer(self, batch: RecordBatch) -> KnownProducer | Appended | None:
        """Answer the end."""
        known = super().known_producer(batch)
        return Appended(self.end) if isinstance(known, Appended) else known


class SequencesDoNotWrap(ServedPartition):
    """Expects 2147483648 after 2147483647."""

    def check_sequence(self, known: KnownProducer, first: int) -> None:
        """Count on."""
        if known.batches and known.batches[-1][1] == SEQUENCES - 1:
            raise AppendRefused(ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, "sequence 0, expected 2147483648")
        super().check_sequence(known, first)


class AcceptsOldEpoch(ServedPartition):
    """Accepts a batch of an older epoch, as if it were of the latest one."""

    def check_epoch(self, known: KnownProducer, epoch: int) -> None:
        """Check nothing."""


class NewEpochIsRetry(ServedPartition):
    """Takes the same sequences in a new epoch for a retry."""

    def known_producer(self, batch: RecordBatch) -> KnownProducer | Appended | None:
        """Look at the sequences alone."""
        known = self._producers.get(batch.producer_id)
        last = (batch.base_sequence + batch.last_offset_delta) % SEQUENCES
        for begin, end, answer in known.batches if known else ():
            if (begin, end) == (batch.base_sequence, last):
                return answer
        return super().known_producer(batch)


class ForgetsDeletedProducer(ServedPartition):
    """Forgets its producers when records are deleted, as brokers before KIP-360."""

    def delete_before(self, offset: int) -> int:
        """Forget all."""
        self._producers.clear()
        return super().delete_before(offset)


# --- transactions ---


class StableOffsetIsEnd(ServedPartition):
    """Returns records of open transactions to consumers of committed ones."""

    def last_stable_offset(self) -> int:
        """Return the high watermark."""
        return self.end


class StableOffsetOfLast(ServedPartition):
    """Takes the latest open transaction for the bound, and not the first one."""

    def last_stable_offset(self) -> int:
        """Return the largest first offset."""
        return max(self.open.values(), default=self.end)


class StableOffsetOfEnded(ServedPartition):
    """Moves the stable offset to the end with every marker, whoever else is in a transaction."""

    def write_marker(self, producer: int, epoch: int, *, commit: bool, now: int) -> None:
        """Close every transaction."""
        super().write_marker(producer, epoch, commit=commit, now=now)
        self.open.clear()


class NamesNoAborted(ServedPartition):
    """Names no aborted transactions."""

    def aborted_between(self, offset: int, end: int) -> list[Aborted]:
        """Return none of them."""
        return super().aborted_between(offset, end)[:0]


class NamesAllAborted(ServedPartition):
    """Names every aborted transaction of the log, also those before the fetched range."""

    def aborted_between(self, offset: int, end: int) -> list[Aborted]:
        """Look from the beginning."""
        return super().aborted_between(min(offset, 0), end)


class CommitIsAbort(ServedPartition):
    """Names each committed transaction as aborted."""

    def write_marker(self, producer: int, epoch: int, *, commit: bool, now: int) -> None:
        """Note the transaction."""
        first = self.open.get(producer)
        super().write_marker(producer, epoch, commit=commit, now=now)
        if commit and first is not None:
            self.aborted.append(Aborted(producer, first, self.end - 1))


class MarkerKeepsEpoch(ServedPartition):
    """Writes the marker of a transaction with the epoch of its batches, also with transactions v2."""

    def write_marker(self, producer: int, epoch: int, *, commit: bool, now: int) -> None:
        """Use the last epoch."""
        known = self._producers.get(producer)
        super().write_marker(producer, known.epoch if known else epoch, commit=commit, now=now)


class AcceptsPlainInTransaction(ServedPartition):
    """Accepts a batch without the transactional bit while a transaction of its producer is open."""

    def check_transaction(self, batch: RecordBatch) -> None:
        """Check nothing."""


# --- fetches ---


class RefusesLargeFirstBatch(ServedPartition):
    """Returns nothing if the first batch is larger than the limit."""

    def read_from(self, offset: int, max_bytes: int, bound: int | None = None) -> bytes:
        """Keep to the limit."""
        found = super().read_from(offset, max_bytes, bound)
        return found if len(found) <= max_bytes else b""


class ReadsDeleted(ServedPartition):
    """Returns deleted records for as long as they are in its file."""

    def check_range(self, offset: int) -> None:
        """Begin at 0."""
        start, self.start = self.start, 0
        try:
            super().check_range(offset)
        finally:
            self.start = start


class WaitsPastEnd(ServedPartition):
    """Returns nothing for an offset past the end, as if it came later."""

    def check_range(self, offset: int) -> None:
        """Accept any end."""
        super().check_range(min(offset, self.end))


class ReusesDeletedOffsets(ServedPartition):
    """Begins at offset 0 again when all records are deleted."""

    def delete_before(self, offset: int) -> int:
        """Clear the log."""
        start = super().delete_before(offset)
        if self.start == self.end:
            self.stored.clear()
            self.start = self.end = 0
        return start
