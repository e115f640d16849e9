"""What a broker refuses of a producer, and what a topic stores of its record set: kafka.md §1.7, §1.12.

After Kafka's `LogValidator`. The rules of a producer (profile `produce`) are checked after those of an
ordinary reader. Values that a broker accepts although no producer should write them get a remark (the broker
stores or clears them, or recompresses the batch): a decoder may reject them, an encoder must not write them.

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
    MAX_INT64,
    TRANSACTIONAL,
)
from wireproof.kafka.batch import BATCH
from wireproof.kafka.layouts import MESSAGE_V0, MESSAGE_V1, NO_TIMESTAMP
from wireproof.kafka.values import Log, LogEntry, Message, Record, RecordBatch
from wireproof.wire.compression import snappy
from wireproof.wire.reader import Reader
from wireproof.wire.rejection import RejectClass, Rejected

# --- what a broker refuses: §1.7, "writer-side rules" ---


def check_entry(reader: Reader, entry: LogEntry, start: int) -> None:
    """Check the entry that was read at position `start`: §1.7.

    Raises:
        Rejected: `not-permitted`; `crc-mismatch` for a wrapper's CRC, which only a broker checks.
    """
    match entry:
        case RecordBatch():
            _check_batch(reader, entry, start)
        case Message():
            _check_message(reader, entry, start)


def _check_batch(reader: Reader, batch: RecordBatch, start: int) -> None:
    count, last = len(batch.records), batch.last_offset_delta
    append = batch.attributes & LOG_APPEND_TIME
    checks = (
        (batch.base_offset != 0, "baseOffset", "it must be 0 in a batch of a producer"),
        (count == 0, "recordsCount", "no records"),
        (last + 1 != count, "lastOffsetDelta", f"{last}, but {count} records"),  # KAFKA-6554
        (batch.attributes & CONTROL, "attributes", "a producer cannot send a control batch"),
        (batch.producer_id > -1 and batch.base_sequence < 0, "baseSequence", "no sequence"),
        (append and batch.max_timestamp == -1, "maxTimestamp", "LogAppendTime without a timestamp"),
    )
    for wrong, name, text in checks:
        if wrong:
            raise _not_permitted(reader, name, start + BATCH.offset(name), text)
    attributes_at = start + BATCH.offset("attributes")
    if append:
        reader.remark("produce-append-time", "attributes", at=attributes_at)
    if batch.attributes & DELETE_HORIZON:
        reader.remark("produce-delete-horizon", "attributes", at=attributes_at)
    _remark_framing(reader, batch.attributes, start + BATCH.offset("records"))


def _check_message(reader: Reader, message: Message, start: int) -> None:
    """Check a message or wrapper: unlike a consumer, a broker checks a wrapper's CRC and the inner magic."""
    if any(remark.cls == "wrapper-crc" for remark in reader.remarks):  # by the rules of a consumer
        at = start + MESSAGE_V1.offset("crc")
        raise reader.reject("crc-mismatch", "crc", "of a wrapper", at=at, detail="CRC_MISMATCH")
    if any(inner.magic != message.magic for inner in message.messages or ()):
        raise _not_permitted(reader, "messages", start, "inner magic differs from the wrapper's")
    if message.magic and message.attributes & LOG_APPEND_TIME and message.timestamp == -1:
        at = start + MESSAGE_V1.offset("timestamp")
        raise _not_permitted(reader, "timestamp", at, "LogAppendTime without a timestamp")
    _remark_message(reader, message, start)


def _remark_message(reader: Reader, message: Message, start: int) -> None:
    """Add remarks where a producer should write other values: §2.2.

    Inner offsets are 0, 1, 2, … Under CreateTime the timestamp of a wrapper is the latest inner one.
    """
    append = message.magic and message.attributes & LOG_APPEND_TIME
    if append:
        reader.remark("produce-append-time", "attributes", at=start + MESSAGE_V1.offset("attributes"))
    if message.messages is None:
        return
    key_at = start + (MESSAGE_V1 if message.magic else MESSAGE_V0).offset("keyLength") + 4
    _remark_framing(reader, message.attributes, key_at + len(message.key or b"") + 4)
    if [inner.offset for inner in message.messages] != list(range(len(message.messages))):
        reader.remark("produce-inner-offsets", "offset", at=start)
    latest = max(inner.timestamp for inner in message.messages)
    if message.magic and not append and message.timestamp != latest:
        reader.remark("max-timestamp", "timestamp", at=start + MESSAGE_V1.offset("timestamp"))


def _remark_framing(reader: Reader, attributes: int, at: int) -> None:
    """Add a remark where snappy that begins at `at` has no framing, which some readers need: §3.2."""
    if attributes & CODEC_MASK == CODECS["snappy"] and not reader.data.startswith(snappy.MAGIC, at):
        reader.remark("snappy-unframed", "records", at=at)


def check_request(reader: Reader, entries: list[LogEntry]) -> None:
    """Check the entries of one request: §1.7, "Request level".

    All have the same magic, and a v2 batch or a wrapper is the only entry. The broker's LogValidator takes
    the first batch of a compressed set and rejects a second one.

    Raises:
        Rejected: `not-permitted`.
    """
    magics = {entry.magic for entry in entries}
    if len(magics) > 1:
        raise _not_permitted(reader, "batches", reader.pos, "batches of different magic")
    if magics == {2} and len(entries) > 1:
        raise _not_permitted(reader, "batches", reader.pos, "more than one batch")
    wrapped = any(isinstance(entry, Message) and entry.messages is not None for entry in entries)
    if wrapped and len(entries) > 1:
        raise _not_permitted(reader, "batches", reader.pos, "a wrapper must be the only entry")


def _not_permitted(reader: Reader, name: str, at: int, text: str) -> Rejected:
    return reader.reject("not-permitted", name, text, at=at)


APPEND_TIME: Final = 2_000_000_000_000
"""The time of the append in expected values, in milliseconds."""

CODECS: Final = {"uncompressed": 0, "none": 0, "gzip": 1, "snappy": 2, "lz4": 3, "zstd": 4, "producer": None}
"""The codec of each `compression.type`; None: the producer's."""


# --- topic settings: Kafka's documentation, "Topic Configs" ---


def _number(text: str) -> int:
    number = int(text)
    if not 0 <= number <= MAX_INT64:
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
    """The settings of a topic, as far as they change an append or what is returned of it: `SETTINGS`.

    A number is None for no bound, and the codec for the producer's.
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
        else:  # LogValidator.validateTimestamp
            ahead, before, after = record.timestamp - now, settings.before_ms, settings.after_ms
            if (after is not None and ahead > after) or (before is not None and -ahead > before):
                yield WrongRecord(index, "invalid-value", "records", f"{record.timestamp} is out of range")


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
    batch = with_time(batch, settings, now)
    stamped = batch.attributes & LOG_APPEND_TIME
    placed = (  # offsets and timestamps are those that a consumer gets: §1.8, §1.10
        evolve(
            record,
            offset=record.offset_delta,
            timestamp=batch.max_timestamp if stamped else batch.base_timestamp + record.timestamp_delta,
        )
        for record in batch.records
    )
    return evolve(batch, base_offset=0, partition_leader_epoch=0, records=tuple(placed)), kept


def with_time(batch: RecordBatch, settings: TopicSettings, now: int) -> RecordBatch:
    """Return a batch with timestamp type and maxTimestamp as the topic has them.

    The attributes are written again, without unused bits, only if one of the two changes:
    DefaultRecordBatch.setMaxTimestamp.
    """
    latest = now if settings.append_time else max(NO_TIMESTAMP, *(one.timestamp for one in batch.records))
    bit = LOG_APPEND_TIME if settings.append_time else 0
    if batch.attributes & LOG_APPEND_TIME == bit and batch.max_timestamp == latest:
        return batch
    kept = CODEC_MASK | TRANSACTIONAL | CONTROL | DELETE_HORIZON  # DefaultRecordBatch.computeAttributes
    return evolve(batch, attributes=batch.attributes & kept | bit, max_timestamp=latest)


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
    return RecordBatch(0, 0, 2, codec | transactional, len(records) - 1, base, latest, *producer, rebuilt)
