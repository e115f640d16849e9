"""Brokers with one fault each: `FAULTS`, by name. Each class overrides one step of an append.

The faults are those that brokers had, or that a rule of kafka.md §1.7 forbids and one careless line makes.
"""

import re
from collections.abc import Mapping
from inspect import getmembers, isclass
from struct import pack_into
from typing import Final

from attrs import evolve

from tests.live.mock_broker import append_rules, stored_form
from tests.live.mock_broker.append_rules import Arrival, ErrorCode, Refused
from tests.live.mock_broker.partition import Appended, Partition
from tests.live.mock_broker.stored_form import BODY, Form
from wireproof.kafka.attribute_bits import CODEC_MASK, CONTROL, LOG_APPEND_TIME
from wireproof.kafka.batch import HEADER, peek_header
from wireproof.kafka.layouts import BATCH
from wireproof.kafka.values import Record, RecordBatch
from wireproof.wire.checksums import crc32c

CRC_AT: Final = BATCH.offset("crc")
GZIP: Final = 1
DAY_MS: Final = 86_400_000
ANY: Final = 1 << 63

LARGE: Final = 3
"""The number of records at which a broker hangs or dies."""


class Hang(Exception):  # noqa: N818 - an order to the server
    """The server must not answer any more."""


class Die(Exception):  # noqa: N818 - an order to the server
    """The server must close everything."""


def _with_crc(data: bytes, crc: int) -> bytes:
    changed = bytearray(data)
    pack_into(">I", changed, CRC_AT, crc)
    return bytes(changed)


def _with_right_crc(data: bytes) -> bytes:
    """Return the bytes of one batch with the CRC that they should have."""
    return _with_crc(data, crc32c(data[BATCH.offset("attributes") :])) if len(data) >= BODY else data


def _with_numbers(data: bytes, **numbers: int) -> bytes:
    """Return the bytes of a batch with these fields of its header, and the right CRC."""
    fields = dict(zip(HEADER.offsets, HEADER.peek(data, 0), strict=True)) | numbers
    return _with_right_crc(HEADER.packing.pack(*fields.values()) + data[BODY:])


def _with_records(form: Form, records: tuple[Record, ...]) -> Form:
    header = evolve(form.header, records=records)
    return Form(header, stored_form.written_records(header))


# --- faults in what is stored ---


class StoresWrongCrc(Partition):
    """Stores each batch with a CRC that is off by one."""

    def finish(self, form: Form, arrival: Arrival) -> bytes:
        """Change the CRC."""
        data = super().finish(form, arrival)
        return _with_crc(data, HEADER.peek(data, 0)[4] ^ 1)


class AppendTimeWithoutCrc(Partition):
    """Sets LogAppendTime and its time, and leaves the CRC of the producer."""

    def finish(self, form: Form, arrival: Arrival) -> bytes:
        """Keep the CRC where the time is the broker's."""
        data = super().finish(form, arrival)
        return _with_crc(data, HEADER.peek(arrival.data, 0)[4]) if self.settings.append_time else data


class KeepsBaseOffset(Partition):
    """Stores the baseOffset of the producer, 0, instead of the next offset."""

    def finish(self, form: Form, arrival: Arrival) -> bytes:
        """Keep the base offset."""
        header = evolve(form.header, base_offset=arrival.batch.base_offset)
        return super().finish(evolve(form, header=header), arrival)


class LosesLeaderEpoch(Partition):
    """Stores the partitionLeaderEpoch of the producer."""

    def finish(self, form: Form, arrival: Arrival) -> bytes:
        """Keep the epoch."""
        header = evolve(form.header, partition_leader_epoch=arrival.batch.partition_leader_epoch)
        return super().finish(evolve(form, header=header), arrival)


class LosesLastOffsetDelta(Partition):
    """Stores lastOffsetDelta 0, whatever the number of records."""

    def finish(self, form: Form, arrival: Arrival) -> bytes:
        """Lose the delta, not the offsets of the log."""
        return super().finish(evolve(form, header=evolve(form.header, last_offset_delta=0)), arrival)


class ForgetsMaxTimestamp(Partition):
    """Stores maxTimestamp -1."""

    def finish(self, form: Form, arrival: Arrival) -> bytes:
        """Forget the time."""
        return super().finish(evolve(form, header=evolve(form.header, max_timestamp=-1)), arrival)


class KeepsMaxTimestamp(Partition):
    """Stores the maxTimestamp of the producer, also if none of the records has it."""

    def finish(self, form: Form, arrival: Arrival) -> bytes:
        """Keep a wrong time."""
        if self.settings.append_time:
            return super().finish(form, arrival)
        header = evolve(form.header, max_timestamp=arrival.batch.max_timestamp)
        return super().finish(evolve(form, header=header), arrival)


class LosesProducer(Partition):
    """Stores the batch of an idempotent producer without producer id, epoch and sequence."""

    def finish(self, form: Form, arrival: Arrival) -> bytes:
        """Lose the three fields."""
        header = evolve(form.header, producer_id=-1, producer_epoch=-1, base_sequence=-1)
        return super().finish(evolve(form, header=header), arrival)


class KeepsAppendTimeBit(Partition):
    """Stores the LogAppendTime bit of a producer in a topic with CreateTime."""

    def finish(self, form: Form, arrival: Arrival) -> bytes:
        """Keep the bit."""
        bit = arrival.batch.attributes & LOG_APPEND_TIME
        header = evolve(form.header, attributes=form.header.attributes | bit)
        return super().finish(evolve(form, header=header), arrival)


class IgnoresAppendTime(Partition):
    """Stores the times of the producer in a topic with LogAppendTime, and answers its own time."""

    def finish(self, form: Form, arrival: Arrival) -> bytes:
        """Keep timestamp type and time."""
        kept = arrival.batch
        header = evolve(form.header, attributes=kept.attributes, max_timestamp=kept.max_timestamp)
        return super().finish(evolve(form, header=header), arrival)


class ShiftsTimestamps(Partition):
    """Stores the time of the append as baseTimestamp under CreateTime: each record gets another time."""

    def finish(self, form: Form, arrival: Arrival) -> bytes:
        """Shift by one millisecond."""
        header = evolve(form.header, base_timestamp=form.header.base_timestamp + 1)
        return super().finish(evolve(form, header=header), arrival)


class DropsHeaders(Partition):
    """Stores records without their headers."""

    def form(self, arrival: Arrival, now: int) -> Form:
        """Drop the headers."""
        form = super().form(arrival, now)
        return _with_records(form, tuple(evolve(record, headers=()) for record in form.header.records))


class EmptiesTombstones(Partition):
    """Stores a null value as an empty one."""

    def form(self, arrival: Arrival, now: int) -> Form:
        """Fill null values."""
        form = super().form(arrival, now)
        return _with_records(
            form, tuple(evolve(record, value=record.value or b"") for record in form.header.records)
        )


class ReordersRecords(Partition):
    """Stores the records of a batch in the opposite order, with the deltas in order."""

    def form(self, arrival: Arrival, now: int) -> Form:
        """Reverse the records."""
        form = super().form(arrival, now)
        pairs = zip(form.header.records, reversed(form.header.records), strict=True)
        return _with_records(
            form, tuple(evolve(record, offset_delta=place.offset_delta) for place, record in pairs)
        )


class RecompressesWrongly(Partition):
    """Writes the codec of the topic into the attributes and leaves the records as they were."""

    def form(self, arrival: Arrival, now: int) -> Form:
        """Keep the bytes of the records."""
        form = super().form(arrival, now)
        source, target = arrival.batch.attributes & CODEC_MASK, form.header.attributes & CODEC_MASK
        return form if source == target else evolve(form, body=arrival.data[BODY:])


class IgnoresCompressionType(Partition):
    """Stores the codec of the producer, whatever `compression.type` says."""

    def form(self, arrival: Arrival, now: int) -> Form:
        """Use the producer's codec."""
        settings = evolve(self.settings, codec=None)
        return stored_form.stored_form(arrival, settings, self.end, now)


class AlwaysGzip(Partition):
    """Stores every batch with gzip, although the topic asks for the codec of the producer."""

    def form(self, arrival: Arrival, now: int) -> Form:
        """Use gzip."""
        return stored_form.stored_form(arrival, evolve(self.settings, codec=GZIP), self.end, now)


# --- faults in what is refused ---


class AcceptsBadCrc(Partition):
    """Accepts a batch with a wrong CRC and stores it with a right one."""

    def read(self, data: bytes, version: int) -> Arrival:
        """Repair the CRC first."""
        whole = len(data) > BODY and _first_size(data) == len(data)
        return super().read(_with_right_crc(data) if whole else data, version)


class IgnoresControlBit(Partition):
    """Accepts a control batch of a producer and stores it as data."""

    def read(self, data: bytes, version: int) -> Arrival:
        """Clear the bit first."""
        if len(data) > BODY and (attributes := HEADER.peek(data, 0)[5]) & CONTROL:
            data = _with_numbers(data, attributes=attributes & ~CONTROL)
        return super().read(data, version)


class AcceptsBaseOffset(Partition):
    """Accepts a batch with a baseOffset other than 0."""

    def read(self, data: bytes, version: int) -> Arrival:
        """Set it to 0 first."""
        return super().read(_with_numbers(data, baseOffset=0) if _is_sound(data) else data, version)


class TrustsCount(Partition):
    """Moves the high watermark by the count of the producer, and takes any lastOffsetDelta."""

    def read(self, data: bytes, version: int) -> Arrival:
        """Make the delta agree first."""
        if _is_sound(data) and (count := HEADER.peek(data, 0)[-1]) > 0:
            data = _with_numbers(data, lastOffsetDelta=count - 1)
        return super().read(data, version)


class TrustsLastOffsetDelta(Partition):
    """Moves the high watermark by the lastOffsetDelta of the producer, and takes any count."""

    def __init__(self, *settings: object) -> None:
        """Begin without a delta."""
        super().__init__(*settings)  # type: ignore[arg-type]
        self._delta = 0

    def read(self, data: bytes, version: int) -> Arrival:
        """Keep the delta, and make it agree for the checks."""
        if not _is_sound(data) or (count := HEADER.peek(data, 0)[-1]) <= 0:
            arrival = super().read(data, version)
            self._delta = arrival.batch.last_offset_delta
            return arrival
        delta = HEADER.peek(data, 0)[6]
        arrival = super().read(_with_numbers(data, lastOffsetDelta=count - 1), version)
        self._delta = delta
        return arrival

    def form(self, arrival: Arrival, now: int) -> Form:
        """Store the delta of the producer."""
        form = super().form(arrival, now)
        return evolve(form, header=evolve(form.header, last_offset_delta=self._delta))


class AcceptsSeveralBatches(Partition):
    """Accepts a record set of several batches and stores the first."""

    def read(self, data: bytes, version: int) -> Arrival:
        """Cut the set after the first batch."""
        return super().read(data[: _first_size(data)], version)


class AcceptsEmpty(Partition):
    """Accepts a batch without records, stores it and moves the high watermark by one."""

    def read(self, data: bytes, version: int) -> Arrival:
        """Leave out the rules for a batch without records."""
        if not _is_sound(data) or HEADER.peek(data, 0)[-1]:
            return super().read(data, version)
        return Arrival(data, peek_header(data, 0))

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


class AcceptsNoSequence(Partition):
    """Accepts a producer id without a sequence."""

    def read(self, data: bytes, version: int) -> Arrival:
        """Give the batch a sequence first."""
        if _is_sound(data) and (fields := dict(zip(HEADER.offsets, HEADER.peek(data, 0), strict=True))):
            missing = fields["producerId"] >= 0 > fields["baseSequence"]
            data = _with_numbers(data, baseSequence=0) if missing else data
        return super().read(data, version)


class AcceptsKeyless(Partition):
    """Accepts a record without a key in a compacted topic."""

    def check(self, arrival: Arrival, now: int) -> None:
        """Leave the keys out."""
        append_rules.check_records(arrival, evolve(self.settings, compacted=False), now)


class AcceptsAnySize(Partition):
    """Accepts a batch above `max.message.bytes`."""

    def __init__(self, *settings: object) -> None:
        """Begin with another limit."""
        super().__init__(*settings)  # type: ignore[arg-type]
        self.settings = evolve(self.settings, max_bytes=1 << 31)


class AcceptsAnyTime(Partition):
    """Accepts timestamps outside the bounds of the topic."""

    def check(self, arrival: Arrival, now: int) -> None:
        """Take any time."""
        append_rules.check_records(arrival, evolve(self.settings, before_ms=ANY, after_ms=ANY), now)


class RefusesLeaderEpoch(Partition):
    """Refuses a batch whose partitionLeaderEpoch is not -1: kfake did, franz-go#1229."""

    def check(self, arrival: Arrival, now: int) -> None:
        """Check the epoch too."""
        super().check(arrival, now)
        if arrival.batch.partition_leader_epoch != -1:
            raise Refused(ErrorCode.CORRUPT_MESSAGE, "the leader epoch is not -1")


class AnswersNoError(Partition):
    """Answers every refused record set with success, and drops it."""

    def append(self, data: bytes, version: int, transactional_id: str | None, now: int) -> Appended:
        """Answer success."""
        try:
            return super().append(data, version, transactional_id, now)
        except Refused:
            return Appended(self.end)


class AppendsHalfOfRefused(Partition):
    """Refuses a set for one of its records, and has stored the records before."""

    def check(self, arrival: Arrival, now: int) -> None:
        """Store the records before the first wrong one, and refuse."""
        try:
            super().check(arrival, now)
        except Refused as refused:
            if refused.records and (good := arrival.batch.records[: refused.records[0][0]]):
                self._keep_first(arrival.batch, good, now)
            raise

    def _keep_first(self, batch: RecordBatch, good: tuple[Record, ...], now: int) -> None:
        codec = batch.attributes & CODEC_MASK
        form = stored_form.rebuilt(evolve(batch, records=good), codec)
        arrival = Arrival(stored_form.finished(form), form.header)
        form = super().form(arrival, now)
        self.keep(form, super().finish(form, arrival))


class StoresRefused(Partition):
    """Refuses a record set and has stored it: the checks come too late."""

    def check(self, arrival: Arrival, now: int) -> None:
        """Store before the check."""
        try:
            super().check(arrival, now)
        except Refused:
            form = self.form(arrival, now)
            self.keep(form, self.finish(form, arrival))
            raise


class RefusalCutsLog(Partition):
    """Cuts the last batch off the log when it refuses a record set."""

    def append(self, data: bytes, version: int, transactional_id: str | None, now: int) -> Appended:
        """Cut on the way out."""
        try:
            return super().append(data, version, transactional_id, now)
        except Refused:
            if self.stored:
                self.end = self.stored.pop().base_offset
            raise


# --- faults in offsets, and in what is answered ---


class DropsData(Partition):
    """Answers success and stores nothing; the high watermark moves."""

    def keep(self, form: Form, _: bytes) -> None:
        """Drop the bytes."""
        self.end += form.header.last_offset_delta + 1


class StoresTwice(Partition):
    """Stores each batch twice, with offsets of their own."""

    def keep(self, form: Form, data: bytes) -> None:
        """Store the batch again."""
        super().keep(form, data)
        super().keep(form, _with_numbers(data, baseOffset=self.end))


class LeavesGap(Partition):
    """Leaves an offset out after each batch."""

    def keep(self, form: Form, data: bytes) -> None:
        """Skip an offset."""
        super().keep(form, data)
        self.end += 1


class AnswersNextOffset(Partition):
    """Answers the offset after the batch instead of the first one of it."""

    def answer(self, form: Form, now: int) -> Appended:
        """Answer the next offset."""
        answer = super().answer(form, now)
        return evolve(answer, base_offset=answer.base_offset + form.header.last_offset_delta + 1)


class AnswersOtherPartition(Partition):
    """Answers the offset that another partition has: the number of all appends of the broker."""

    appends = 0

    def answer(self, form: Form, now: int) -> Appended:
        """Answer the number of appends."""
        AnswersOtherPartition.appends += 1
        return evolve(super().answer(form, now), base_offset=AnswersOtherPartition.appends)


class AnswersOtherTime(Partition):
    """Answers another append time than it stores."""

    def answer(self, form: Form, now: int) -> Appended:
        """Answer a day later."""
        return super().answer(form, now + DAY_MS)


class AppendTimeOfYesterday(Partition):
    """Stores and answers an append time that is a day old."""

    def append(self, data: bytes, version: int, transactional_id: str | None, now: int) -> Appended:
        """Append yesterday."""
        return super().append(data, version, transactional_id, now - DAY_MS)


class ReadsFromNextBatch(Partition):
    """Answers a Fetch inside a batch with the next batch."""

    def read_from(self, offset: int, max_bytes: int) -> bytes:
        """Leave out the batch that begins before the offset."""
        later = [stored for stored in self.stored if stored.base_offset >= offset]
        return super().read_from(later[0].base_offset, max_bytes) if later else b""


class StoresDuplicate(Partition):
    """Stores the batch of an idempotent producer again when it is sent again."""

    def known_producer(self, batch: RecordBatch) -> None:
        """Know no producer."""


# --- faults of the server ---


class Hangs(Partition):
    """Does not answer a Produce of three records or more."""

    def keep(self, form: Form, data: bytes) -> None:
        """Hang before a larger batch is stored."""
        if len(form.header.records) >= LARGE:
            raise Hang
        super().keep(form, data)


class Dies(Partition):
    """Ends at a Produce of three records or more: every connection is closed, and nobody listens."""

    def keep(self, form: Form, data: bytes) -> None:
        """Die before a larger batch is stored."""
        if len(form.header.records) >= LARGE:
            raise Die
        super().keep(form, data)


def _is_sound(data: bytes) -> bool:
    """Report whether the bytes are one batch with a right CRC, so that a change of it means something."""
    return len(data) >= BODY and _first_size(data) == len(data) and _with_right_crc(data) == data


def _first_size(data: bytes) -> int:
    return 12 + int.from_bytes(data[8:12], "big", signed=True)


def _named() -> Mapping[str, type[Partition]]:
    found = getmembers(__import__(__name__, fromlist=["_"]), isclass)
    faulty = [(name, one) for name, one in found if issubclass(one, Partition) and one is not Partition]
    return {re.sub(r"(?<=[a-z])(?=[A-Z])", "-", name).lower(): one for name, one in faulty}


FAULTS: Final[Mapping[str, type[Partition]]] = _named()
"""The faulty partitions by name, such as `stores-wrong-crc`."""


def partition_class(fault: str | None) -> type[Partition]:
    """Return the partition with this fault, the right one for None; raises `KeyError`."""
    return FAULTS[fault] if fault else Partition
