"""The mock broker as clients see it, and what it refuses."""

import time
from collections.abc import Iterator

import pytest
from attrs import evolve
from confluent_kafka import Consumer, Producer
from confluent_kafka import TopicPartition as Assigned
from kafka import KafkaConsumer, KafkaProducer, TopicPartition

from tests.live.mock_broker.server import running
from tests.live.raw_client import RawClient
from wireproof.kafka import log
from wireproof.kafka.family.loopback_broker.append_rules import ErrorCode, Form, finished, written_records
from wireproof.kafka.values import Record, RecordBatch
from wireproof.wire.options import DEFAULT_OPTIONS
from wireproof.wire.reader import Reader

SECONDS = 20


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with running() as found:
        yield found


@pytest.fixture
def client(address: str) -> Iterator[RawClient]:
    with RawClient(address) as found:
        yield found


def batch(*records: Record, codec: int = 0) -> RecordBatch:
    now = time.time_ns() // 1_000_000
    last = len(records) - 1
    return RecordBatch(0, -1, 2, codec, last, now, now, -1, -1, -1, records)


def record(delta: int, key: bytes | None = b"k", value: bytes | None = b"v") -> Record:
    return Record(0, 0, delta, key, value, ())


def as_bytes(value: RecordBatch) -> bytes:
    return finished(Form(value, written_records(value)))


def stored(client: RawClient, topic: str) -> RecordBatch:
    found = log.decode(Reader(client.fetch(topic, 0, 0)[2]), DEFAULT_OPTIONS).batches[-1]
    assert isinstance(found, RecordBatch)
    return found


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


@pytest.mark.parametrize(
    ("configs", "value", "code"),
    [
        ({}, batch(record(0)), ErrorCode.NONE),
        ({}, evolve(batch(record(0)), attributes=32), ErrorCode.INVALID_RECORD),
        ({}, evolve(batch(record(0)), base_offset=1), ErrorCode.INVALID_RECORD),
        ({}, evolve(batch(record(0)), last_offset_delta=1), ErrorCode.INVALID_RECORD),
        ({}, evolve(batch(record(0)), producer_id=1), ErrorCode.INVALID_RECORD),
        ({}, batch(), ErrorCode.INVALID_RECORD),
        ({}, evolve(batch(record(0)), attributes=16), ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED),
        ({"cleanup.policy": "compact"}, batch(record(0)), ErrorCode.NONE),
        ({"cleanup.policy": "compact"}, batch(record(0), record(1, None)), ErrorCode.INVALID_RECORD),
        ({"max.message.bytes": "69"}, batch(record(0)), ErrorCode.MESSAGE_TOO_LARGE),
        ({"max.message.bytes": "70"}, batch(record(0)), ErrorCode.NONE),
        ({"message.timestamp.before.max.ms": "0"}, batch(record(0)), ErrorCode.INVALID_TIMESTAMP),
        ({"message.timestamp.type": "LogAppendTime"}, batch(record(0)), ErrorCode.NONE),
    ],
)
def test_a_record_set_is_answered_as_kafka_4_4_answers_it(
    client: RawClient, configs: dict[str, str], value: RecordBatch, code: ErrorCode
) -> None:
    client.delete("one")
    client.create("one", 1, configs)
    time.sleep(0.002)  # a time that is now must be past for the bound of 0 ms
    produced = client.produce("one", 0, as_bytes(value))
    assert ErrorCode(produced.code) == code
    assert client.end("one", 0) == (0 if code else len(value.records))


def test_a_wrong_crc_is_refused_and_nothing_is_stored(client: RawClient) -> None:
    client.create("crc", 1, {})
    data = bytearray(as_bytes(batch(record(0))))
    data[17] ^= 1
    assert client.produce("crc", 0, bytes(data)).code == ErrorCode.CORRUPT_MESSAGE
    assert client.end("crc", 0) == 0


def test_a_topic_with_a_codec_gets_its_codec(client: RawClient) -> None:
    client.create("zstd", 1, {"compression.type": "zstd"})
    sent = batch(record(0), record(1, None, None), codec=1)
    client.produce("zstd", 0, as_bytes(sent))
    found = stored(client, "zstd")
    assert found.attributes == 4
    assert [(one.key, one.value) for one in found.records] == [(b"k", b"v"), (None, None)]


def test_the_broker_sets_offset_epoch_and_time(client: RawClient) -> None:
    client.create("set", 1, {"message.timestamp.type": "LogAppendTime"})
    client.produce("set", 0, as_bytes(batch(record(0))))
    answer = client.produce("set", 0, as_bytes(evolve(batch(record(0)), partition_leader_epoch=7)))
    found = stored(client, "set")
    assert (found.base_offset, found.partition_leader_epoch) == (1, 0) == (answer.base_offset, 0)
    assert (found.attributes, found.max_timestamp) == (8, answer.append_time)


def test_a_batch_that_is_sent_again_is_answered_and_not_stored_again(client: RawClient) -> None:
    client.create("again", 1, {})
    value = evolve(batch(record(0)), producer_id=5, producer_epoch=0, base_sequence=0)
    first, second = (client.produce("again", 0, as_bytes(value)) for _ in range(2))
    assert (first.append_time, second) == (-1, evolve(first, append_time=value.max_timestamp))
    assert client.end("again", 0) == 1
    late = as_bytes(evolve(batch(record(0)), producer_id=5, producer_epoch=0, base_sequence=3))
    assert client.produce("again", 0, late).code == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_settings_that_no_topic_has_are_refused(client: RawClient) -> None:
    assert client.create("bad", 1, {"colour": "red"}) == ErrorCode.INVALID_CONFIG
    assert client.create("bad", 1, {"compression.type": "brotli"}) == ErrorCode.INVALID_CONFIG
    assert client.create("bad", 1, {}) == ErrorCode.NONE
    assert client.create("bad", 1, {}) == ErrorCode.TOPIC_ALREADY_EXISTS
    assert client.delete("bad") == [ErrorCode.NONE]
    assert client.delete("bad") == [ErrorCode.UNKNOWN_TOPIC_OR_PARTITION]
