"""The mock broker as clients see it; `test_kill_table.py` judges by cases that it answers as Kafka does."""

from collections.abc import Iterator

import pytest
from confluent_kafka import Consumer, Producer
from confluent_kafka import TopicPartition as Assigned
from kafka import KafkaConsumer, KafkaProducer, TopicPartition

from tests.live.mock_broker.server import running
from tests.live.raw_client import RawClient
from wireproof.live.loopback_broker.append_rules import ErrorCode

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
