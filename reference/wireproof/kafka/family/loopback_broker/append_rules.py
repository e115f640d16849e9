"""What a broker refuses: kafka.md §1.7, from Kafka's ProduceRequest, UnifiedLog and LogValidator.

The suite's own codec checks the bytes by the profile `produce`; the rules that need the topic are here.
"""

from enum import IntEnum
from typing import Final

from attrs import frozen

from wireproof.kafka import batch as batch_format
from wireproof.kafka import log
from wireproof.kafka.attribute_bits import CODEC_MASK, LOG_APPEND_TIME, TRANSACTIONAL
from wireproof.kafka.family.loopback_broker.topic_settings import TopicSettings
from wireproof.kafka.size_and_magic import peek_whole_entry
from wireproof.kafka.values import RecordBatch
from wireproof.wire.options import DEFAULT_OPTIONS, Options
from wireproof.wire.reader import Reader
from wireproof.wire.rejection import Rejected


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
    header = batch_format.peek_header(data, 0)
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
    header = batch_format.peek_header(data, 0)
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
