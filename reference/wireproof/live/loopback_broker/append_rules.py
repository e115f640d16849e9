"""What a broker refuses: kafka.md §1.7, from Kafka's ProduceRequest, UnifiedLog and LogValidator.

The suite's own codec checks the bytes by the profile `produce`; the rules that need the topic are here.
"""

from collections.abc import Iterator, Mapping
from enum import IntEnum
from struct import pack, pack_into
from typing import Final

from attrs import evolve, frozen

from wireproof.kafka import log
from wireproof.kafka.append import TopicSettings, deciding, read_setting, stored_batch, wrong_records
from wireproof.kafka.attribute_bits import CODEC_MASK, CONTROL, TRANSACTIONAL
from wireproof.kafka.batch import BATCH
from wireproof.kafka.control_types import ABORT, COMMIT
from wireproof.kafka.entry import V2, peek_batch
from wireproof.kafka.layouts import HEADS
from wireproof.kafka.record import write_region
from wireproof.kafka.size_and_magic import LOG_OVERHEAD, peek_whole_entry
from wireproof.kafka.values import Record, RecordBatch
from wireproof.schema.layout import attribute_of
from wireproof.wire.checksums import crc32c
from wireproof.wire.options import DEFAULT_OPTIONS, Options
from wireproof.wire.reader import Reader
from wireproof.wire.rejection import Rejected
from wireproof.wire.writer import Writer

# --- topic settings ---


HOUR_MS: Final = 3_600_000

DEFAULTS: Final = TopicSettings(max_bytes=1_048_588, after_ms=HOUR_MS)
"""The settings of a topic that names none."""

IGNORED: Final = frozenset(
    {
        *("retention.ms", "retention.bytes", "segment.bytes", "segment.jitter.ms"),
        *("segment.index.bytes", "delete.retention.ms", "file.delete.delay.ms", "flush.messages", "flush.ms"),
        *("min.cleanable.dirty.ratio", "min.compaction.lag.ms", "max.compaction.lag.ms"),
        *("index.interval.bytes", "min.insync.replicas", "unclean.leader.election.enable", "preallocate"),
        *("compression.gzip.level", "compression.lz4.level", "compression.zstd.level"),
    }
)
"""Settings that are taken and change nothing here."""


def settings_of(configs: Mapping[str, str | None]) -> TopicSettings:
    """Return the settings of a CreateTopics request; raise `InvalidSettingError`."""
    known = (read_setting(name, text or "") for name, text in configs.items() if name not in IGNORED)
    return evolve(DEFAULTS, **dict(known))


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
        AppendRefused: it does not.
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
        AppendRefused: there is not exactly one, or its magic or its codec is not for this version.
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
        AppendRefused: it is larger.
    """
    if settings.max_bytes is not None and size > settings.max_bytes:
        text = f"the batch has {size} bytes, at most {settings.max_bytes}"
        raise AppendRefused(ErrorCode.MESSAGE_TOO_LARGE, text)


def read_batch(data: bytes) -> Arrival:
    """Return a batch that keeps the rules of §1.7, read from its bytes: CRC, header and records.

    Raises:
        AppendRefused: a rule is broken.
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
    """Check each record against the settings of the topic.

    Raises:
        AppendRefused: one has no key in a compacted topic, or a time that it must not have.
    """
    if wrong := list(wrong_records([arrival.batch], settings, now)):
        one = deciding(wrong)
        code = ErrorCode.INVALID_TIMESTAMP if one.cls == "invalid-value" else ErrorCode.INVALID_RECORD
        raise AppendRefused(code, one.text, tuple((row.index, row.text) for row in wrong))


# --- stored form ---
#
# The bytes of a batch that a broker stores: `kafka.append` has the rules.


LEADER_EPOCH: Final = 0


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
    batch, kept = stored_batch([arrival.batch], settings, now)
    body = arrival.data[BODY:] if kept else written_records(batch)
    return Form(evolve(batch, base_offset=base_offset, partition_leader_epoch=LEADER_EPOCH), body)


def written_records(batch: RecordBatch) -> bytes:
    """Return the records as bytes, compressed with the codec of the batch."""
    writer = Writer()
    write_region(writer, batch.records, batch.attributes)
    return bytes(writer.data)


def finished(form: Form) -> bytes:
    """Return the bytes of a batch, with length and CRC."""
    header = HEADS[V2]
    numbers = {name: getattr(form.header, attribute_of(name), 0) for name in header.names}
    numbers["batchLength"] = header.size - LOG_OVERHEAD + len(form.body)
    numbers["recordsCount"] = len(form.header.records)
    data = bytearray(header.packing.pack(*numbers.values()) + form.body)
    pack_into(">I", data, BATCH.offset("crc"), crc32c(bytes(data[BATCH.offset("attributes") :])))
    return bytes(data)


def batches_of(data: bytes) -> Iterator[RecordBatch]:
    """Yield the batches of stored bytes."""
    for one in log.decode(Reader(data), DEFAULT_OPTIONS).batches:
        assert isinstance(one, RecordBatch)
        yield one


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
    place = offset, LEADER_EPOCH, MAGIC, TRANSACTIONAL | CONTROL, 0
    batch = RecordBatch(*place, now, now, producer, epoch, NO_SEQUENCE, records)
    return Form(batch, written_records(batch))
