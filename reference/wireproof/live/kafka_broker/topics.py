"""Topics of our own on somebody's cluster: their names, creation and removal. No other topic is touched."""

import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import count
from threading import Condition
from typing import Final, TypeAlias

from attrs import define, field
from kafka import errors
from kafka.protocol.admin import CreateTopicsRequest, DeleteTopicsRequest

from wireproof.adapters.registry.live_servers import PREFIX
from wireproof.live.kafka_broker.cluster import Cluster, tries
from wireproof.live.kafka_broker.connection import message, said_by
from wireproof.live.kafka_broker.error_codes import DENIED, RETRIED
from wireproof.wire.text import one_line

READY_SECONDS: Final = 20.0
TIMEOUT_MS: Final = 15_000

NEUTRAL: Final[Mapping[str, str]] = {
    "retention.ms": "-1",
    "retention.bytes": "-1",
    "message.timestamp.before.max.ms": str((1 << 63) - 1),
    "message.timestamp.after.max.ms": str((1 << 63) - 1),
}
"""Settings without which a topic refuses or deletes records because of their age, which no case is about."""

UNKNOWN_TOPIC: Final = 3
TOPIC_EXISTS: Final = 36
INVALID_CONFIG: Final = 40


@define
class Partition:
    """A partition of a topic of our own, used by one case at a time.

    Attributes:
        topic, topic_id, index: which it is.
        node: the broker that leads it.
        epoch: its leader epoch.
        end: the offset after its last record, as far as we wrote it.
        highest: the greatest high watermark that was answered.
        last: the bytes of its last batch as they were stored, and the offset from which they were fetched.
        producers: the producer ids that it has seen.
        used: True once something was sent to it.
        retired: True after a fault in it.
        created: when it was created, by the monotonic clock.
    """

    topic: str
    topic_id: object
    index: int
    node: int
    epoch: int
    end: int = 0
    highest: int = -1
    last: tuple[int, bytes] | None = None
    producers: set[int] = field(factory=set)
    used: bool = False
    retired: bool = False
    created: float = field(factory=time.monotonic)


class TopicError(Exception):
    """A topic cannot be created; the text is one line with the code of the broker."""


class OwnTopics:
    """Creates topics whose names begin with the token of this run, which no topic had before.

    Attributes:
        created: their names.
    """

    def __init__(self, cluster: Cluster, token: str) -> None:
        self._cluster = cluster
        self._token = token
        self._numbers = count(1)
        self.created: list[str] = []

    def check_names(self) -> list[str]:
        """Return the topics of other runs.

        Raises:
            TopicError: topics have our names already: they are somebody else's, and stay.
        """
        others = own_topics(self._cluster, PREFIX)
        if found := [name for name in others if name.startswith(f"{PREFIX}{self._token}-")]:
            raise TopicError(f"topics with the names of this run exist already: {', '.join(found)}")
        return others

    def create(self, config: Mapping[str, str], partitions: int) -> list[Partition]:
        """Create a topic with this configuration; raise `TopicError`.

        A broker that does not know the neutral settings gets those of the case alone. One without
        CreateTopics creates a topic when it is asked for its metadata, as test brokers do.
        """
        if CreateTopicsRequest.API_KEY not in self._cluster.versions:
            if config:
                raise TopicError("the broker has no CreateTopics: no topic can have a configuration")
            name = f"{PREFIX}{self._token}-{next(self._numbers)}"
            self._cluster.metadata(name, create=True)
            self.created.append(name)
            return self._led(name)
        answer = self._request({**NEUTRAL, **config}, partitions)
        if answer[0] == INVALID_CONFIG:
            answer = self._request(config, partitions)
        code, text, name = answer
        if code:
            denied = "not permitted" if code in DENIED else f"refused with {errors.for_code(code).message}"
            raise TopicError(
                f"creating the topic {name} is {denied}: {one_line(text or '', 200)}".rstrip(": ")
            )
        self.created.append(name)
        return self._led(name, partitions)

    def _request(self, config: Mapping[str, str], partitions: int) -> tuple[int, str | None, str]:
        name = f"{PREFIX}{self._token}-{next(self._numbers)}"
        version = self._cluster.newest(CreateTopicsRequest)
        topic = {
            "name": name,
            "num_partitions": partitions,
            "replication_factor": -1 if version >= 4 else 1,  # KIP-464: the broker's default
            "assignments": [],
            "configs": [{"name": key, "value": value} for key, value in config.items()],
        }
        request = message(CreateTopicsRequest, topics=[topic], timeout_ms=TIMEOUT_MS)
        for repeated, _ in enumerate(tries(READY_SECONDS)):
            try:
                found = self._cluster.metadata()
                self._cluster.learn_node(found)
                controller = getattr(found, "controller_id", None)
                node = controller if (controller or 0) >= 0 else None
                (reply,) = self._cluster.call(request, version, node).topics
            except errors.KafkaError:  # it may be created without an answer
                self.created.append(name)
                raise
            if reply.error_code == TOPIC_EXISTS and repeated:
                return 0, None, name  # the request before this one created it after all
            if reply.error_code not in RETRIED:
                break
        return reply.error_code, getattr(reply, "error_message", None), name

    def _led(self, name: str, partitions: int = 0) -> list[Partition]:
        """Return the partitions as soon as all have a leader; without their number, all that there are."""
        for _ in tries(READY_SECONDS):
            response = self._cluster.metadata(name)
            self._cluster.learn_node(response)
            (topic,) = response.topics
            if topic.error_code in DENIED:
                raise TopicError(f"describing the topic {name} is not permitted")
            rows = [row for row in topic.partitions if row.error_code == 0 and row.leader_id >= 0]
            if topic.error_code == 0 and rows and len(rows) == (partitions or len(topic.partitions)):
                found = getattr(topic, "topic_id", None)
                return [
                    Partition(
                        name, found, row.partition_index, row.leader_id, getattr(row, "leader_epoch", -1)
                    )
                    for row in rows
                ]
        raise TopicError(f"the topic {name} has no leader after {READY_SECONDS:g} s")


def delete(cluster: Cluster, names: Iterable[str]) -> dict[str, str]:
    """Delete topics; return those that are left, with the reason of each."""
    reasons = {name: _delete(cluster, name) for name in names}
    return {name: reason for name, reason in reasons.items() if reason}


def own_topics(cluster: Cluster, prefix: str) -> list[str]:
    """Return the names with a prefix, which is that of all runs or of one."""
    return sorted(name for name in cluster.all_topics() if name.startswith(prefix))


def _delete(cluster: Cluster, name: str) -> str:
    """Delete a topic; return the reason if that fails."""
    if DeleteTopicsRequest.API_KEY not in cluster.versions:
        return "the broker has no DeleteTopics"
    version = cluster.newest(DeleteTopicsRequest)
    by_name = {"topics": [{"name": name, "topic_id": None}]} if version >= 6 else {"topic_names": [name]}
    request = message(DeleteTopicsRequest, **by_name, timeout_ms=TIMEOUT_MS)
    try:
        try:
            (reply,) = cluster.call(request, version).responses
        except errors.KafkaConnectionError:  # once more on another connection: a topic may be deleted twice
            (reply,) = cluster.call(request, version).responses
    except errors.KafkaError as error:
        return said_by(error)
    if reply.error_code in DENIED:
        return "deleting it is not permitted"
    return "" if reply.error_code in (0, UNKNOWN_TOPIC) else str(errors.for_code(reply.error_code).message)


# --- partitions for the cases: of a topic with the configuration of the case, one case at a time each ---

SIZE, SMALL = 16, 4
"""Partitions of the topic with the neutral settings, and of one with settings of a case."""

Key: TypeAlias = tuple[int, tuple[tuple[str, str], ...]]
"""The magic of the entries, and the configuration of the topic."""


class Partitions:
    """Lends partitions and creates topics where there are too few. Threads may share it."""

    def __init__(self, topics: OwnTopics) -> None:
        self._topics = topics
        self._free: dict[Key, list[Partition]] = {}
        self._creating: set[Key] = set()
        self._changed = Condition()

    @contextmanager
    def lent(self, config: Mapping[str, str], magic: int, producer: int) -> Iterator[Partition]:
        """Lend a partition that has not seen this producer id, which is -1 for none; raise `TopicError`.

        Entries of each magic have partitions of their own, because they are fetched in another form.
        A partition whose case failed in the middle, or found a fault in it, is not lent again: nobody knows
        what it contains.
        """
        key = magic, tuple(sorted(config.items()))
        partition = self._taken(key, producer)
        yield partition
        if producer >= 0:
            partition.producers.add(producer)
        if not partition.retired:
            self._add(key, [partition])

    def forget(self, moment: float) -> None:
        """Lend no partition any more that was created before a time: a broker without a disk lost them."""
        with self._changed:
            for key, rows in self._free.items():
                self._free[key] = [one for one in rows if one.created > moment]

    def _taken(self, key: Key, producer: int) -> Partition:
        with self._changed:
            while True:
                free = self._free.setdefault(key, [])
                for place, partition in enumerate(free):
                    if producer not in partition.producers:
                        return free.pop(place)
                if key not in self._creating:
                    self._creating.add(key)
                    break
                self._changed.wait()
        rows: list[Partition] = []
        try:
            rows = self._topics.create(dict(key[1]), SMALL if key[1] else SIZE)
        finally:
            self._creating.discard(key)
            self._add(key, rows[1:])
        return rows[0]

    def _add(self, key: Key, rows: list[Partition]) -> None:
        with self._changed:
            self._free[key] += rows
            self._changed.notify_all()
