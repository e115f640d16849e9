"""Releases of Apache Kafka as brokers: the newest by KRaft, and the last one that takes v0 and v1."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tests.broker import ground
from wireproof.adapters.registry.registered import Build

HERE: Final = Path(__file__).parent

KAFKA_39: Final = ground.Release(Build(HERE / "kafka39", (("mvn", "-q", "-B", "-C", "package"),)))
"""Kafka 3.9 by KRaft: it takes messages of v0 and v1, and stores them as v2 (KIP-724)."""

EXPIRING: Final = """\
producer.id.expiration.ms=3000
producer.id.expiration.check.interval.ms=200
transactional.id.expiration.ms=4000
transaction.remove.expired.transaction.cleanup.interval.ms=200
"""
"""Producers and transactional ids are forgotten soon, so that a case can wait for it."""

ZOOKEEPER_SETTINGS: Final = """\
broker.id=1
zookeeper.connect=127.0.0.1:{zookeeper}
listeners=PLAINTEXT://127.0.0.1:{port}
advertised.listeners=PLAINTEXT://127.0.0.1:{port}
log.dirs={logs}
inter.broker.protocol.version=2.8
auto.create.topics.enable=false
offsets.topic.replication.factor=1
offsets.topic.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=1
log.retention.ms=-1
log.cleaner.backoff.ms=300
log.cleaner.dedupe.buffer.size=4194304
zookeeper.session.timeout.ms=600000
"""
"""With a protocol between brokers older than 3.0, a topic has a `message.format.version`."""


@contextmanager
def running_with_zookeeper(folder: Path, port: int) -> Iterator[str]:
    """Start Kafka 3.9 with ZooKeeper: topics of it can keep messages of v0 and v1; yield its address."""
    jars, zookeeper = KAFKA_39.build, ground.free_port()
    port = port or ground.free_port()
    main = "org.apache.zookeeper.server.ZooKeeperServerMain"
    keeper = ground.java(
        "-Dzookeeper.admin.enableServer=false", main, str(zookeeper), str(folder / "zookeeper"), build=jars
    )
    settings = folder / "server.properties"
    settings.write_text(
        ZOOKEEPER_SETTINGS.format(zookeeper=zookeeper, port=port, logs=folder / "logs"), encoding="utf-8"
    )
    command = ground.java("kafka.Kafka", str(settings), heap=512, build=jars)
    with (
        ground.listening(keeper, zookeeper, folder / "zookeeper.out"),
        ground.listening(command, port, folder / "broker.out") as address,
    ):
        yield address
