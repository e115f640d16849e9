"""Data directories of a broker that six clients wrote: `python tests/broker/data_directory.py --out DIR`.

`DIR/killed` is the directory as `kill -9` left it in the middle of writing, with its `meta.properties`, KRaft
metadata and checkpoints; `DIR/stopped` is the same after the broker recovered it, took more and was stopped.
Every client has the topics of `plan.TOPICS`: all codecs, transactions that commit and that abort,
LogAppendTime, compaction. `rolled` has many segments; groups have committed offsets; one topic was deleted.
`--client NAME` (repeatable) takes only some of the clients.
"""

import argparse
import os
import shutil
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import collect
import ground
import plan
from attrs import frozen
from kafka import KafkaConsumer, KafkaProducer
from kafka.admin import KafkaAdminClient, NewTopic
from kafka.errors import KafkaTimeoutError

SMALL: Final = {"segment.bytes": "1048576"}
"""Settings of a topic that is to have many segments: the least that Kafka takes."""

SETTINGS: Final = """
metadata.log.max.record.bytes.between.snapshots=4000
metadata.max.idle.interval.ms=0
log.segment.delete.delay.ms=3600000
broker.session.timeout.ms=20000
"""
"""Metadata snapshots come early, deleted segments stay; a broker that was killed may register again soon."""

ROLLED_RECORDS: Final = 6000
READ_SECONDS: Final = 60.0
DELETED_SECONDS: Final = 60.0
KILL_AFTER_BYTES: Final = 2 << 20
STOP_SECONDS: Final = 120


@frozen
class Broker:
    """A broker that can be killed and started again."""

    folder: Path
    port: int
    command: Sequence[str]

    @property
    def address(self) -> str:
        """The address for clients."""
        return f"127.0.0.1:{self.port}"

    @property
    def logs(self) -> Path:
        """The data directory."""
        return self.folder / "logs"

    def start(self) -> subprocess.Popen[bytes]:
        """Start it; return when it listens."""
        return ground.started(self.command, self.port, self.folder / "broker.out")


@contextmanager
def formatted() -> Iterator[Broker]:
    """Format a directory for a broker."""
    with TemporaryDirectory(prefix="broker-") as name:
        folder, port = Path(name), ground.free_port()
        release = ground.Release(ground.JAVA, SETTINGS)
        yield Broker(folder, port, ground.formatted(folder, release, port))


def make(out: Path, clients: Sequence[str]) -> None:
    """Fill `out`; raises `CalledProcessError` where a client fails."""
    out.mkdir(parents=True, exist_ok=True)
    with formatted() as broker:
        child = broker.start()
        try:
            producer = _written(broker, clients)
            _kill_while_writing(broker, child, producer)
            _taken(broker.logs, out / "killed")
            child = broker.start()
            collect.produced(clients[0], broker.address, broker.folder)
        finally:
            child.terminate()
            child.wait(STOP_SECONDS)
        _taken(broker.logs, out / "stopped")


def _written(broker: Broker, clients: Sequence[str]) -> KafkaProducer:
    """Write all that is written before the kill; return the producer that goes on."""
    admin = KafkaAdminClient(bootstrap_servers=broker.address)
    settings = {**plan.TOPICS, "compacted": {**plan.TOPICS["compacted"], **SMALL}}
    topics = [
        NewTopic(f"{client}-{name}", 1, 1, topic_configs=found)
        for client in clients
        for name, found in settings.items()
    ]
    admin.create_topics([*topics, NewTopic("rolled", 2, 1, topic_configs=SMALL), NewTopic("gone", 1, 1)])
    for client in clients:
        collect.produced(client, broker.address, broker.folder)
    producer = KafkaProducer(
        bootstrap_servers=broker.address, compression_type="lz4", enable_idempotence=True
    )
    for number in range(ROLLED_RECORDS):
        producer.send("rolled", key=str(number).encode(), value=os.urandom(300).hex().encode(), partition=0)
    producer.send("gone", b"x")
    producer.flush()
    for client in clients:
        _read(broker.address, f"{client}-kept", f"group-{client}")
    admin.delete_topics(["gone"])
    admin.close()
    _await_deleted(broker.logs, clients)
    return producer


def _read(address: str, topic: str, group: str) -> None:
    """Read some records as a member of a group, and commit."""
    consumer = KafkaConsumer(
        topic,
        bootstrap_servers=address,
        group_id=group,
        auto_offset_reset="earliest",
        enable_auto_commit=False,
    )
    deadline, got = time.monotonic() + READ_SECONDS, 0
    while got < 1 and time.monotonic() < deadline:
        got += sum(map(len, consumer.poll(timeout_ms=1000).values()))
    consumer.commit()
    consumer.close()


def _await_deleted(logs: Path, clients: Sequence[str]) -> None:
    """Wait until the cleaner has replaced segments of a topic of each client, or until time is up."""
    deadline = time.monotonic() + DELETED_SECONDS
    while time.monotonic() < deadline:
        if all(any((logs / f"{client}-compacted-0").glob("*.deleted")) for client in clients):
            return
        time.sleep(0.3)


def _kill_while_writing(broker: Broker, child: "subprocess.Popen[bytes]", producer: KafkaProducer) -> None:
    """Kill the broker while a producer writes, and give the producer up."""
    for number in count():
        producer.send("rolled", value=os.urandom(450).hex().encode(), partition=1)
        if not number % 100 and _size(broker.logs / "rolled-1") > KILL_AFTER_BYTES:
            break
    child.kill()
    child.wait()
    with suppress(KafkaTimeoutError):  # what it still has cannot be sent
        producer.close(timeout=1)


def _size(partition: Path) -> int:
    return sum(path.stat().st_size for path in partition.glob("*.log"))


def _taken(logs: Path, out: Path) -> None:
    """Copy a data directory, and say how large it is."""
    shutil.rmtree(out, ignore_errors=True)
    shutil.copytree(logs, out)
    files = [path for path in out.rglob("*") if path.is_file()]
    print(f"{out}: {len(files)} files, {sum(path.stat().st_size for path in files)} bytes")  # noqa: T201 - a script


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--client", action="append", choices=collect.CLIENTS)
    arguments: Any = parser.parse_args()
    make(arguments.out, arguments.client or collect.CLIENTS)


if __name__ == "__main__":
    main()
