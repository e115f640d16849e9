"""A client of kafka-python.

`client.py consume ADDRESS TOPIC ISOLATION OFFSET`, `client.py produce ADDRESS TOPIC CODEC MODE`
"""

import json
import sys
import time

from kafka import KafkaConsumer, KafkaProducer, TopicPartition
from kafka.errors import KafkaError
from kafka.future import Future


def consume(address: str, topic: str, isolation: str, offset: str) -> None:
    """Print the records of partition 0 from `offset` on, for ever."""
    consumer = KafkaConsumer(bootstrap_servers=address, isolation_level=isolation, auto_offset_reset="none")
    consumer.assign([TopicPartition(topic, 0)])
    consumer.seek(TopicPartition(topic, 0), int(offset))
    while True:
        try:
            for records in consumer.poll(timeout_ms=100).values():
                for r in records:
                    show(
                        offset=str(r.offset),
                        timestamp=str(-1 if r.timestamp is None else r.timestamp),
                        timestampType={0: "CreateTime", 1: "LogAppendTime"}.get(r.timestamp_type),
                        key=hexed(r.key),
                        value=hexed(r.value),
                        headers=[[name, hexed(value)] for name, value in r.headers],
                    )
        except (KafkaError, ValueError) as error:
            show(error=repr(error))
            time.sleep(0.1)


def produce(address: str, topic: str, codec: str, mode: str) -> None:
    """Hand the records of stdin to the producer; print the answers at each flush."""
    options = {"compression_type": None if codec == "none" else codec, "enable_idempotence": mode != "plain"}
    sizes = {"linger_ms": 60_000, "batch_size": 1 << 24, "max_request_size": 1 << 25}
    identity = {"transactional_id": topic} if mode == "transactional" else {}
    producer = KafkaProducer(bootstrap_servers=address, **options, **sizes, **identity)
    if identity:
        producer.init_transactions()
    verbs = {"begin": "begin_transaction", "commit": "commit_transaction", "abort": "abort_transaction"}
    sent = []
    for line in map(json.loads, sys.stdin):
        if "value" in line:
            headers = [(name, unhexed(value)) for name, value in line.get("headers", [])]
            when = int(line["timestamp"]) if "timestamp" in line else None
            key, value = unhexed(line["key"]), unhexed(line["value"])
            try:
                sent.append(producer.send(topic, value, key, headers, 0, when))
            except (KafkaError, TypeError, ValueError) as error:
                sent.append(Future().failure(error))
        elif "flush" in line:
            producer.flush()
            answer(sent)
            sent = []
        else:
            getattr(producer, verbs[next(iter(line))])()


def answer(sent: list[Future]) -> None:
    """Print the answers to records."""
    for future in sent:
        if future.succeeded():
            show(offset=str(future.value.offset))
        else:
            show(error=repr(future.exception))


def show(**line: object) -> None:
    """Print one line of JSON."""
    print(json.dumps(line), flush=True)


def hexed(data: bytes | None) -> str | None:
    """Return bytes as hex."""
    return None if data is None else data.hex()


def unhexed(text: str | None) -> bytes | None:
    """Return hex as bytes."""
    return None if text is None else bytes.fromhex(text)


if __name__ == "__main__":
    {"consume": consume, "produce": produce}[sys.argv[1]](*sys.argv[2:])
