"""What a broker refuses: kafka.md §1.7, from Kafka's ProduceRequest, UnifiedLog and LogValidator.

The suite's own codec checks the bytes by the profile `produce`; the rules that need the topic are here.
"""

from enum import IntEnum
from typing import Final

from attrs import frozen

from tests.live.mock_broker.topic_settings import TopicSettings
from wireproof.kafka import log
from wireproof.kafka.attribute_bits import LOG_APPEND_TIME, TRANSACTIONAL
from wireproof.kafka.values import RecordBatch
from wireproof.wire.options import Options
from wireproof.wire.reader import Reader
from wireproof.wire.rejection import Rejected


class ErrorCode(IntEnum):
    """Kafka's error codes: protocol guide, "Error Codes"."""

    UNKNOWN_SERVER_ERROR = -1
    NONE = 0
    OFFSET_OUT_OF_RANGE = 1
    CORRUPT_MESSAGE = 2
    UNKNOWN_TOPIC_OR_PARTITION = 3
    MESSAGE_TOO_LARGE = 10
    INVALID_TIMESTAMP = 32
    TOPIC_ALREADY_EXISTS = 36
    INVALID_PARTITIONS = 37
    INVALID_REPLICATION_FACTOR = 38
    INVALID_CONFIG = 40
    OUT_OF_ORDER_SEQUENCE_NUMBER = 45
    INVALID_PRODUCER_EPOCH = 47
    TRANSACTIONAL_ID_AUTHORIZATION_FAILED = 53
    UNSUPPORTED_COMPRESSION_TYPE = 76
    INVALID_RECORD = 87
    UNKNOWN_TOPIC_ID = 100


class Refused(Exception):  # noqa: N818 - an answer, not an error of the broker
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


CORRUPT: Final = frozenset({"crc-mismatch", "bad-magic", "negative-length", "length-past-end", "truncated"})
"""The classes with which bytes before the records are corrupt; in the records, the record is invalid."""

HEADER_PATHS: Final = ("crc", "magic", "batchLength")

NO_TIMESTAMP: Final = -1


@frozen
class Arrival:
    """A record set as it came.

    Attributes:
        data: the bytes of the one batch.
        batch: what they say.
    """

    data: bytes
    batch: RecordBatch


def read_batch(data: bytes, version: int) -> Arrival:
    """Return the one batch of a Produce request of this version, whose bytes keep the rules of §1.7.

    Bytes after it that are not a whole entry are cut off, as by `UnifiedLog.trimInvalidBytes`.

    Raises:
        Refused: a rule is broken.
    """
    reader = Reader(data)
    try:
        found = log.decode(reader, Options(profile="produce"))
    except Rejected as rejected:
        raise Refused(_code(rejected), str(rejected)) from None
    match found.batches:
        case (RecordBatch() as batch,):
            pass
        case _:
            raise Refused(
                ErrorCode.INVALID_RECORD, f"{len(found.batches)} batches of magic 2, but one must be"
            )
    if batch.attributes & 7 == 4 and version < 7:
        raise Refused(ErrorCode.UNSUPPORTED_COMPRESSION_TYPE, f"zstd in Produce version {version}")
    return Arrival(data[: reader.pos], batch)


def _code(rejected: Rejected) -> ErrorCode:
    field = rejected.path.rpartition(".")[2]
    if rejected.cls == "unknown-codec":
        return ErrorCode.UNSUPPORTED_COMPRESSION_TYPE
    if rejected.cls == "crc-mismatch" or (rejected.cls in CORRUPT and field in HEADER_PATHS):
        return ErrorCode.CORRUPT_MESSAGE
    return ErrorCode.INVALID_RECORD


def check_transaction(batch: RecordBatch, transactional_id: str | None) -> None:
    """Check that a transactional batch comes with a transactional id: KafkaApis.handleProduceRequest.

    Raises:
        Refused: it does not.
    """
    if batch.attributes & TRANSACTIONAL and transactional_id is None:
        raise Refused(ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED, "a transactional batch without an id")


def check_size(size: int, settings: TopicSettings) -> None:
    """Check a batch against `max.message.bytes`: UnifiedLog.

    Raises:
        Refused: it is larger.
    """
    if size > settings.max_bytes:
        text = f"the batch has {size} bytes, at most {settings.max_bytes}"
        raise Refused(ErrorCode.MESSAGE_TOO_LARGE, text)


def check_keys(batch: RecordBatch, settings: TopicSettings) -> None:
    """Check that the records of a compacted topic have keys: LogValidator.validateKey.

    Raises:
        Refused: one has none.
    """
    wrong = [index for index, record in enumerate(batch.records) if record.key is None]
    if settings.compacted and wrong:
        text = "a record of a compacted topic must have a key"
        raise Refused(ErrorCode.INVALID_RECORD, text, tuple((index, text) for index in wrong))


def check_timestamps(batch: RecordBatch, settings: TopicSettings, now: int) -> None:
    """Check timestamps against the topic's bounds, and the timestamp type: LogValidator.validateTimestamp.

    Raises:
        Refused: one is out of range, or the producer set LogAppendTime where it has no meaning.
    """
    append = bool(batch.attributes & LOG_APPEND_TIME)
    earliest, latest = now - settings.before_ms, now + settings.after_ms
    wrong = []
    for index, record in enumerate(batch.records):
        if not settings.append_time and record.timestamp != NO_TIMESTAMP:
            if not earliest <= record.timestamp <= latest:
                wrong.append((index, f"timestamp {record.timestamp} is not in [{earliest}, {latest}]"))
        elif append:
            wrong.append((index, "a producer must not set LogAppendTime"))
    if wrong:
        raise Refused(ErrorCode.INVALID_TIMESTAMP, wrong[0][1], tuple(wrong))
