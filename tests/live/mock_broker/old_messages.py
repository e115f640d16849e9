"""Batches as messages of v0 and v1, for old versions of Fetch: kafka.md §1.16, from Kafka's RecordsUtil."""

from collections.abc import Sequence
from typing import Any, Final

from wireproof.kafka import entry
from wireproof.kafka.append import NO_TIMESTAMP
from wireproof.kafka.attribute_bits import CODEC_MASK, CONTROL, LOG_APPEND_TIME
from wireproof.kafka.values import Message, RecordBatch
from wireproof.live.loopback_broker.append_rules import ZSTD, AppendRefused, ErrorCode, batches_of
from wireproof.live.loopback_broker.fetching import Fetching
from wireproof.live.loopback_broker.partition import CleaningPartition, ServedPartition
from wireproof.wire.writer import Writer

OLD_FETCH: Final = {0: 0, 1: 0, 2: 1, 3: 1}
"""The magic of the messages that a version of Fetch returns; later ones return batches."""


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


class ConvertingFetching(Fetching):
    """Returns messages to old versions of Fetch."""

    def read(self, partition: ServedPartition, asked: Any, bound: int | None) -> bytes:
        """Convert what is stored."""
        data = super().read(partition, asked, bound)
        magic = OLD_FETCH.get(self.request.version)
        if magic is None:
            return data
        assert isinstance(partition, ConvertingPartition)
        return partition.read_old(data, asked.fetch_offset, magic)


class ConvertingPartition(CleaningPartition):
    """Takes Fetch 0 to 3. A fault overrides one step."""

    fetching_class = ConvertingFetching

    def read_old(self, data: bytes, offset: int, magic: int) -> bytes:
        """Return stored bytes as messages of an old format; raises `AppendRefused`."""
        if not self.settings.down_conversion:
            raise AppendRefused(ErrorCode.UNSUPPORTED_VERSION, "down-conversion is switched off")
        found = (self.messages(one, offset, magic) for one in batches_of(data))
        return b"".join(map(written, found))

    def messages(self, batch: RecordBatch, offset: int, magic: int) -> list[Message]:
        """Return the messages that stand for a batch."""
        return of_batch(batch, offset, magic)
