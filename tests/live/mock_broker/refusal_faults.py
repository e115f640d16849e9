"""Faults in what a broker refuses. Each class overrides one step of an append."""

from typing import Final

from attrs import evolve

from tests.live.mock_broker.batch_edits import first_size, is_sound
from wireproof.kafka.attribute_bits import CONTROL
from wireproof.kafka.entry import peek_batch
from wireproof.kafka.layouts import HEADS
from wireproof.kafka.values import Record, RecordBatch
from wireproof.live.loopback_broker import append_rules
from wireproof.live.loopback_broker.append_rules import BODY, AppendRefused, Arrival, ErrorCode, Form
from wireproof.live.loopback_broker.faults import with_numbers, with_right_crc
from wireproof.live.loopback_broker.partition import Appended, ServedPartition

ANY: Final = 1 << 63


class AcceptsBadCrc(ServedPartition):
    """Accepts a batch with a wrong CRC and stores it with a right one."""

    def read(self, data: bytes, version: int) -> Arrival:
        """Repair the CRC first."""
        whole = len(data) > BODY and first_size(data) == len(data)
        return super().read(with_right_crc(data) if whole else data, version)


class IgnoresControlBit(ServedPartition):
    """Accepts a control batch of a producer and stores it as data."""

    def read(self, data: bytes, version: int) -> Arrival:
        """Clear the bit first."""
        if len(data) > BODY and (attributes := HEADS[2].peek(data)[5]) & CONTROL:
            data = with_numbers(data, attributes=attributes & ~CONTROL)
        return super().read(data, version)


class AcceptsBaseOffset(ServedPartition):
    """Accepts a batch with a baseOffset other than 0."""

    def read(self, data: bytes, version: int) -> Arrival:
        """Set it to 0 first."""
        return super().read(with_numbers(data, baseOffset=0) if is_sound(data) else data, version)


class TrustsCount(ServedPartition):
    """Moves the high watermark by the count of the producer, and takes any lastOffsetDelta."""

    def read(self, data: bytes, version: int) -> Arrival:
        """Make the delta agree first."""
        if is_sound(data) and (count := HEADS[2].peek(data)[-1]) > 0:
            data = with_numbers(data, lastOffsetDelta=count - 1)
        return super().read(data, version)


class TrustsLastOffsetDelta(ServedPartition):
    """Moves the high watermark by the lastOffsetDelta of the producer, and takes any count."""

    def __init__(self, *settings: object) -> None:
        """Begin without a delta."""
        super().__init__(*settings)  # type: ignore[arg-type]
        self._delta = 0

    def read(self, data: bytes, version: int) -> Arrival:
        """Keep the delta, and make it agree for the checks."""
        if not is_sound(data) or (count := HEADS[2].peek(data)[-1]) <= 0:
            arrival = super().read(data, version)
            self._delta = arrival.batch.last_offset_delta
            return arrival
        delta = HEADS[2].peek(data)[6]
        arrival = super().read(with_numbers(data, lastOffsetDelta=count - 1), version)
        self._delta = delta
        return arrival

    def form(self, arrival: Arrival, now: int) -> Form:
        """Store the delta of the producer."""
        form = super().form(arrival, now)
        return evolve(form, header=evolve(form.header, last_offset_delta=self._delta))


class AcceptsSeveralBatches(ServedPartition):
    """Accepts a record set of several batches and stores the first."""

    def read(self, data: bytes, version: int) -> Arrival:
        """Cut the set after the first batch."""
        return super().read(data[: first_size(data)], version)


class AcceptsEmpty(ServedPartition):
    """Accepts a batch without records, stores it and moves the high watermark by one."""

    def read(self, data: bytes, version: int) -> Arrival:
        """Leave out the rules for a batch without records."""
        if not is_sound(data) or HEADS[2].peek(data)[-1]:
            return super().read(data, version)
        return Arrival(data, peek_batch(data))

    def form(self, arrival: Arrival, now: int) -> Form:
        """Store such a batch as it is."""
        if arrival.batch.records:
            return super().form(arrival, now)
        header = evolve(arrival.batch, base_offset=self.end, partition_leader_epoch=0)
        return Form(header, arrival.data[BODY:])

    def keep(self, form: Form, data: bytes) -> None:
        """Move the end for such a batch too."""
        header = form.header if form.header.records else evolve(form.header, last_offset_delta=0)
        super().keep(evolve(form, header=header), data)


class AcceptsNoSequence(ServedPartition):
    """Accepts a producer id without a sequence."""

    def read(self, data: bytes, version: int) -> Arrival:
        """Give the batch a sequence first."""
        if is_sound(data) and (fields := dict(zip(HEADS[2].names, HEADS[2].peek(data), strict=True))):
            missing = fields["producerId"] >= 0 > fields["baseSequence"]
            data = with_numbers(data, baseSequence=0) if missing else data
        return super().read(data, version)


class AcceptsKeyless(ServedPartition):
    """Accepts a record without a key in a compacted topic."""

    def check(self, arrival: Arrival, now: int) -> None:
        """Leave the keys out."""
        append_rules.check_records(arrival, evolve(self.settings, compacted=False), now)


class AcceptsAnySize(ServedPartition):
    """Accepts a batch above `max.message.bytes`."""

    def __init__(self, *settings: object) -> None:
        """Begin with another limit."""
        super().__init__(*settings)  # type: ignore[arg-type]
        self.settings = evolve(self.settings, max_bytes=1 << 31)


class AcceptsAnyTime(ServedPartition):
    """Accepts timestamps outside the bounds of the topic."""

    def check(self, arrival: Arrival, now: int) -> None:
        """Take any time."""
        append_rules.check_records(arrival, evolve(self.settings, before_ms=ANY, after_ms=ANY), now)


class RefusesLeaderEpoch(ServedPartition):
    """Refuses a batch whose partitionLeaderEpoch is not -1: kfake did, franz-go#1229."""

    def check(self, arrival: Arrival, now: int) -> None:
        """Check the epoch too."""
        super().check(arrival, now)
        if arrival.batch.partition_leader_epoch != -1:
            raise AppendRefused(ErrorCode.CORRUPT_MESSAGE, "the leader epoch is not -1")


class AnswersNoError(ServedPartition):
    """Answers every refused record set with success, and drops it."""

    def append(self, data: bytes, version: int, transactional_id: str | None, now: int) -> Appended:
        """Answer success."""
        try:
            return super().append(data, version, transactional_id, now)
        except AppendRefused:
            return Appended(self.end)


class AppendsHalfOfRefused(ServedPartition):
    """Refuses a set for one of its records, and has stored the records before."""

    def check(self, arrival: Arrival, now: int) -> None:
        """Store the records before the first wrong one, and refuse."""
        try:
            super().check(arrival, now)
        except AppendRefused as refused:
            if refused.records and (good := arrival.batch.records[: refused.records[0][0]]):
                self._keep_first(arrival.batch, good, now)
            raise

    def _keep_first(self, batch: RecordBatch, good: tuple[Record, ...], now: int) -> None:
        first = evolve(batch, records=good, last_offset_delta=len(good) - 1)
        form = Form(first, append_rules.written_records(first))
        arrival = Arrival(append_rules.finished(form), first)
        form = super().form(arrival, now)
        self.keep(form, super().finish(form, arrival))


class StoresRefused(ServedPartition):
    """Refuses a record set and has stored it: the checks come too late."""

    def check(self, arrival: Arrival, now: int) -> None:
        """Store before the check."""
        try:
            super().check(arrival, now)
        except AppendRefused:
            form = self.form(arrival, now)
            self.keep(form, self.finish(form, arrival))
            raise


class RefusalCutsLog(ServedPartition):
    """Cuts the last batch off the log when it refuses a record set."""

    def append(self, data: bytes, version: int, transactional_id: str | None, now: int) -> Appended:
        """Cut on the way out."""
        try:
            return super().append(data, version, transactional_id, now)
        except AppendRefused:
            if self.stored:
                self.end = self.stored.pop().base_offset
            raise
