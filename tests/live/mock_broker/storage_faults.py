"""Faults in what a broker stores. Each class overrides one step of an append."""

from typing import Final

from attrs import evolve

from wireproof.kafka.attribute_bits import CODEC_MASK, LOG_APPEND_TIME
from wireproof.kafka.layouts import HEADS
from wireproof.live.loopback_broker import append_rules
from wireproof.live.loopback_broker.append_rules import BODY, Arrival, Form
from wireproof.live.loopback_broker.faults import with_crc, with_records
from wireproof.live.loopback_broker.partition import ServedPartition

GZIP: Final = 1


class AppendTimeWithoutCrc(ServedPartition):
    """Sets LogAppendTime and its time, and leaves the CRC of the producer."""

    def finish(self, form: Form, arrival: Arrival) -> bytes:
        """Keep the CRC where the time is the broker's."""
        data = super().finish(form, arrival)
        return with_crc(data, HEADS[2].peek(arrival.data)[4]) if self.settings.append_time else data


class KeepsBaseOffset(ServedPartition):
    """Stores the baseOffset of the producer, 0, instead of the next offset."""

    def finish(self, form: Form, arrival: Arrival) -> bytes:
        """Keep the base offset."""
        header = evolve(form.header, base_offset=arrival.batch.base_offset)
        return super().finish(evolve(form, header=header), arrival)


class LosesLeaderEpoch(ServedPartition):
    """Stores the partitionLeaderEpoch of the producer."""

    def finish(self, form: Form, arrival: Arrival) -> bytes:
        """Keep the epoch."""
        header = evolve(form.header, partition_leader_epoch=arrival.batch.partition_leader_epoch)
        return super().finish(evolve(form, header=header), arrival)


class LosesLastOffsetDelta(ServedPartition):
    """Stores lastOffsetDelta 0, whatever the number of records."""

    def finish(self, form: Form, arrival: Arrival) -> bytes:
        """Lose the delta, not the offsets of the log."""
        return super().finish(evolve(form, header=evolve(form.header, last_offset_delta=0)), arrival)


class ForgetsMaxTimestamp(ServedPartition):
    """Stores maxTimestamp -1."""

    def finish(self, form: Form, arrival: Arrival) -> bytes:
        """Forget the time."""
        return super().finish(evolve(form, header=evolve(form.header, max_timestamp=-1)), arrival)


class KeepsMaxTimestamp(ServedPartition):
    """Stores the maxTimestamp of the producer, also if none of the records has it."""

    def finish(self, form: Form, arrival: Arrival) -> bytes:
        """Keep a wrong time."""
        if self.settings.append_time:
            return super().finish(form, arrival)
        header = evolve(form.header, max_timestamp=arrival.batch.max_timestamp)
        return super().finish(evolve(form, header=header), arrival)


class LosesProducer(ServedPartition):
    """Stores the batch of an idempotent producer without producer id, epoch and sequence."""

    def finish(self, form: Form, arrival: Arrival) -> bytes:
        """Lose the three fields."""
        header = evolve(form.header, producer_id=-1, producer_epoch=-1, base_sequence=-1)
        return super().finish(evolve(form, header=header), arrival)


class KeepsAppendTimeBit(ServedPartition):
    """Stores the LogAppendTime bit of a producer in a topic with CreateTime."""

    def finish(self, form: Form, arrival: Arrival) -> bytes:
        """Keep the bit."""
        bit = arrival.batch.attributes & LOG_APPEND_TIME
        header = evolve(form.header, attributes=form.header.attributes | bit)
        return super().finish(evolve(form, header=header), arrival)


class IgnoresAppendTime(ServedPartition):
    """Stores the times of the producer in a topic with LogAppendTime, and answers its own time."""

    def finish(self, form: Form, arrival: Arrival) -> bytes:
        """Keep timestamp type and time."""
        kept = arrival.batch
        header = evolve(form.header, attributes=kept.attributes, max_timestamp=kept.max_timestamp)
        return super().finish(evolve(form, header=header), arrival)


class ReordersRecords(ServedPartition):
    """Stores the records of a batch in the opposite order, with the deltas in order."""

    def form(self, arrival: Arrival, now: int) -> Form:
        """Reverse the records."""
        form = super().form(arrival, now)
        pairs = zip(form.header.records, reversed(form.header.records), strict=True)
        return with_records(
            form, tuple(evolve(record, offset_delta=place.offset_delta) for place, record in pairs)
        )


class RecompressesWrongly(ServedPartition):
    """Writes the codec of the topic into the attributes and leaves the records as they were."""

    def form(self, arrival: Arrival, now: int) -> Form:
        """Keep the bytes of the records."""
        form = super().form(arrival, now)
        source, target = arrival.batch.attributes & CODEC_MASK, form.header.attributes & CODEC_MASK
        return form if source == target else evolve(form, body=arrival.data[BODY:])


class IgnoresCompressionType(ServedPartition):
    """Stores the codec of the producer, whatever `compression.type` says."""

    def form(self, arrival: Arrival, now: int) -> Form:
        """Use the producer's codec."""
        settings = evolve(self.settings, codec=None)
        return append_rules.stored_form(arrival, settings, self.end, now)


class AlwaysGzip(ServedPartition):
    """Stores every batch with gzip, although the topic asks for the codec of the producer."""

    def form(self, arrival: Arrival, now: int) -> Form:
        """Use gzip."""
        return append_rules.stored_form(arrival, evolve(self.settings, codec=GZIP), self.end, now)
