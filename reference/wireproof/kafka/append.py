"""What a topic stores of a record set of a producer: kafka.md §1.12, after Kafka's `LogValidator`.

The log of a case begins at offset 0, its leader epoch is 0, and the broker's clock is `APPEND_TIME`: none of
the three is in the bytes. A setting that the topic of a case does not have leaves no bound.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, Self

from attrs import evolve, frozen

from wireproof.kafka.attribute_bits import (
    CODEC_MASK,
    CONTROL,
    DELETE_HORIZON,
    LOG_APPEND_TIME,
    TRANSACTIONAL,
)
from wireproof.kafka.layouts import BATCH
from wireproof.kafka.values import Log, LogEntry, Message, Record, RecordBatch
from wireproof.wire.reader import Reader
from wireproof.wire.reject_classes import RejectClass

APPEND_TIME: Final = 2_000_000_000_000
"""The time of the append in expected values, in milliseconds."""

NO_TIMESTAMP: Final = -1
V2: Final = 2
INT64_MAX: Final = (1 << 63) - 1

CODECS: Final = {"uncompressed": 0, "none": 0, "gzip": 1, "snappy": 2, "lz4": 3, "zstd": 4, "producer": None}
"""The codec of each `compression.type`; None: the producer's."""

KEPT_BITS: Final = CODEC_MASK | TRANSACTIONAL | CONTROL | DELETE_HORIZON
"""The bits that remain when the broker writes the attributes again: DefaultRecordBatch.computeAttributes."""


# --- topic settings: Kafka's documentation, "Topic Configs" ---


def _number(text: str) -> int:
    number = int(text)
    if not 0 <= number <= INT64_MAX:
        raise ValueError(text)
    return number


def _policies(text: str) -> bool:
    policies = set(text.split(","))
    if not policies <= {"compact", "delete"}:
        raise ValueError(text)
    return "compact" in policies


SETTINGS: Final[Mapping[str, tuple[str, Callable[[str], Any]]]] = {
    "message.timestamp.type": ("append_time", {"CreateTime": False, "LogAppendTime": True}.__getitem__),
    "compression.type": ("codec", CODECS.__getitem__),
    "cleanup.policy": ("compacted", _policies),
    "max.message.bytes": ("max_bytes", _number),
    "message.downconversion.enable": ("down_conversion", {"true": True, "false": False}.__getitem__),
    "segment.ms": ("segment_ms", _number),
    "message.timestamp.before.max.ms": ("before_ms", _number),
    "message.timestamp.after.max.ms": ("after_ms", _number),
}
"""The attribute of each setting, and how its text is read."""


class InvalidSettingError(ValueError):
    """A topic cannot have this setting."""


def read_setting(name: str, text: str) -> tuple[str, Any]:
    """Return the attribute and the value of a setting; raise `InvalidSettingError`."""
    try:
        attribute, read = SETTINGS[name]
        return attribute, read(text)
    except (KeyError, ValueError):
        raise InvalidSettingError(f"a topic cannot have {name}={text}") from None


@frozen
class TopicSettings:
    """The settings of a topic, as far as they change an append or what is returned of it.

    Attributes:
        append_time: whether `message.timestamp.type` is LogAppendTime: KIP-32.
        codec: of `compression.type`, None for the producer's.
        compacted: whether `cleanup.policy` has `compact`.
        max_bytes: `max.message.bytes`; None for no bound.
        down_conversion: `message.downconversion.enable`.
        segment_ms: `segment.ms`; None where it is not given.
        before_ms, after_ms: `message.timestamp.before.max.ms` and `message.timestamp.after.max.ms`; None for
            no bound.
    """

    append_time: bool = False
    codec: int | None = None
    compacted: bool = False
    max_bytes: int | None = None
    down_conversion: bool = True
    segment_ms: int | None = None
    before_ms: int | None = None
    after_ms: int | None = None

    @classmethod
    def of(cls, topic: Mapping[str, str]) -> Self:
        """Return the known settings of the topic of a case; raise `InvalidSettingError`."""
        return cls(**dict(read_setting(name, text) for name, text in topic.items() if name in SETTINGS))


def stored(reader: Reader, entries: Sequence[LogEntry], topic: Mapping[str, str]) -> Log:
    """Return the log after the append of `entries` to an empty partition.

    Raises:
        Rejected: `not-permitted`, `invalid-value` and `limit-exceeded`, where Kafka answers INVALID_RECORD,
            INVALID_TIMESTAMP and MESSAGE_TOO_LARGE; `invalid-value` for a topic that cannot be.
    """
    if not entries:
        raise reader.reject("not-permitted", "batches", "no entry", at=0)
    try:
        settings = TopicSettings.of(topic)
    except InvalidSettingError as error:
        raise reader.reject("invalid-value", "options.topic", str(error), at=0) from None
    if settings.max_bytes is not None and reader.pos > settings.max_bytes:
        # with its first 12 bytes: `UnifiedLog.analyzeAndValidateRecords`
        text = f"{reader.pos} bytes, max.message.bytes is {settings.max_bytes}"
        raise reader.reject("limit-exceeded", "batches[0].batchLength", text, at=BATCH.offset("batchLength"))
    if wrong := list(wrong_records(entries, settings, APPEND_TIME)):
        one = deciding(wrong)
        at = BATCH.offset("attributes") if one.part == "attributes" else reader.pos
        raise reader.reject(one.cls, f"batches[0].{one.part}", one.text, at=at)
    batch, _ = stored_batch(entries, settings, APPEND_TIME)
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


@frozen
class WrongRecord:
    """A record that a topic does not take: its place in the record set, and why.

    Attributes:
        cls: `invalid-value` for INVALID_TIMESTAMP, `not-permitted` for INVALID_RECORD.
        part: the part of the batch that is wrong.
    """

    index: int
    cls: RejectClass
    part: str
    text: str


def wrong_records(entries: Sequence[LogEntry], settings: TopicSettings, now: int) -> Iterator[WrongRecord]:
    """Yield the records that a topic does not take at the time `now`: LogValidator.validateRecord."""
    rows = ((entry, record) for entry in entries for record in _records(entry))
    for index, (entry, record) in enumerate(rows):
        if settings.compacted and record.key is None:
            yield WrongRecord(index, "not-permitted", "records", "a record without a key")
        elif settings.append_time or record.timestamp == NO_TIMESTAMP:
            if entry.magic and entry.attributes & LOG_APPEND_TIME:
                yield WrongRecord(index, "invalid-value", "attributes", "LogAppendTime of a producer")
        elif _is_out_of_range(record.timestamp - now, settings):
            yield WrongRecord(index, "invalid-value", "records", f"{record.timestamp} is out of range")


def _is_out_of_range(ahead: int, settings: TopicSettings) -> bool:
    """Compare a create time, less the clock, with its bounds: LogValidator.validateTimestamp."""
    late = settings.after_ms is not None and ahead > settings.after_ms
    return late or (settings.before_ms is not None and -ahead > settings.before_ms)


def deciding(wrong: Sequence[WrongRecord]) -> WrongRecord:
    """Return the record that decides the answer: LogValidator.processRecordErrors takes a time first."""
    return next((one for one in wrong if one.cls == "invalid-value"), wrong[0])


# --- the stored batch ---


def stored_batch(entries: Sequence[LogEntry], settings: TopicSettings, now: int) -> tuple[RecordBatch, bool]:
    """Return the batch that is stored at offset 0, and whether its records keep their bytes.

    They do if the topic asks for no other codec, and a compressed batch counts its records from 0:
    `assignOffsetsNonCompressed`, in-place assignment.
    """
    first, records = entries[0], [record for entry in entries for record in _records(entry)]
    source = first.attributes & CODEC_MASK
    target = source if settings.codec is None else settings.codec
    counted = [record.offset_delta for record in records] == list(range(len(records)))
    kept = isinstance(first, RecordBatch) and source == target and (counted or not source)
    batch = first if kept else _built(first, records, target)
    assert isinstance(batch, RecordBatch)
    return _placed(with_time(batch, settings, now)), kept


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


def _built(first: LogEntry, records: Sequence[Record], codec: int) -> RecordBatch:
    """Return a new batch of the same records: `buildRecordsAndAssignOffsets`, `MemoryRecordsBuilder`.

    It counts from 0, its base is the time of its first record, and bits without a meaning are gone.
    """
    base = records[0].timestamp
    transactional, producer = 0, (-1, -1, -1)
    if isinstance(first, RecordBatch):
        transactional = first.attributes & TRANSACTIONAL
        producer = first.producer_id, first.producer_epoch, first.base_sequence
    rebuilt = tuple(
        evolve(record, attributes=0, timestamp_delta=record.timestamp - base, offset_delta=number)
        for number, record in enumerate(records)
    )
    latest = max(record.timestamp for record in records)
    return RecordBatch(
        0, 0, V2, codec | transactional, len(records) - 1, base, latest, *producer, rebuilt
    )  # fmt: skip


def _placed(batch: RecordBatch) -> RecordBatch:
    """Return the batch at offset 0, with the offsets and timestamps that a consumer gets: §1.8, §1.10."""
    stamped = batch.attributes & LOG_APPEND_TIME
    placed = (
        evolve(
            record,
            offset=record.offset_delta,
            timestamp=batch.max_timestamp if stamped else batch.base_timestamp + record.timestamp_delta,
        )
        for record in batch.records
    )
    return evolve(batch, base_offset=0, partition_leader_epoch=0, records=tuple(placed))
