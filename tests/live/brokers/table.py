"""The brokers that can be started, by name: one entry each."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import Final

from attrs import evolve, frozen
from confluent_kafka import Producer

from tests.broker import ground
from wireproof.adapters.registry.driver_build import built
from wireproof.adapters.registry.registered import Build

# --- releases of Apache Kafka: the newest by KRaft, and the last one that takes v0 and v1 ---


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


# --- programs of other languages: built once from their registries, pinned ---


TANSU_VERSION: Final = "0.6.0"
_INSTALL: Final = (
    *("nice", "-n", "19", "cargo", "install", "tansu", "--version", TANSU_VERSION, "--locked", "-j1"),
    *("--no-default-features", "--features", "dynostore"),
    *("--profile", "dev", "--config", "profile.dev.debug=false"),
    *("--root", "{build}", "--target-dir", "{build}/target"),
)

TANSU: Final = Build(HERE / "tansu", (_INSTALL,))
KFAKE: Final = Build(HERE / "kfake", (("go", "build", "-o", "kfake", "."),))

Command = Callable[[int], list[str]]


def tansu_command(port: int) -> list[str]:
    """Return the command of tansu, with its storage in memory."""
    address = f"tcp://127.0.0.1:{port}"
    program = built("tansu", TANSU) / "bin" / "tansu"
    options = ("--listener-url", address, "--advertised-listener-url", address)
    return [str(program), "broker", *options, "--storage-engine", "memory://wireproof/"]


def kfake_command(port: int) -> list[str]:
    """Return the command of kfake: a program of ours around the package of franz-go."""
    return [str(built("kfake", KFAKE) / "kfake"), str(port)]


@contextmanager
def running_program(command: Command, folder: Path, port: int) -> Iterator[str]:
    """Start a program; yield its address, and stop it at the end."""
    port = port or ground.free_port()
    with ground.listening(command(port), port, folder / "broker.out") as address:
        yield address


# --- the mock cluster inside librdkafka, which a producer of confluent-kafka starts ---


ANSWER_SECONDS = 30


@contextmanager
def running_mock(_: Path, port: int) -> Iterator[str]:
    """Start a mock cluster of one broker; yield its address, and stop it at the end.

    Raises:
        ValueError: a port was asked for.
    """
    if port:
        raise ValueError("librdkafka's mock cluster chooses its port: leave out --port")
    producer = Producer({"test.mock.num.brokers": 1})
    brokers = producer.list_topics(timeout=ANSWER_SECONDS).brokers.values()
    (address,) = (f"{broker.host}:{broker.port}" for broker in brokers)
    yield address
    del producer


# --- the table ---


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
    return evolve(release, settings=EXPIRING)


BROKERS: Final[Mapping[str, Broker]] = {
    "kafka-4.4": Broker("4.4.0", "Apache Kafka by KRaft, the witness for v2", _kafka(ground.NEWEST)),
    "kafka-3.9": Broker("3.9.2", "Apache Kafka by KRaft; v0 and v1 are stored as v2", _kafka(KAFKA_39)),
    "kafka-4.4-expiring": Broker(
        "4.4.0", "the same, which soon forgets idle producers", _kafka(_expiring(ground.NEWEST))
    ),
    "kafka-3.9-expiring": Broker(
        "3.9.2", "the same, which soon forgets idle producers", _kafka(_expiring(KAFKA_39))
    ),
    "kafka-3.9-zookeeper": Broker(
        "3.9.2",
        "Apache Kafka whose topics keep v0 and v1 by message.format.version",
        running_with_zookeeper,
    ),
    "tansu": Broker(
        TANSU_VERSION,
        "a broker in Rust, in memory; later versions are named nisshi",
        partial(running_program, tansu_command),
    ),
    "kfake": Broker("0.0.0-20260918", "franz-go's fake cluster", partial(running_program, kfake_command)),
    "librdkafka-mock": Broker(
        "of confluent-kafka", "librdkafka's mock cluster: no CreateTopics", running_mock
    ),
}
