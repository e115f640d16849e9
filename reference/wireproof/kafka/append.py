"""What a topic stores of a record set of a producer: kafka.md §1.12, after Kafka's `LogValidator`.

The log of the value begins at offset 0, its leader epoch is 0, and the broker's clock is `APPEND_TIME`:
none of the three is in the bytes. A setting that the topic does not have leaves no bound.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from attrs import evolve

from wireproof.kafka.attribute_bits import CODEC_MASK, DELETE_HORIZON, LOG_APPEND_TIME, TRANSACTIONAL
from wireproof.kafka.layouts import BATCH
from wireproof.kafka.values import Log, LogEntry, Message, Record, RecordBatch
from wireproof.wire.reader import Reader

APPEND_TIME: Final = 2_000_000_000_000
"""The time of the append in expected values, in milliseconds."""

NO_TIMESTAMP: Final = -1
V2: Final = 2

CODECS: Final = {"uncompressed": 0, "gzip": 1, "snappy": 2, "lz4": 3, "zstd": 4}
"""The codecs by the value of `compression.type`; `producer`, the default, keeps the producer's."""

_KEPT_BITS: Final = CODEC_MASK | TRANSACTIONAL | DELETE_HORIZON
"""The bits that the broker keeps where it writes attributes anew; a client sends no control bit."""


def stored(reader: Reader, entries: Sequence[LogEntry], topic: Mapping[str, str]) -> Log:
    """Return the log after the append of `entries` to an empty partition.

    Raises:
        Rejected: `not-permitted`, `invalid-value` and `limit-exceeded`, where Kafka answers INVALID_RECORD,
            INVALID_TIMESTAMP and MESSAGE_TOO_LARGE.
    """
    if not entries:
        raise reader.reject("not-permitted", "batches", "no entry", at=0)
    records = [record for entry in entries for record in _records(entry)]
    _check_size(reader, topic)
    _check_keys(reader, records, topic)
    _check_times(reader, entries, records, topic)
    batch = _batch(entries, records, topic)
    return Log((batch,), batch.last_offset_delta + 1)


def _records(entry: LogEntry) -> tuple[Record, ...]:
    """Return the records of an entry; those of v0 and v1 as records of a batch: KIP-98, conversion."""
    match entry:
        case RecordBatch():
            return entry.records
        case Message():
            inner = (entry,) if entry.messages is None else entry.messages
            return tuple(Record(0, 0, 0, one.key, one.value, (), 0, one.timestamp) for one in inner)


# --- checks ---


def _check_size(reader: Reader, topic: Mapping[str, str]) -> None:
    """Check the size of the batch, with its first 12 bytes: `UnifiedLog.analyzeAndValidateRecords`."""
    largest = topic.get("max.message.bytes")
    if largest is not None and reader.pos > int(largest):
        text = f"{reader.pos} bytes, max.message.bytes is {largest}"
        raise reader.reject("limit-exceeded", "batches[0].batchLength", text, at=BATCH.offset("batchLength"))


def _check_keys(reader: Reader, records: Sequence[Record], topic: Mapping[str, str]) -> None:
    """Check that all have a key if the topic is compacted: `LogValidator.validateKey`."""
    compacted = "compact" in topic.get("cleanup.policy", "").split(",")
    if compacted and any(record.key is None for record in records):
        raise reader.reject("not-permitted", "batches[0].records", "a record without a key", at=reader.pos)


def _check_times(
    reader: Reader, entries: Sequence[LogEntry], records: Sequence[Record], topic: Mapping[str, str]
) -> None:
    """Check the bounds of create times and the bit of append time: `LogValidator.validateTimestamp`."""
    at = BATCH.offset("attributes")
    if _stamps(topic):
        if any(entry.magic and entry.attributes & LOG_APPEND_TIME for entry in entries):
            raise reader.reject(
                "invalid-value", "batches[0].attributes", "LogAppendTime of a producer", at=at
            )
        return
    before, after = (topic.get(f"message.timestamp.{side}.max.ms") for side in ("before", "after"))
    for record in records:
        ahead = record.timestamp - APPEND_TIME
        late = after is not None and ahead > int(after)
        early = before is not None and -ahead > int(before)
        if record.timestamp != NO_TIMESTAMP and (late or early):
            text = f"{record.timestamp} is out of range"
            raise reader.reject("invalid-value", "batches[0].records", text, at=reader.pos)


def _stamps(topic: Mapping[str, str]) -> bool:
    """Return True if the broker sets the timestamps: KIP-32."""
    return topic.get("message.timestamp.type") == "LogAppendTime"


# --- the stored batch ---


def _batch(entries: Sequence[LogEntry], records: Sequence[Record], topic: Mapping[str, str]) -> RecordBatch:
    first = entries[0]
    source = first.attributes & CODEC_MASK
    target = CODECS.get(topic.get("compression.type", "producer"), source)
    counted = [record.offset_delta for record in records] == list(range(len(records)))
    if isinstance(first, RecordBatch) and source == target and (counted or not source):
        return _kept(first, topic)
    return _built(first, records, target, topic)


def _kept(batch: RecordBatch, topic: Mapping[str, str]) -> RecordBatch:
    """Return a batch whose records stay as they are: `assignOffsetsNonCompressed`, in-place assignment.

    The attributes are written anew only where the time or its type changes (`setMaxTimestamp`).
    """
    latest = APPEND_TIME if _stamps(topic) else max(record.timestamp for record in batch.records)
    bit = LOG_APPEND_TIME if _stamps(topic) else 0
    changed = batch.max_timestamp != latest or batch.attributes & LOG_APPEND_TIME != bit
    attributes = batch.attributes & _KEPT_BITS | bit if changed else batch.attributes
    return _placed(evolve(batch, attributes=attributes, max_timestamp=latest), batch.records)


def _built(first: LogEntry, records: Sequence[Record], codec: int, topic: Mapping[str, str]) -> RecordBatch:
    """Return a new batch of the same records: `buildRecordsAndAssignOffsets`, `MemoryRecordsBuilder`.

    It counts from 0, its base is the time of its first record, and bits without a meaning are gone.
    """
    base = records[0].timestamp
    producer = (
        (first.producer_id, first.producer_epoch, first.base_sequence)
        if isinstance(first, RecordBatch)
        else (-1, -1, -1)
    )
    attributes = codec | (first.attributes & TRANSACTIONAL if isinstance(first, RecordBatch) else 0)
    latest = max(record.timestamp for record in records)
    rebuilt = tuple(
        evolve(record, attributes=0, timestamp_delta=record.timestamp - base, offset_delta=number)
        for number, record in enumerate(records)
    )
    batch = RecordBatch(
        0,
        0,
        V2,
        attributes | (LOG_APPEND_TIME if _stamps(topic) else 0),
        len(records) - 1,
        base,
        APPEND_TIME if _stamps(topic) else latest,
        *producer,
        rebuilt,
    )
    return _placed(batch, rebuilt)


def _placed(batch: RecordBatch, records: Sequence[Record]) -> RecordBatch:
    """Return the batch at offset 0, with the offsets and timestamps that a consumer gets: §1.8, §1.10."""
    stamped = batch.attributes & LOG_APPEND_TIME
    placed = (
        evolve(
            record,
            offset=record.offset_delta,
            timestamp=batch.max_timestamp if stamped else batch.base_timestamp + record.timestamp_delta,
        )
        for record in records
    )
    return evolve(batch, base_offset=0, partition_leader_epoch=0, records=tuple(placed))
