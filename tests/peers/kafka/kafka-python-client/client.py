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
    isolated = chosen(KafkaConsumer, isolation_level=isolation, default="read_uncommitted")
    consumer = KafkaConsumer(bootstrap_servers=address, auto_offset_reset="none", **isolated)
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
    options = {"compression_type": None if codec == "none" else codec, "linger_ms": 60_000}
    sizes = {"batch_size": 1 << 24, "max_request_size": 1 << 25}
    name = topic if mode == "transactional" else None
    options |= chosen(KafkaProducer, enable_idempotence=mode != "plain", default=False)
    options |= chosen(KafkaProducer, transactional_id=name, default=None)
    producer = KafkaProducer(bootstrap_servers=address, **options, **sizes)
    if name:
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


def chosen(client: type, default: object, **option: object) -> dict[str, object]:
    """Return an option; a release without it, as those before 2.1, does what the default says, or nothing."""
    if option.keys() <= client.DEFAULT_CONFIG.keys():
        return option
    if default not in option.values():
        show(error=f"this release has no option {', '.join(option)}")
        sys.exit()
    return {}


def answer(sent: list[Future]) -> None:
    for future in sent:
        if future.succeeded():
            show(offset=str(future.value.offset))
        else:
            show(error=repr(future.exception))


def show(**line: object) -> None:
    print(json.dumps(line), flush=True)


def hexed(data: bytes | None) -> str | None:
    return None if data is None else data.hex()


def unhexed(text: str | None) -> bytes | None:
    return None if text is None else bytes.fromhex(text)


if __name__ == "__main__":
    {"consume": consume, "produce": produce}[sys.argv[1]](*sys.argv[2:])
