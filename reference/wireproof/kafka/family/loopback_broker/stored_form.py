"""How a broker stores a batch that it accepts: kafka.md §1.7, from Kafka's LogValidator.

A batch stays as it is but for the fields that the broker sets, unless the topic asks for another codec, or a
compressed batch has offset deltas other than 0, 1, 2, …: then its records are written again.
"""

from typing import Final

from attrs import evolve, frozen

from wireproof.kafka import batch as batch_format
from wireproof.kafka.attribute_bits import (
    CODEC_MASK,
    CONTROL,
    DELETE_HORIZON,
    LOG_APPEND_TIME,
    TRANSACTIONAL,
)
from wireproof.kafka.family.loopback_broker.append_rules import BODY, NO_TIMESTAMP, Arrival
from wireproof.kafka.family.loopback_broker.topic_settings import TopicSettings
from wireproof.kafka.layouts import BATCH
from wireproof.kafka.record import write_records
from wireproof.kafka.values import RecordBatch
from wireproof.wire.compression import compress
from wireproof.wire.layout_codec import patch_computed
from wireproof.wire.writer import Writer

LEADER_EPOCH: Final = 0

KEPT_BITS: Final = CODEC_MASK | TRANSACTIONAL | CONTROL | DELETE_HORIZON
"""The bits that remain when the broker writes the attributes again: DefaultRecordBatch.computeAttributes."""


@frozen
class Form:
    """A batch before its length and its CRC are written.

    Attributes:
        header: the fields of the header; its records are the count's.
        body: the bytes of the records, compressed if the attributes say so.
    """

    header: RecordBatch
    body: bytes


def stored_form(arrival: Arrival, settings: TopicSettings, base_offset: int, now: int) -> Form:
    """Return the form in which the batch is stored at `base_offset`; `now` is the time of the append."""
    source = arrival.batch.attributes & CODEC_MASK
    target = source if settings.codec is None else settings.codec
    deltas = [record.offset_delta for record in arrival.batch.records]
    plain = not source and not target
    if plain or (source == target and deltas == list(range(len(deltas)))):
        form = Form(arrival.batch, arrival.data[BODY:])
    else:
        form = rebuilt(arrival.batch, target)
    header = with_time(form.header, settings, now)
    return evolve(form, header=evolve(header, base_offset=base_offset, partition_leader_epoch=LEADER_EPOCH))


def rebuilt(batch: RecordBatch, codec: int) -> Form:
    """Return a batch with its records written again, with rising offsets: MemoryRecordsBuilder."""
    base = batch.records[0].timestamp
    records = tuple(
        evolve(record, attributes=0, offset_delta=delta, timestamp_delta=record.timestamp - base)
        for delta, record in enumerate(batch.records)
    )
    attributes = codec | batch.attributes & TRANSACTIONAL | batch.attributes & LOG_APPEND_TIME
    header = evolve(
        batch,
        attributes=attributes,
        last_offset_delta=len(records) - 1,
        base_timestamp=base,
        records=records,
    )
    return Form(header, written_records(header))


def written_records(batch: RecordBatch) -> bytes:
    """Return the records as bytes, compressed with the codec of the batch."""
    writer = Writer()
    write_records(writer, batch.records)
    codec = batch.attributes & CODEC_MASK
    return compress(codec, bytes(writer.data)) if codec else bytes(writer.data)


def with_time(batch: RecordBatch, settings: TopicSettings, now: int) -> RecordBatch:
    """Return a batch with timestamp type and maxTimestamp as the topic has them.

    The attributes are written again, without unused bits, only if one of the two changes:
    DefaultRecordBatch.setMaxTimestamp.
    """
    latest = now if settings.append_time else max(NO_TIMESTAMP, *(one.timestamp for one in batch.records))
    bit = LOG_APPEND_TIME if settings.append_time else 0
    if batch.attributes & LOG_APPEND_TIME == bit and batch.max_timestamp == latest:
        return batch
    return evolve(batch, attributes=batch.attributes & KEPT_BITS | bit, max_timestamp=latest)


def finished(form: Form) -> bytes:
    """Return the bytes of a batch, with length and CRC."""
    writer = Writer()
    batch_format.HEADER.write_fields(writer, form.header, recordsCount=len(form.header.records))
    writer.data += form.body
    patch_computed(writer, BATCH, 0)
    return bytes(writer.data)
