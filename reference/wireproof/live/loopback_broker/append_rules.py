"""What a broker refuses: kafka.md §1.7, from Kafka's ProduceRequest, UnifiedLog and LogValidator.

The suite's own codec checks the bytes by the profile `produce`; the rules that need the topic are here.
"""

from collections.abc import Iterator, Mapping
from enum import IntEnum
from struct import pack, pack_into
from typing import Final

from attrs import evolve, frozen

from wireproof.kafka import log
from wireproof.kafka.append import TopicSettings, read_setting
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

DEFAULTS: Final = TopicSettings(max_bytes=1_048_588, after_ms=3_600_000)
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


# --- what is refused ---


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


BODY: Final = 61
"""Bytes of a header; the records follow: kafka.md §1.1."""

ZSTD: Final = 4


@frozen
class Arrival:
    """A record set as it came: the bytes of the one batch, and what they say."""

    data: bytes
    batch: RecordBatch


def one_batch(data: bytes, version: int) -> bytes:
    """Return the bytes of the one batch of a Produce request of this version: ProduceRequest.validateRecords.

    Bytes after it that are not a whole batch are cut off, as by `UnifiedLog.trimInvalidBytes`.

    Raises:
        AppendRefused: there is not exactly one, or its magic or its codec is not for this version.
    """
    reader, ends = Reader(data), []
    try:
        while prefix := peek_whole_entry(reader, len(data)):
            if prefix.magic != V2:
                raise AppendRefused(ErrorCode.INVALID_RECORD, f"magic {prefix.magic}")
            reader.pos += prefix.total
            ends.append(reader.pos)
    except Rejected as rejected:
        raise AppendRefused(ErrorCode.CORRUPT_MESSAGE, str(rejected)) from None
    if len(ends) != 1:
        raise AppendRefused(ErrorCode.INVALID_RECORD, f"{len(ends)} batches, but one must be")
    header = peek_batch(data)
    if header.attributes & CODEC_MASK == ZSTD and version < 7:  # KIP-110
        raise AppendRefused(ErrorCode.UNSUPPORTED_COMPRESSION_TYPE, f"zstd in Produce version {version}")
    if header.base_offset:
        raise AppendRefused(ErrorCode.INVALID_RECORD, f"baseOffset {header.base_offset}")
    return data[: ends[0]]


def read_batch(data: bytes) -> Arrival:
    """Return a batch that keeps the rules of §1.7, read from its bytes: CRC, header and records.

    Raises:
        AppendRefused: a rule is broken.
    """
    try:
        (batch,) = log.decode(Reader(data), Options(profile="produce")).batches
    except Rejected as rejected:
        if rejected.path.endswith("maxTimestamp"):
            text = "a producer must not set LogAppendTime"
            count = sum(len(batch.records) for batch in batches_of(data))
            records = tuple((index, text) for index in range(count))
            raise AppendRefused(ErrorCode.INVALID_TIMESTAMP, text, records) from None
        codes = {
            "crc-mismatch": ErrorCode.CORRUPT_MESSAGE,
            "unknown-codec": ErrorCode.UNSUPPORTED_COMPRESSION_TYPE,
        }
        raise AppendRefused(codes.get(rejected.cls, ErrorCode.INVALID_RECORD), str(rejected)) from None
    assert isinstance(batch, RecordBatch)
    return Arrival(data, batch)


# --- the bytes of a batch that a broker stores: `kafka.append` has the rules ---

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


def form_of(batch: RecordBatch) -> Form:
    """Return a batch with its records as bytes, compressed with its codec."""
    writer = Writer()
    write_region(writer, batch.records, batch.attributes)
    return Form(batch, bytes(writer.data))


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


def marker(producer: int, epoch: int, *, commit: bool, offset: int, now: int) -> Form:
    """Return the control batch that ends a transaction: kafka.md §1.9, from Kafka's EndTransactionMarker."""
    key = pack(">hh", 0, COMMIT if commit else ABORT)
    records = (Record(0, 0, 0, key, pack(">hi", 0, 0), ()),)  # the epoch of the coordinator is 0
    place = offset, LEADER_EPOCH, V2, TRANSACTIONAL | CONTROL, 0
    return form_of(RecordBatch(*place, now, now, producer, epoch, -1, records))
