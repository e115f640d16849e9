"""A client of kafka-python: `client.py consume ADDRESS TOPIC ISOLATION OFFSET`, `client.py produce ADDRESS TOPIC CODEC MODE`."""

import json
import sys
import time

from kafka import KafkaConsumer, KafkaProducer, TopicPartition
from kafka.errors import KafkaError
from kafka.future import Future


def consume(address, topic, isolation, offset):
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
                        timestamp=str(r.timestamp),
                        timestampType={0: "CreateTime", 1: "LogAppendTime"}.get(r.timestamp_type),
                        key=hexed(r.key),
                        value=hexed(r.value),
                        headers=[[name, hexed(value)] for name, value in r.headers],
                    )
        except (KafkaError, ValueError) as error:
            show(error=repr(error))
            time.sleep(0.1)


def produce(address, topic, codec, mode):
    """Hand the records of stdin to the producer; print the answers at each flush."""
    options = {"bootstrap_servers": address, "linger_ms": 60_000, "batch_size": 1 << 24, "max_request_size": 1 << 25}
    modes = {"plain": {"enable_idempotence": False}, "idempotent": {}, "transactional": {"transactional_id": topic}}
    producer = KafkaProducer(compression_type=None if codec == "none" else codec, **options, **modes[mode])
    if mode == "transactional":
        producer.init_transactions()
    verbs = {"begin": "begin_transaction", "commit": "commit_transaction", "abort": "abort_transaction"}
    sent = []
    for line in map(json.loads, sys.stdin):
        if "value" in line:
            headers = [(name, unhexed(value)) for name, value in line.get("headers", [])]
            when = int(line["timestamp"]) if "timestamp" in line else None
            try:
                key, value = unhexed(line["key"]), unhexed(line["value"])
                sent.append(producer.send(topic, value, key, headers, 0, when))
            except (KafkaError, TypeError) as error:
                sent.append(Future().failure(error))
        elif "flush" in line:
            producer.flush()
            for future in sent:
                show(**{"offset": str(future.value.offset)} if future.succeeded() else {"error": repr(future.exception)})
            sent.clear()
        else:
            getattr(producer, verbs[next(iter(line))])()


def show(**line):
    """Print one line of JSON."""
    print(json.dumps(line), flush=True)


def hexed(data):
    """Return bytes as hex."""
    return None if data is None else data.hex()


def unhexed(text):
    """Return hex as bytes."""
    return None if text is None else bytes.fromhex(text)


if __name__ == "__main__":
    {"consume": consume, "produce": produce}[sys.argv[1]](*sys.argv[2:])
