"""A client of confluent-kafka, on librdkafka.

`client.py consume ADDRESS TOPIC ISOLATION OFFSET`, `client.py produce ADDRESS TOPIC CODEC MODE`
"""

import json
import sys
from typing import Any

from confluent_kafka import (
    TIMESTAMP_NOT_AVAILABLE,
    Consumer,
    KafkaError,
    KafkaException,
    Message,
    Producer,
    TopicPartition,
)

TYPES = {1: "CreateTime", 2: "LogAppendTime"}


def consume(address: str, topic: str, isolation: str, offset: str) -> None:
    """Print the records of partition 0 from `offset` on, for ever."""
    options = {"group.id": topic, "isolation.level": isolation, "check.crcs": True}
    options |= {"enable.auto.commit": False, "auto.offset.reset": "error"}
    consumer = Consumer({"bootstrap.servers": address, **options})
    consumer.assign([TopicPartition(topic, 0, int(offset))])
    while True:
        for r in consumer.consume(timeout=0.1):
            if r.error():
                show(error=str(r.error()))
                continue
            kind, timestamp = r.timestamp()
            show(
                offset=str(r.offset()),
                timestamp="-1" if kind == TIMESTAMP_NOT_AVAILABLE else str(timestamp),
                timestampType=TYPES.get(kind),
                key=hexed(r.key()),
                value=hexed(r.value()),
                headers=[[name, hexed(value)] for name, value in r.headers() or []],
            )


def produce(address: str, topic: str, codec: str, mode: str) -> None:
    """Hand the records of stdin to the producer; print the answers at each flush."""
    options = {"compression.type": codec, "enable.idempotence": mode != "plain", "linger.ms": 30_000}
    sizes = {"batch.size": 1 << 24, "message.max.bytes": 1 << 25}
    sizes |= dict.fromkeys(("batch.num.messages", "queue.buffering.max.messages"), 1_000_000)
    identity = {"transactional.id": topic} if mode == "transactional" else {}
    producer = Producer({"bootstrap.servers": address, **options, **sizes, **identity})
    producer.list_topics(topic)  # until it knows the partition it may split what lingers
    if identity:
        producer.init_transactions()
    verbs = {"begin": "begin_transaction", "commit": "commit_transaction", "abort": "abort_transaction"}
    for line in map(json.loads, sys.stdin):
        if "value" in line:
            producer.produce(topic, partition=0, on_delivery=answer, **record_of(line))
        elif "flush" in line:
            producer.flush()
        else:
            try:
                getattr(producer, verbs[next(iter(line))])()
            except KafkaException as error:
                show(error=str(error))


def record_of(line: dict[str, Any]) -> dict[str, Any]:
    timestamp = {"timestamp": int(line["timestamp"])} if "timestamp" in line else {}
    headers = [(name, unhexed(value)) for name, value in line.get("headers", [])]
    return {"key": unhexed(line["key"]), "value": unhexed(line["value"]), "headers": headers, **timestamp}


def answer(error: KafkaError | None, record: Message) -> None:
    show(**{"error": str(error)} if error else {"offset": str(record.offset())})


def show(**line: object) -> None:
    print(json.dumps(line), flush=True)


def hexed(data: bytes | None) -> str | None:
    return None if data is None else data.hex()


def unhexed(text: str | None) -> bytes | None:
    return None if text is None else bytes.fromhex(text)


if __name__ == "__main__":
    {"consume": consume, "produce": produce}[sys.argv[1]](*sys.argv[2:])
