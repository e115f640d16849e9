"""Batches as messages of v0 and v1, for old versions of Fetch: kafka.md §1.16, from Kafka's RecordsUtil."""

from collections.abc import Iterator, Sequence
from typing import Final

from wireproof.kafka import entry, log
from wireproof.kafka.attribute_bits import CODEC_MASK, CONTROL, LOG_APPEND_TIME
from wireproof.kafka.family.loopback_broker.append_rules import NO_TIMESTAMP, ZSTD, AppendRefused, ErrorCode
from wireproof.kafka.values import Message, RecordBatch
from wireproof.wire.options import DEFAULT_OPTIONS
from wireproof.wire.reader import Reader
from wireproof.wire.writer import Writer

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
