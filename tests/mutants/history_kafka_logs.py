"""Bugs of Kafka clients in how they read a log and what they deliver of it: `history_kafka` lists them."""

from typing import Final

from tests.mutants.history_base import Panic, Trigger, batch, gzipped, record
from tests.mutants.history_kafka_reading import READ_ENTRY, KafkaBug
from tests.mutants.kafka_helpers import MAGIC, V2, frames
from wireproof.adapters.contract import Request
from wireproof.cases.outcome import Outcome
from wireproof.kafka import consumer_view
from wireproof.kafka import entry as kafka_entry
from wireproof.kafka.attribute_bits import CODEC_MASK, CONTROL
from wireproof.kafka.size_and_magic import SizeAndMagic
from wireproof.kafka.values import LogEntry, RecordBatch
from wireproof.wire.options import Options
from wireproof.wire.reader import Reader
from wireproof.wire.rejection import Rejected

DELIVERED: Final = consumer_view.delivered_entries

ONE: Final = batch(0, record(0), 1)
AFTER: Final = batch(3, record(0), 1)
"""The batch behind offset 2."""


def _empty(base: int) -> bytes:
    return batch(base, b"", 0, producer=(7, 0, 0), last=0)


# --- batches one after the other ---


def _rest_taken(reader: Reader, prefix: SizeAndMagic, options: Options) -> LogEntry:
    """Read an entry; a compressed batch takes all bytes behind it too."""
    value = READ_ENTRY(reader, prefix, options)
    if isinstance(value, RecordBatch) and value.attributes & CODEC_MASK:
        reader.pos = reader.end
    return value


class CompressedBatchTakesRest(KafkaBug):
    """Loses every batch behind a compressed one, whose region it reads to the end of the log."""

    name = "platformatic-kafka-123-compressed-batch-takes-rest"
    bug = "https://github.com/platformatic/kafka/pull/123"
    patches = ((kafka_entry, "read", _rest_taken),)
    trigger = Trigger(
        "decode",
        "kafka.log/mixed",
        batch(0, gzipped(record(0)), 1, attributes=1) + batch(1, record(0), 1),
    )


def _reads_record_of_none(data: bytes) -> bool:
    """Return True if the reader looks for a record where there is none.

    It reads a header when it starts, one for each message, and one more if that batch is empty.
    """
    limit, run = 3, 0
    for start, end in frames(data):
        empty = data[start + MAGIC] == V2 and data[start + 57 : start + 61] == bytes(4)
        run = run + 1 if empty else 0
        if run == limit and len(data) > end + 6:
            return True
        limit = limit if empty else 2
    return False


class EmptyBatchesPanic(KafkaBug):
    """Ends its process at two empty batches one behind the other."""

    name = "kafka-go-1107-empty-batches-panic"
    bug = "https://github.com/segmentio/kafka-go/pull/1107"
    trigger = Trigger("decode", "kafka.log/mixed", ONE + _empty(1) + _empty(2) + AFTER)

    def decode(self, request: Request) -> Outcome:
        """Panic before the first answer."""
        if request.format == "kafka.log" and _reads_record_of_none(request.data):
            raise Panic("markRead: negative count")
        return super().decode(request)

    def scan(self, request: Request) -> Outcome:
        """Do the same."""
        if _reads_record_of_none(b"".join(request.chunks)):
            raise Panic("markRead: negative count")
        return super().scan(request)


# --- what a consumer gets ---


class NoSuchElement(Exception):  # noqa: N818 - named for what the client meets
    """The first record of a batch without records."""


def _first_of_control(entries: list[LogEntry], options: Options) -> list[LogEntry]:
    """Look at the first record of every control batch, as a consumer of committed records does."""
    for one in entries if options.isolation == "read_committed" else ():
        if isinstance(one, RecordBatch) and one.attributes & CONTROL and not one.records:
            raise NoSuchElement(str(one.base_offset))
    return DELIVERED(entries, options)


class EmptyControlBatch(KafkaBug):
    """Fails under read_committed on a control batch whose marker was cleaned away."""

    name = "kafka-7467-empty-control-batch"
    bug = "https://github.com/confluentinc/kafka/pull/179"
    patches = ((consumer_view, "delivered_entries", _first_of_control),)
    trigger = Trigger(
        "decode",
        "kafka.log/mixed",
        batch(0, b"", 0, attributes=0x30, last=0, producer=(7, 0, -1)) + batch(1, record(0), 1),
        options=Options(isolation="read_committed"),
    )


class NullKey(Exception):  # noqa: N818 - named for what the client meets
    """The bytes of a key that is null."""


def _key_of_each(entries: list[LogEntry], options: Options) -> list[LogEntry]:
    """Look at the key of every record for a marker, if there are aborted transactions."""
    looks = options.isolation == "read_committed" and options.aborted
    for one in entries if looks else ():
        if isinstance(one, RecordBatch) and any(inner.key is None for inner in one.records):
            raise NullKey(str(one.base_offset))
    return DELIVERED(entries, options)


class NullKeyInFilter(KafkaBug):
    """Fails on a record without a key when it looks for the markers of aborted transactions."""

    name = "kafkajs-312-null-key-in-filter"
    bug = "https://github.com/tulios/kafkajs/pull/312"
    patches = ((consumer_view, "delivered_entries", _key_of_each),)
    trigger = Trigger(
        "decode",
        "kafka.log/mixed",
        batch(0, record(0, None), 1),
        options=Options(isolation="read_committed", aborted=((7, 5),)),
    )


def _first_batch_fetched(entries: list[LogEntry], options: Options) -> list[LogEntry]:
    """Refuse a first batch that ends behind the fetch offset but has no record from there on."""
    fetch, first = options.fetch_offset, entries[0] if entries else None
    if fetch is not None and isinstance(first, RecordBatch) and first.records:
        last = first.base_offset + first.last_offset_delta
        if last >= fetch > max(one.offset for one in first.records):
            raise Rejected("other", None, "batches[0]", "incomplete response")
    return DELIVERED(entries, options)


class OffsetBehindCompactedRecords(KafkaBug):
    """Refuses a log from an offset on whose record is compacted away at the end of its batch."""

    name = "sarama-1005-offset-behind-compacted-records"
    bug = "https://github.com/IBM/sarama/issues/1005"
    patches = ((consumer_view, "delivered_entries", _first_batch_fetched),)
    trigger = Trigger(
        "decode",
        "kafka.log/mixed",
        batch(0, record(0), 1, last=2) + AFTER,
        options=Options(fetch_offset=2),
    )


LOGS: Final[tuple[type[KafkaBug], ...]] = (
    CompressedBatchTakesRest,
    EmptyBatchesPanic,
    EmptyControlBatch,
    NullKeyInFilter,
    OffsetBehindCompactedRecords,
)
