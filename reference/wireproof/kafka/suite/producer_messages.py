"""Logical messages of a Kafka producer, and their encodings in each revision of the format. Pure.

The same messages as v0, v1 and v2 (kafka.md §1.3, §2.1). Compressed messages share a wrapper in v0 and
v1 (§2.2), which a log and a client write differently; uncompressed messages are separate entries.
"""

from typing import Final

from attrs import evolve, frozen

from wireproof.derive.seeded_examples import MessageSets
from wireproof.family import deferred
from wireproof.kafka.attribute_bits import TRANSACTIONAL
from wireproof.kafka.values import Log, LogEntry, Message, Record, RecordBatch, RecordHeader

ZSTD: Final = 4
"""The codec that v0 and v1 do not have: kafka.md §2.2."""

NO_PRODUCER: Final = (-1, -1, -1)

REVISIONS: Final = ("v0", "v1", "v2")


@frozen
class LogicalMessage:
    """A logical message; its timestamp in milliseconds, -1 for none."""

    key: bytes | None
    value: bytes | None
    timestamp: int
    headers: tuple[RecordHeader, ...] = ()


@frozen
class LogicalMessageSet:
    """Logical messages that are sent together.

    Attributes:
        codec: attribute bits 0 to 2.
        producer: id, epoch and base sequence; all -1 without idempotence.
        transactional: whether they belong to a transaction.
    """

    codec: int
    messages: tuple[LogicalMessage, ...]
    producer: tuple[int, int, int] = NO_PRODUCER
    transactional: bool = False


def encodings_of(sending: LogicalMessageSet, revision: str) -> tuple[tuple[LogEntry, ...], ...]:
    """Return each encoding of the messages in `revision`, as its entries; none for zstd in v0 and v1.

    A wrapper has the offset of its last message and the greatest timestamp in a log (§2.2); clients leave
    both at 0, or the timestamp at -1 in v0, for the broker to set.
    """
    if revision == "v2":
        return ((_batch(sending),),)
    magic = REVISIONS.index(revision)
    single = tuple(_message(magic, index, one) for index, one in enumerate(sending.messages))
    if sending.codec == ZSTD:
        return ()
    if not sending.codec:
        return (single,)
    most = max(one.timestamp for one in single)
    outer = Message(single[-1].offset, magic, sending.codec, most, None, None, single)
    return ((outer,), (evolve(outer, offset=0, timestamp=0 if magic else -1),))


def _message(magic: int, offset: int, plain: LogicalMessage) -> Message:
    return Message(offset, magic, 0, plain.timestamp if magic else -1, plain.key, plain.value, None)


def _batch(sending: LogicalMessageSet) -> RecordBatch:
    """Return the batch that a producer makes: §1.7."""
    stamps = [one.timestamp for one in sending.messages]
    records = tuple(
        Record(0, one.timestamp - stamps[0], index, one.key, one.value, one.headers, index, one.timestamp)
        for index, one in enumerate(sending.messages)
    )
    attributes = sending.codec | (TRANSACTIONAL if sending.transactional else 0)
    last = len(records) - 1
    return RecordBatch(0, -1, 2, attributes, last, stamps[0], max(stamps), *sending.producer, records=records)


def _uncompressed(sending: LogicalMessageSet) -> LogicalMessageSet | None:
    return evolve(sending, codec=0) if sending.codec else None


MESSAGE_SETS: Final = MessageSets(
    "kafka.batch",
    "kafka",
    REVISIONS,
    deferred("wireproof.kafka.suite.strategies:logical_message_sets"),
    encodings_of,
    _uncompressed,
    Log,
)
