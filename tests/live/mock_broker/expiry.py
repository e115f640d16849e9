"""What a broker forgets: producers and transactional ids that are idle, after times that it describes."""

import time
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, Final

from kafka.protocol.admin import DescribeConfigsRequest

from wireproof.live.loopback_broker import server
from wireproof.live.loopback_broker.coordinator import Coordinator
from wireproof.live.loopback_broker.partition import ServedPartition
from wireproof.live.loopback_broker.replies import Answer, LoopbackCluster, Reply, Request

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


def answers(settings: Mapping[str, int]) -> Mapping[int, Answer]:
    """Return the answers of a broker with these settings: it forgets first, and describes them."""
    rows = {**server.ANSWERS, DescribeConfigsRequest.API_KEY: partial(_describe_configs, settings)}
    return {key: _after_forgetting(settings, answer) for key, answer in rows.items()}


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
