"""A loopback broker to try a check on: sound, or with a fault, which overrides one step of an append."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from struct import pack_into
from typing import Final

from attrs import evolve

from wireproof.family import TrialServer
from wireproof.kafka.layouts import BATCH, HEADS
from wireproof.kafka.values import Record, RecordBatch
from wireproof.live.loopback_broker import append_rules, server
from wireproof.live.loopback_broker.append_rules import BODY, Arrival, Form
from wireproof.live.loopback_broker.partition import Appended, CleaningPartition, ServedPartition
from wireproof.live.loopback_broker.replies import LoopbackCluster
from wireproof.wire.checksums import crc32c

CRC_AT: Final = BATCH.offset("crc")

HEADER: Final = HEADS[2]

# --- edits of stored batches ---


def with_crc(data: bytes, crc: int) -> bytes:
    """Return the bytes of a batch with this CRC."""
    changed = bytearray(data)
    pack_into(">I", changed, CRC_AT, crc)
    return bytes(changed)


def with_right_crc(data: bytes) -> bytes:
    """Return the bytes of one batch with the CRC that they should have."""
    return with_crc(data, crc32c(data[BATCH.offset("attributes") :])) if len(data) >= BODY else data


def with_numbers(data: bytes, **numbers: int) -> bytes:
    """Return the bytes of a batch with these fields of its header, and the right CRC."""
    fields = dict(zip(HEADER.names, HEADER.peek(data), strict=True)) | numbers
    return with_right_crc(HEADER.packing.pack(*fields.values()) + data[BODY:])


def with_records(form: Form, records: tuple[Record, ...]) -> Form:
    """Return the form of a batch with these records."""
    header = evolve(form.header, records=records)
    return Form(header, append_rules.written_records(header))


# --- faults ---


class StoresWrongCrc(CleaningPartition):
    """Stores each batch with a CRC that is off by one."""

    def finish(self, form: Form, arrival: Arrival) -> bytes:
        """Change the CRC."""
        data = super().finish(form, arrival)
        return with_crc(data, HEADER.peek(data)[4] ^ 1)


class ShiftsTimestamps(CleaningPartition):
    """Stores the time of the append as baseTimestamp under CreateTime: each record gets another time."""

    def finish(self, form: Form, arrival: Arrival) -> bytes:
        """Shift by one millisecond."""
        header = evolve(form.header, base_timestamp=form.header.base_timestamp + 1)
        return super().finish(evolve(form, header=header), arrival)


class DropsHeaders(CleaningPartition):
    """Stores records without their headers."""

    def form(self, arrival: Arrival, now: int) -> Form:
        """Drop the headers."""
        form = super().form(arrival, now)
        return with_records(form, tuple(evolve(record, headers=()) for record in form.header.records))


class EmptiesTombstones(CleaningPartition):
    """Stores a null value as an empty one."""

    def form(self, arrival: Arrival, now: int) -> Form:
        """Fill null values."""
        form = super().form(arrival, now)
        return with_records(
            form, tuple(evolve(record, value=record.value or b"") for record in form.header.records)
        )


class DropsData(CleaningPartition):
    """Answers success and stores nothing; the high watermark moves."""

    def keep(self, form: Form, _: bytes) -> None:
        """Drop the bytes."""
        self.end += form.header.last_offset_delta + 1


class StoresTwice(CleaningPartition):
    """Stores each batch twice, with offsets of their own."""

    def keep(self, form: Form, data: bytes) -> None:
        """Store the batch again."""
        super().keep(form, data)
        super().keep(form, with_numbers(data, baseOffset=self.end))


class AnswersNextOffset(CleaningPartition):
    """Answers the offset after the batch instead of the first one of it."""

    def answer(self, form: Form, now: int) -> Appended:
        """Answer the next offset."""
        answer = super().answer(form, now)
        return evolve(answer, base_offset=answer.base_offset + form.header.last_offset_delta + 1)


class StoresDuplicate(CleaningPartition):
    """Stores the batch of an idempotent producer again when it is sent again."""

    def known_producer(self, batch: RecordBatch) -> None:
        """Know no producer."""


# --- the broker by its name ---

FAULTS: Final[Mapping[str, type[ServedPartition]]] = {
    "answers-next-offset": AnswersNextOffset,
    "drops-data": DropsData,
    "drops-headers": DropsHeaders,
    "empties-tombstones": EmptiesTombstones,
    "shifts-timestamps": ShiftsTimestamps,
    "stores-duplicate": StoresDuplicate,
    "stores-twice": StoresTwice,
    "stores-wrong-crc": StoresWrongCrc,
}
"""The faulty partitions by name."""


def _running(fault: str, port: int) -> AbstractContextManager[str]:
    return server.running(LoopbackCluster(FAULTS.get(fault, CleaningPartition)), port=port)


BROKER: Final = TrialServer(
    "kafka-broker",
    "kafka.**",
    {name: (one.__doc__ or "").partition("\n")[0] for name, one in FAULTS.items()},
    _running,
)
"""The broker for `serve broker`."""
