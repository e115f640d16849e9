"""Brokers that are asked more than others: that forget what is idle, and that take old versions of Fetch."""

import time
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final

from kafka.protocol.admin import DescribeConfigsRequest

from wireproof.kafka import entry
from wireproof.kafka.attribute_bits import CODEC_MASK, CONTROL, LOG_APPEND_TIME
from wireproof.kafka.layouts import NO_TIMESTAMP
from wireproof.kafka.values import Message, RecordBatch
from wireproof.live.loopback_broker import replies
from wireproof.live.loopback_broker.append_rules import ZSTD, AppendRefused, ErrorCode, batches_of
from wireproof.live.loopback_broker.cluster import Answer, Api, Coordinator, LoopbackCluster, Reply, Request
from wireproof.live.loopback_broker.fetching import Fetching
from wireproof.live.loopback_broker.partition import CleaningPartition, ServedPartition
from wireproof.wire.writer import Writer

# --- what a broker forgets: producers and transactional ids, after times that it describes ---


PRODUCER_AGE: Final = "producer.id.expiration.ms"
ID_AGE: Final = "transactional.id.expiration.ms"

EXPIRING: Final = {
    PRODUCER_AGE: 2_000,
    "producer.id.expiration.check.interval.ms": 1,
    ID_AGE: 3_000,
    "transaction.remove.expired.transaction.cleanup.interval.ms": 1,
}
"""The settings of a broker that forgets soon."""

BROKER: Final = 4
"""The type of the resource: protocol guide, DescribeConfigs."""

STATIC: Final = 4
"""The source of a setting that is in the file of the broker."""


class ForgettingPartition(ServedPartition):
    """Forgets idle producers. A fault overrides this step."""

    def forget_idle(self, now: int, age: int) -> None:
        """Forget the producers whose last batch is so old, but none in a transaction: isProducerExpired."""
        self._producers = {
            number: known
            for number, known in self._producers.items()
            if number in self.open or now - known.latest < age
        }


class ForgettingCoordinator(Coordinator):
    """Forgets idle transactional ids. A fault overrides this step."""

    def forget_idle(self, now: int, age: int) -> None:
        """Forget the transactional ids that did not change for so long, but none with an open transaction."""
        self._ids = {
            name: one for name, one in self._ids.items() if one.state == "ongoing" or now - one.changed < age
        }


def forget_idle(cluster: LoopbackCluster, settings: Mapping[str, int], now: int) -> None:
    """Forget producers and transactional ids whose time is over; partitions of other faults forget none."""
    if (age := settings.get(PRODUCER_AGE)) is not None:
        for partition in (one for topic in cluster.topics.values() for one in topic.partitions):
            if isinstance(partition, ForgettingPartition):
                partition.forget_idle(now, age)
    if (age := settings.get(ID_AGE)) is not None:
        assert isinstance(cluster.coordinator, ForgettingCoordinator)
        cluster.coordinator.forget_idle(now, age)


def apis(settings: Mapping[str, int]) -> Mapping[type[Any], Api]:
    """Return the APIs of a broker with these settings: it forgets first, and describes them."""
    rows = {**replies.APIS, DescribeConfigsRequest: (1, 4, partial(_describe_configs, settings))}
    return {
        kind: (least, newest, _after_forgetting(settings, answer))
        for kind, (least, newest, answer) in rows.items()
    }


def _after_forgetting(settings: Mapping[str, int], answer: Answer) -> Answer:
    def answered(cluster: LoopbackCluster, request: Request) -> Any:
        forget_idle(cluster, settings, time.time_ns() // 1_000_000)
        return answer(cluster, request)

    return answered


def _describe_configs(settings: Mapping[str, int], _: LoopbackCluster, request: Request) -> Reply:
    """Return the settings of the broker that were asked for; other resources have none."""
    rows = [
        {
            "error_message": None,
            "resource_type": asked.resource_type,
            "resource_name": asked.resource_name,
            "configs": list(_described(settings, asked)),
        }
        for asked in request.resources
    ]
    return {"results": rows}


def _described(settings: Mapping[str, int], asked: Request) -> Iterator[Reply]:
    wanted = asked.configuration_keys
    for name, value in settings.items() if asked.resource_type == BROKER else ():
        if wanted is None or name in wanted:
            yield {
                "name": name,
                "value": str(value),
                "read_only": True,
                "config_source": STATIC,
                "synonyms": [],
            }


# --- batches as messages of v0 and v1: kafka.md §1.16, from Kafka's RecordsUtil ---


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
