"""The loopback broker as clients see it, and as `serve broker` starts it for a user to try a check on."""

import shlex
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from confluent_kafka import Consumer, Producer
from confluent_kafka import TopicPartition as Assigned
from kafka import KafkaConsumer, KafkaProducer, TopicPartition

from tests.live.judging import wireproof
from tests.live.mock_broker.server import running
from tests.live.raw_client import RawClient
from wireproof.live.loopback_broker.append_rules import ErrorCode
from wireproof.live.loopback_broker.faults import BROKER, FAULTS

SECONDS = 20


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with running() as found:
        yield found


@pytest.fixture
def client(address: str) -> Iterator[RawClient]:
    with RawClient(address) as found:
        yield found


def test_kafka_python_reads_what_it_wrote(address: str, client: RawClient) -> None:
    client.create("of-kafka-python", 1, {"message.timestamp.type": "LogAppendTime"})
    with KafkaProducer(bootstrap_servers=address, enable_idempotence=True) as producer:
        sent = [producer.send("of-kafka-python", b"%d" % number, partition=0) for number in range(5)]
        assert [one.get(SECONDS).offset for one in sent] == list(range(5))
    consumer = KafkaConsumer(bootstrap_servers=address, auto_offset_reset="earliest", group_id=None)
    consumer.assign([TopicPartition("of-kafka-python", 0)])
    found = [next(consumer) for _ in range(5)]
    consumer.close()
    assert [(one.value, one.timestamp_type) for one in found] == [(b"%d" % number, 1) for number in range(5)]


def test_librdkafka_reads_what_it_wrote(address: str, client: RawClient) -> None:
    client.create("of-librdkafka", 1, {})
    producer = Producer(
        {"bootstrap.servers": address, "enable.idempotence": True, "compression.type": "zstd"}
    )
    for number in range(5):
        producer.produce("of-librdkafka", b"%d" % number * 100, partition=0)
    assert producer.flush(SECONDS) == 0
    consumer = Consumer({"bootstrap.servers": address, "group.id": "g", "enable.auto.commit": False})
    consumer.assign([Assigned("of-librdkafka", 0, 0)])
    found = consumer.consume(5, SECONDS)
    consumer.close()
    assert [one.value() for one in found] == [b"%d" % number * 100 for number in range(5)]


def test_settings_that_no_topic_has_are_refused(client: RawClient) -> None:
    assert client.create("bad", 1, {"colour": "red"}) == ErrorCode.INVALID_CONFIG
    assert client.create("bad", 1, {"compression.type": "brotli"}) == ErrorCode.INVALID_CONFIG
    assert client.create("bad", 1, {}) == ErrorCode.NONE
    assert client.create("bad", 1, {}) == ErrorCode.TOPIC_ALREADY_EXISTS
    assert client.delete("bad") == [ErrorCode.NONE]
    assert client.delete("bad") == [ErrorCode.UNKNOWN_TOPIC_OR_PARTITION]


# --- served ---


CASES = [word for name in ("count-1", "mixed-none", "two-none") for word in ("--run", f"**/append/{name}")]


@contextmanager
def served(*words: str) -> Iterator[list[str]]:
    """The words of the printed check; the broker ends with Ctrl-C, and says nothing more."""
    child = subprocess.Popen(
        [sys.executable, "-m", "wireproof", "serve", "broker", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert child.stdout is not None
        head = child.stdout.readline()
        assert head.startswith("broker on 127.0.0.1:")
        yield shlex.split(child.stdout.readline())
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=30)
        assert (child.returncode, out, err) == (0, "", "")
    finally:
        child.kill()
        child.wait()


@pytest.mark.live
def test_the_sound_broker_conforms() -> None:
    with served() as (program, *check, run, pattern):
        assert (program, check[0], run, pattern) == ("wireproof", "check", "--run", BROKER.cases)
        done = wireproof(*check, *CASES)
    assert done.returncode == 0, done.stdout
    assert "conforms" in done.stdout


@pytest.mark.live
@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("stores-wrong-crc", "crc-mismatch"),
        ("drops-data", "records are in the log"),
        ("shifts-timestamps", "imestamp"),
    ],
)
def test_a_fault_that_is_named_is_found_by_the_printed_command(fault: str, said: str) -> None:
    with served(fault) as (_, *check, _, _):
        done = wireproof(*check, *CASES)
    assert done.returncode == 1
    assert said in done.stdout


@pytest.mark.live
def test_every_fault_is_described_in_a_sentence() -> None:
    assert list(BROKER.faults) == sorted(FAULTS)
    assert all(text.endswith(".") for text in BROKER.faults.values())


@pytest.mark.live
def test_a_wrong_fault_lists_the_names() -> None:
    done = wireproof("serve", "broker", "stores-wrong-crcs")
    assert done.returncode == 2
    assert f"did you mean stores-wrong-crc? faults: {', '.join(FAULTS)}" in done.stderr


@pytest.mark.live
def test_a_port_that_is_taken_is_one_line() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = wireproof("serve", "broker", "--port", str(port))
    assert done.returncode == 2
    assert f"port {port} of 127.0.0.1 cannot be used: " in done.stderr
    assert "None" not in done.stderr
