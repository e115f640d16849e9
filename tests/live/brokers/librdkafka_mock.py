"""The mock cluster inside librdkafka, which a producer of confluent-kafka starts."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from confluent_kafka import Producer

ANSWER_SECONDS = 30


@contextmanager
def running(_: Path, port: int) -> Iterator[str]:
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
