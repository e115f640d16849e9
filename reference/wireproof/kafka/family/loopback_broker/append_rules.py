"""What a broker refuses: kafka.md §1.7, from Kafka's ProduceRequest, UnifiedLog and LogValidator.

The suite's own codec checks the bytes by the profile `produce`; the rules that need the topic are here.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import IntEnum
from struct import pack, pack_into
from typing import Any, Final, Self

from attrs import evolve, frozen

from wireproof.kafka import entry, log
from wireproof.kafka.attribute_bits import (
    CODEC_MASK,
    CONTROL,
    DELETE_HORIZON,
    LOG_APPEND_TIME,
    TRANSACTIONAL,
)
from wireproof.kafka.control_types import ABORT, COMMIT
from wireproof.kafka.entry import V2, peek_batch
from wireproof.kafka.layouts import BATCH, HEADS
from wireproof.kafka.record import write_region
from wireproof.kafka.size_and_magic import LOG_OVERHEAD, peek_whole_entry
from wireproof.kafka.values import Message, Record, RecordBatch
from wireproof.wire.checksums import crc32c
from wireproof.wire.layout import attribute_of
from wireproof.wire.options import DEFAULT_OPTIONS, Options
from wireproof.wire.reader import Reader
from wireproof.wire.rejection import Rejected
from wireproof.wire.writer import Writer

# --- topic settings ---
#
# The configuration of a topic, as far as it changes an append: Kafka's documentation, "Topic Configs".


INT64_MAX: Final = (1 << 63) - 1

CODECS: Final = {"uncompressed": 0, "none": 0, "gzip": 1, "snappy": 2, "lz4": 3, "zstd": 4, "producer": None}
"""The codec of each `compression.type`; None: the producer's."""

HOUR_MS: Final = 3_600_000

IGNORED: Final = frozenset(
    {
        *("retention.ms", "retention.bytes", "segment.bytes", "segment.jitter.ms"),
        *("segment.index.bytes", "delete.retention.ms", "file.delete.delay.ms", "flush.messages", "flush.ms"),
        *(
            "min.cleanable.dirty.ratio",
            "min.compaction.lag.ms",
            "max.compaction.lag.ms",
            "index.interval.bytes",
        ),
        *("min.insync.replicas", "unclean.leader.election.enable", "preallocate"),
        *("compression.gzip.level", "compression.lz4.level", "compression.zstd.level"),
    }
)
"""Settings that are taken and change nothing here."""


class InvalidSettingError(ValueError):
    """A topic cannot have this setting."""


@frozen
class TopicSettings:
    """The settings of a topic.

    Attributes:
        append_time: whether `message.timestamp.type` is LogAppendTime.
        codec: of `compression.type`, None for the producer's.
        compacted: whether `cleanup.policy` has `compact`.
        max_bytes: `max.message.bytes`.
        down_conversion: `message.downconversion.enable`.
        segment_ms: `segment.ms`; None where it is not given.
        before_ms, after_ms: `message.timestamp.before.max.ms` and `message.timestamp.after.max.ms`.
    """

    append_time: bool = False
    codec: int | None = None
    compacted: bool = False
    max_bytes: int = 1_048_588
    down_conversion: bool = True
    segment_ms: int | None = None
    before_ms: int = INT64_MAX
    after_ms: int = HOUR_MS

    @classmethod
    def parse(cls, configs: Mapping[str, str | None]) -> Self:
        """Return the settings of a CreateTopics request.

        Raises:
            InvalidSettingError: the name or the value is not known.
        """
        found: dict[str, Any] = {}
        for name, text in configs.items():
            if name in IGNORED:
                continue
            try:
                attribute, parsed = PARSED[name]
                found[attribute] = parsed(text or "")
            except (KeyError, ValueError):
                raise InvalidSettingError(f"a topic cannot have {name}={text}") from None
        return cls(**found)


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


PARSED: Final[Mapping[str, tuple[str, Callable[[str], Any]]]] = {
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


# --- append rules ---


class ErrorCode(IntEnum):
    """Kafka's error codes: protocol guide, "Error Codes"."""

    UNKNOWN_SERVER_ERROR = -1
    NONE = 0
    OFFSET_OUT_OF_RANGE = 1
    CORRUPT_MESSAGE = 2
    UNKNOWN_TOPIC_OR_PARTITION = 3
    LEADER_NOT_AVAILABLE = 5
    NOT_LEADER_OR_FOLLOWER = 6
    MESSAGE_TOO_LARGE = 10
    TOPIC_AUTHORIZATION_FAILED = 29
    CLUSTER_AUTHORIZATION_FAILED = 31
    INVALID_TIMESTAMP = 32
    UNSUPPORTED_VERSION = 35
    TOPIC_ALREADY_EXISTS = 36
    INVALID_PARTITIONS = 37
    INVALID_REPLICATION_FACTOR = 38
    INVALID_CONFIG = 40
    POLICY_VIOLATION = 44
    OUT_OF_ORDER_SEQUENCE_NUMBER = 45
    INVALID_PRODUCER_EPOCH = 47
    INVALID_TXN_STATE = 48
    INVALID_PRODUCER_ID_MAPPING = 49
    TRANSACTIONAL_ID_AUTHORIZATION_FAILED = 53
    FETCH_SESSION_ID_NOT_FOUND = 70
    INVALID_FETCH_SESSION_EPOCH = 71
    UNSUPPORTED_COMPRESSION_TYPE = 76
    INVALID_RECORD = 87
    PRODUCER_FENCED = 90
    UNKNOWN_TOPIC_ID = 100
    TRANSACTION_ABORTABLE = 120


class AppendRefused(Exception):  # noqa: N818 - an answer, not an error of the broker
    """The broker refuses a record set.

    Attributes:
        code: the error code.
        text: a sentence for people.
        records: (index, sentence) of the records that are the reason.
    """

    def __init__(self, code: ErrorCode, text: str, records: tuple[tuple[int, str], ...] = ()) -> None:
        """Store the parts."""
        super().__init__(f"{code.name}: {text}")
        self.code = code
        self.text = text
        self.records = records


PRODUCE: Final = Options(profile="produce")

APPEND_TIME_SET: Final = "a producer must not set LogAppendTime"

BODY: Final = 61
"""Bytes of a header; the records follow: kafka.md §1.1."""

NO_TIMESTAMP: Final = -1
MAGIC: Final = 2
ZSTD: Final = 4
ZSTD_SINCE: Final = 7
"""The version of Produce from which on zstd may be used: KIP-110."""


@frozen
class Arrival:
    """A record set as it came.

    Attributes:
        data: the bytes of the one batch.
        batch: what they say.
    """

    data: bytes
    batch: RecordBatch


def check_transaction(data: bytes, transactional_id: str | None) -> None:
    """Check that a transactional batch comes with a transactional id: KafkaApis.handleProduceRequest.

    Raises:
        Refused: it does not.
    """
    if len(data) < BODY or transactional_id is not None:
        return
    header = peek_batch(data)
    if header.magic == MAGIC and header.attributes & TRANSACTIONAL:
        raise AppendRefused(
            ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED, "a transactional batch without an id"
        )


def one_batch(data: bytes, version: int) -> bytes:
    """Return the bytes of the one batch of a Produce request of this version: ProduceRequest.validateRecords.

    Bytes after it that are not a whole batch are cut off, as by `UnifiedLog.trimInvalidBytes`.

    Raises:
        Refused: there is not exactly one, or its magic or its codec is not for this version.
    """
    reader, ends = Reader(data), []
    try:
        while prefix := peek_whole_entry(reader, len(data)):
            if prefix.magic != MAGIC:
                raise AppendRefused(ErrorCode.INVALID_RECORD, f"magic {prefix.magic}")
            reader.pos += prefix.total
            ends.append(reader.pos)
    except Rejected as rejected:
        raise AppendRefused(ErrorCode.CORRUPT_MESSAGE, str(rejected)) from None
    if len(ends) != 1:
        raise AppendRefused(ErrorCode.INVALID_RECORD, f"{len(ends)} batches, but one must be")
    header = peek_batch(data)
    if header.attributes & CODEC_MASK == ZSTD and version < ZSTD_SINCE:
        raise AppendRefused(ErrorCode.UNSUPPORTED_COMPRESSION_TYPE, f"zstd in Produce version {version}")
    if header.base_offset:
        raise AppendRefused(ErrorCode.INVALID_RECORD, f"baseOffset {header.base_offset}")
    return data[: ends[0]]


def check_size(size: int, settings: TopicSettings) -> None:
    """Check a batch against `max.message.bytes`: UnifiedLog.

    Raises:
        Refused: it is larger.
    """
    if size > settings.max_bytes:
        text = f"the batch has {size} bytes, at most {settings.max_bytes}"
        raise AppendRefused(ErrorCode.MESSAGE_TOO_LARGE, text)


def read_batch(data: bytes) -> Arrival:
    """Return a batch that keeps the rules of §1.7, read from its bytes: CRC, header and records.

    Raises:
        Refused: a rule is broken.
    """
    try:
        (batch,) = log.decode(Reader(data), PRODUCE).batches
    except Rejected as rejected:
        raise _refused(data, rejected) from None
    if not isinstance(batch, RecordBatch):
        raise AppendRefused(ErrorCode.INVALID_RECORD, "the magic is not 2")
    return Arrival(data, batch)


def _refused(data: bytes, rejected: Rejected) -> AppendRefused:
    codes = {
        "crc-mismatch": ErrorCode.CORRUPT_MESSAGE,
        "unknown-codec": ErrorCode.UNSUPPORTED_COMPRESSION_TYPE,
    }
    if not rejected.path.endswith("maxTimestamp"):
        return AppendRefused(codes.get(rejected.cls, ErrorCode.INVALID_RECORD), str(rejected))
    (batch,) = log.decode(Reader(data), DEFAULT_OPTIONS).batches
    records = tuple((index, APPEND_TIME_SET) for index, _ in enumerate(batch.records))  # type: ignore[union-attr]
    return AppendRefused(ErrorCode.INVALID_TIMESTAMP, APPEND_TIME_SET, records)


def check_records(arrival: Arrival, settings: TopicSettings, now: int) -> None:
    """Check each record against the settings of the topic: LogValidator.validateRecord.

    Raises:
        Refused: one has no key in a compacted topic, or a time that it must not have; INVALID_TIMESTAMP
            wins over INVALID_RECORD.
    """
    append = bool(arrival.batch.attributes & LOG_APPEND_TIME)
    wrong: list[tuple[int, ErrorCode, str]] = []
    for index, record in enumerate(arrival.batch.records):
        if settings.compacted and record.key is None:
            wrong.append((index, ErrorCode.INVALID_RECORD, "a record of a compacted topic must have a key"))
        elif text := _wrong_time(record.timestamp, settings, now, append=append):
            wrong.append((index, ErrorCode.INVALID_TIMESTAMP, text))
    if wrong:
        codes = {code for _, code, _ in wrong}
        code = (
            ErrorCode.INVALID_TIMESTAMP if ErrorCode.INVALID_TIMESTAMP in codes else ErrorCode.INVALID_RECORD
        )
        raise AppendRefused(code, wrong[0][2], tuple((index, text) for index, _, text in wrong))


def _wrong_time(timestamp: int, settings: TopicSettings, now: int, *, append: bool) -> str:
    """Return what is wrong with a timestamp, or nothing: LogValidator.validateTimestamp."""
    if settings.append_time or timestamp == NO_TIMESTAMP:
        return APPEND_TIME_SET if append else ""
    earliest, latest = now - settings.before_ms, now + settings.after_ms
    return "" if earliest <= timestamp <= latest else f"{timestamp} is not in [{earliest}, {latest}]"


# --- stored form ---
#
# How a broker stores a batch that it accepts: kafka.md §1.7, from Kafka's LogValidator.
#
# A batch stays as it is but for the fields that the broker sets, unless the topic asks for another codec,
# or a compressed batch has offset deltas other than 0, 1, 2, …: then its records are written again.


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
    write_region(writer, batch.records, batch.attributes)
    return bytes(writer.data)


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
    header = HEADS[V2]
    numbers = {name: getattr(form.header, attribute_of(name), 0) for name in header.names}
    numbers["batchLength"] = header.size - LOG_OVERHEAD + len(form.body)
    numbers["recordsCount"] = len(form.header.records)
    data = bytearray(header.packing.pack(*numbers.values()) + form.body)
    pack_into(">I", data, BATCH.offset("crc"), crc32c(bytes(data[BATCH.offset("attributes") :])))
    return bytes(data)


# --- old messages ---
#
# Batches as messages of v0 and v1, for old versions of Fetch: kafka.md §1.16, from Kafka's RecordsUtil.


OLD_FETCH: Final = {0: 0, 1: 0, 2: 1, 3: 1}
"""The magic of the messages that a version of Fetch returns; later ones return batches."""


def batches_of(data: bytes) -> Iterator[RecordBatch]:
    """Yield the batches of stored bytes."""
    for one in log.decode(Reader(data), DEFAULT_OPTIONS).batches:
        assert isinstance(one, RecordBatch)
        yield one


def of_batch(batch: RecordBatch, offset: int, magic: int) -> list[Message]:
    """Return a batch as messages, or as one wrapper; without compression from an offset on.

    Raises:
        AppendRefused: no message can have its codec.
    """
    codec = batch.attributes & CODEC_MASK
    if batch.attributes & CONTROL:
        return []
    if codec == ZSTD:
        raise AppendRefused(ErrorCode.UNSUPPORTED_COMPRESSION_TYPE, "no message has zstd")
    stamp = batch.attributes & LOG_APPEND_TIME if magic else 0
    found = [
        Message(one.offset, magic, stamp, one.timestamp if magic else NO_TIMESTAMP, one.key, one.value, None)
        for one in batch.records
        if codec or one.offset >= offset
    ]
    return [wrapper(found, codec)] if codec and found else found


def wrapper(inner: Sequence[Message], codec: int) -> Message:
    """Return messages under compression: their wrapper has the last offset and the latest time."""
    last = inner[-1]
    latest = max(one.timestamp for one in inner)
    return Message(last.offset, last.magic, last.attributes | codec, latest, None, None, tuple(inner))


def written(messages: Sequence[Message]) -> bytes:
    """Return messages as bytes."""
    writer = Writer()
    for one in messages:
        entry.write(writer, one)
    return bytes(writer.data)


# --- markers ---
#
# The markers of the end of a transaction: kafka.md §1.9, from Kafka's EndTransactionMarker.


VERSION: Final = 0
COORDINATOR_EPOCH: Final = 0
NO_SEQUENCE: Final = -1


def marker(producer: int, epoch: int, *, commit: bool, offset: int, now: int) -> Form:
    """Return the control batch that ends a transaction of a producer."""
    key = pack(">hh", VERSION, COMMIT if commit else ABORT)
    records = (Record(0, 0, 0, key, pack(">hi", VERSION, COORDINATOR_EPOCH), ()),)
    batch = RecordBatch(
        offset,
        LEADER_EPOCH,
        MAGIC,
        TRANSACTIONAL | CONTROL,
        0,
        now,
        now,
        producer,
        epoch,
        NO_SEQUENCE,
        records,
    )
    return Form(batch, written_records(batch))
