"""The brokers that can be started, by name: one entry each."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Final

from attrs import evolve, frozen

from tests.broker import ground
from tests.live.brokers import kafka, librdkafka_mock, programs

Running = Callable[[Path, int], AbstractContextManager[str]]


@frozen
class Broker:
    """A broker that can be started.

    Attributes:
        version: the version that is pinned.
        note: a sentence on it.
        running: a context with its address, from a folder of this run and a port (0: any).
    """

    version: str
    note: str
    running: Running


def _kafka(release: ground.Release) -> Running:
    return lambda folder, port: ground.running(folder, release, port)


def _expiring(release: ground.Release) -> ground.Release:
    return evolve(release, settings=kafka.EXPIRING)


BROKERS: Final[Mapping[str, Broker]] = {
    "kafka-4.4": Broker("4.4.0", "Apache Kafka by KRaft, the witness for v2", _kafka(ground.NEWEST)),
    "kafka-3.9": Broker("3.9.2", "Apache Kafka by KRaft; v0 and v1 are stored as v2", _kafka(kafka.KAFKA_39)),
    "kafka-4.4-expiring": Broker(
        "4.4.0", "the same, which soon forgets idle producers", _kafka(_expiring(ground.NEWEST))
    ),
    "kafka-3.9-expiring": Broker(
        "3.9.2", "the same, which soon forgets idle producers", _kafka(_expiring(kafka.KAFKA_39))
    ),
    "kafka-3.9-zookeeper": Broker(
        "3.9.2",
        "Apache Kafka whose topics keep v0 and v1 by message.format.version",
        kafka.running_with_zookeeper,
    ),
    "tansu": Broker(
        programs.TANSU_VERSION,
        "a broker in Rust, in memory; later versions are named nisshi",
        partial(programs.running, programs.tansu_command),
    ),
    "kfake": Broker(
        "0.0.0-20260918", "franz-go's fake cluster", partial(programs.running, programs.kfake_command)
    ),
    "librdkafka-mock": Broker(
        "of confluent-kafka", "librdkafka's mock cluster: no CreateTopics", librdkafka_mock.running
    ),
}
