"""Bugs of Kafka clients in how they read one entry: `history_kafka` lists them."""

from typing import Final, Literal

from tests.mutants.base import JsonObject
from tests.mutants.history_base import Repeated, Trigger, batch, gzipped, message, record
from tests.mutants.kafka_helpers import KafkaMutant, bit, frames, records
from wireproof.adapters.contract import Request
from wireproof.cases.outcome import Outcome, refused_outcome
from wireproof.kafka import control_record
from wireproof.kafka import entry as kafka_entry
from wireproof.kafka import message as kafka_message
from wireproof.kafka import record as kafka_record
from wireproof.kafka.attribute_bits import CODEC_MASK, LOG_APPEND_TIME, wrap64
from wireproof.kafka.control_record import _end_of_transaction, _type
from wireproof.kafka.message import MessageHeader, _plain, _set
from wireproof.kafka.record import BatchContext
from wireproof.kafka.size_and_magic import SizeAndMagic
from wireproof.kafka.values import Control, LogEntry, Message, Record
from wireproof.wire.options import Options
from wireproof.wire.reader import Reader
from wireproof.wire.rejection import Rejected

READ_ENTRY: Final = kafka_entry.read
READ_RECORDS: Final = kafka_record.read_records


class KafkaBug(Repeated, KafkaMutant):
    """The base of the Kafka mutants that repeat a bug."""

    system = "kafka"


# --- the records of a v2 batch ---


class TimestampDeltaOf32Bits(KafkaBug):
    """Loses the records of a batch from the first one whose timestamp delta needs more than 32 bits."""

    name = "franz-go-324-timestamp-delta-of-32-bits"
    bug = "https://github.com/twmb/franz-go/issues/324"
    trigger = Trigger(
        "decode",
        "kafka.batch/v2",
        batch(
            0,
            record(0) + record(1, timestamp_delta=1 << 32),
            2,
            times=(1000, 1000 + (1 << 32)),
        ),
    )

    def spoil(self, entry: JsonObject, raw: bytes) -> None:
        """Drop the records after the last one that a reader of 32 bits understands."""
        del raw
        fits = [-(1 << 31) <= int(one["timestampDelta"]) < 1 << 31 for one in records(entry)]
        if False in fits:
            del entry["records"][fits.index(False) :]


class AppendTimeOfRecordsIgnored(KafkaBug):
    """Gives the records of a batch with LogAppendTime the timestamps of their producer."""

    name = "franz-go-a23a076-append-time-ignored"
    bug = "https://github.com/twmb/franz-go/commit/a23a076"
    trigger = Trigger(
        "decode", "kafka.batch/v2", batch(0, record(0), 1, attributes=LOG_APPEND_TIME, times=(1000, 2000))
    )

    def spoil(self, entry: JsonObject, raw: bytes) -> None:
        """Add the delta of each record to the base timestamp."""
        del raw
        if not bit(entry, LOG_APPEND_TIME):
            return
        for one in records(entry):
            one["timestamp"] = str(wrap64(int(entry["baseTimestamp"]) + int(one["timestampDelta"])))


class NullRecord(Exception):  # noqa: N818 - named for what the client meets
    """A record that is null where none is expected."""


class RecordPastEndIsNull(KafkaBug):
    """Takes a record that is longer than the rest of its plain batch for null, and fails when it uses it."""

    name = "kafka-13149-record-past-end-is-null"
    bug = "https://github.com/apache/kafka/pull/11080"
    errors: Literal["exact", "coarse", "none"] = "coarse"  # its fault is the exception, not the class
    trigger = Trigger("decode", "kafka.batch/v2", batch(0, b"\x20" + record(0)[1:], 1))

    def on_rejected(self, rejected: Rejected, request: Request) -> Outcome:
        """Fail with an exception that nobody expects."""
        if rejected.detail == "RECORD_PAST_END" and isinstance(rejected.at, int):
            raise NullRecord(request.op)
        return refused_outcome(rejected)


class HeadersOfOneNameCollapse(KafkaBug):
    """Keeps one header of each name in a record, with the value of the last one."""

    name = "kafkajs-1132-headers-of-one-name-collapse"
    bug = "https://github.com/tulios/kafkajs/pull/1132"
    trigger = Trigger(
        "decode", "kafka.batch/v2", batch(0, record(0, headers=((b"h", b"1"), (b"h", b"2"))), 1)
    )

    def spoil(self, entry: JsonObject, raw: bytes) -> None:
        """Put the headers of each record into a map by their names."""
        del raw
        for one in records(entry):
            one["headers"] = [list(pair) for pair in dict(one["headers"]).items()]


class CountReader(Reader):
    """Reads counts of records up to twice the largest uint16."""

    __slots__ = ()

    def int32(self, name: str) -> int:
        """Refuse a larger count."""
        value = super().int32(name)
        if name == "recordsCount" and value > 2 * 0xFFFF:
            raise self.reject("other", name, f"{value} records", at=self.pos - 4)
        return value


def _many_records() -> bytes:
    count = 2 * 0xFFFF + 1
    return batch(0, gzipped(b"".join(record(index) for index in range(count))), count, attributes=1)


class ManyRecordsRefused(KafkaBug):
    """Refuses a batch of more than 131,070 records."""

    name = "sarama-3119-many-records-refused"
    bug = "https://github.com/IBM/sarama/issues/3119"
    reader = CountReader
    trigger = Trigger("decode", "kafka.batch/v2", _many_records)


# --- control records ---


def _marker_or_unknown(
    reader: Reader, key: bytes | None, key_at: int, value: bytes | None, value_at: int
) -> Control:
    """Parse the value of any control record as that of a marker."""
    return _end_of_transaction(reader, _type(reader, key, key_at), value, value_at)


UNKNOWN_TYPE: Final = b"\0\0\0\7"
COMMIT_KEY: Final = b"\0\0\0\1"
COMMIT_VALUE: Final = bytes(6)


class UnknownControlTypeParsed(KafkaBug):
    """Reads the value of an unknown control record like that of a marker, and refuses a short one."""

    name = "sarama-1898-unknown-control-type-parsed"
    bug = "https://github.com/IBM/sarama/pull/1898"
    patches = ((control_record, "_parse", _marker_or_unknown),)
    trigger = Trigger("decode", "kafka.batch/v2", batch(0, record(0, UNKNOWN_TYPE, None), 1, attributes=0x20))


def _control_without_envelope(reader: Reader, context: BatchContext, count: int) -> list[Record]:
    """Read the first bytes of a control batch as the version of the control record."""
    if context.control and count:
        at, version = reader.pos, reader.int16("version")
        if version:
            raise reader.reject("bad-control", "version", f"version {version}", at=at)
        reader.pos = at
    return READ_RECORDS(reader, context, count)


class ControlRecordWithoutEnvelope(KafkaBug):
    """Looks for version and type of a control record at the start of the record, not in its key."""

    name = "rskafka-297-control-record-without-envelope"
    bug = "https://github.com/influxdata/rskafka/pull/297"
    patches = ((kafka_record, "read_records", _control_without_envelope),)
    trigger = Trigger(
        "decode",
        "kafka.batch/v2",
        batch(0, record(0, COMMIT_KEY, COMMIT_VALUE), 1, attributes=0x30, producer=(7, 0, -1)),
    )


# --- messages of v0 and v1 ---


def _compact(entry: Reader, head: MessageHeader, name: str) -> bytes | None:
    """Read the length of a field as a compact one: a varint, which is the length plus one."""
    del head
    length = entry.uvarint(f"{name}Length")
    return entry.take(name, length - 1) if length else None


def _no_wrapper(entry: Reader, head: MessageHeader) -> Message:
    raise entry.reject("decompress-failed", "value", "null", at=head.start)


def _drifting(reader: Reader, prefix: SizeAndMagic, options: Options) -> LogEntry:
    """Read an entry; the next one begins where key and value seem to end."""
    start = reader.pos
    value = READ_ENTRY(reader, prefix, options)
    if isinstance(value, Message):
        reader.pos = start + (26 if value.magic else 18)
        for _ in range(2):
            reader.skip("compact", max(reader.uvarint("length") - 1, 0))
    return value


class LegacyFieldsReadAsCompact(KafkaBug):
    """Reads key and value of v0 and v1 as compact fields: both are null, and the next message is misread."""

    name = "librdkafka-5549-legacy-fields-read-as-compact"
    bug = "https://github.com/confluentinc/librdkafka/issues/5549"
    patches = (
        (kafka_message, "_bytes", _compact),
        (kafka_message, "_wrapper", _no_wrapper),
        (kafka_entry, "read", _drifting),
    )
    trigger = Trigger("decode", "kafka.batch/v1", message(0, 1, b"k", b"v"))


def _without_time_type(entry: Reader, head: MessageHeader) -> Message:
    if head.magic and head.attributes & ~CODEC_MASK:
        text = f"attributes {head.attributes}"
        raise entry.reject("invalid-value", "attributes", text, at=head.start + 17)
    return _plain(entry, head)


class AppendTimeOfMessageRefused(KafkaBug):
    """Refuses a plain v1 message with LogAppendTime as one with an unknown attribute."""

    name = "franz-go-5fee169-append-time-refused"
    bug = "https://github.com/twmb/franz-go/commit/5fee169"
    patches = ((kafka_message, "_plain", _without_time_type),)
    trigger = Trigger("decode", "kafka.batch/v1", message(0, 1, None, b"v", attributes=LOG_APPEND_TIME))


def _cut_at_wrapper_offset(
    inner: Reader, head: MessageHeader, defect: Rejected | None
) -> tuple[tuple[Message, ...], Rejected | None]:
    """End the set behind the first message that has the offset of the wrapper."""
    for start, end in frames(inner.data):
        if int.from_bytes(inner.data[start : start + 8], "big", signed=True) == head.offset:
            inner.end = end
            break
    return _set(inner, head, defect)


def _base_from_last(inner: Reader, head: MessageHeader, stored: list[int]) -> int:
    del inner
    return head.offset - stored[-1] if head.magic else 0


class WrapperOffsetOfProducer(KafkaBug):
    """Ends a compressed set at the offset of its wrapper, which is 0 as a producer sends it."""

    name = "kafka-5365-wrapper-offset-of-producer"
    bug = "https://github.com/apache/kafka/pull/3203"
    patches = (
        (kafka_message, "_set", _cut_at_wrapper_offset),
        (kafka_message, "_base", _base_from_last),
    )
    trigger = Trigger(
        "decode",
        "kafka.batch/v1",
        message(
            0,
            1,
            None,
            gzipped(message(0, 1, None, b"a") + message(1, 1, None, b"b")),
            attributes=1,
        ),
    )


class UnboundCodec(Exception):  # noqa: N818 - named for what the client meets
    """A variable that no branch of the codec has set."""


class UnknownCodecUnbound(KafkaBug):
    """Fails on an unknown codec with an exception about itself, not about the bytes."""

    name = "aiokafka-795-unknown-codec-unbound"
    bug = "https://github.com/aio-libs/aiokafka/pull/798"
    errors: Literal["exact", "coarse", "none"] = "coarse"  # its fault is the exception, not the class
    trigger = Trigger("decode", "kafka.batch/v2", batch(0, record(0), 1, attributes=5))

    def on_rejected(self, rejected: Rejected, request: Request) -> Outcome:
        """Fail with an exception that nobody expects."""
        if rejected.detail == "UNKNOWN_CODEC":
            raise UnboundCodec(request.op)
        return refused_outcome(rejected)


READING: Final[tuple[type[KafkaBug], ...]] = (
    TimestampDeltaOf32Bits,
    AppendTimeOfRecordsIgnored,
    RecordPastEndIsNull,
    HeadersOfOneNameCollapse,
    ManyRecordsRefused,
    UnknownControlTypeParsed,
    ControlRecordWithoutEnvelope,
    LegacyFieldsReadAsCompact,
    AppendTimeOfMessageRefused,
    WrapperOffsetOfProducer,
    UnknownCodecUnbound,
)
