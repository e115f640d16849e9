"""A client program without a fault: kafka-python's consumer and producer."""

import json
import sys

from kafka import KafkaConsumer, KafkaProducer, TopicPartition
from kafka.errors import KafkaError


def text(data):
    return None if data is None else data.hex()


def data(text):
    return None if text is None else bytes.fromhex(text)


def consume(address, topic, isolation, offset):
    consumer = KafkaConsumer(bootstrap_servers=address, isolation_level=isolation, auto_offset_reset="none")
    place = TopicPartition(topic, 0)
    consumer.assign([place])
    consumer.seek(place, int(offset))
    while True:
        try:
            for record in consumer.poll(100).get(place, []):
                show(record)
        except (KafkaError, AssertionError, ValueError) as error:
            print(json.dumps({"error": repr(error)}), flush=True)


def show(record):
    row = {
        "offset": str(record.offset),
        "timestamp": str(-1 if record.timestamp is None else record.timestamp),
    }
    row |= {
        "timestampType": [None, "CreateTime", "LogAppendTime"][
            1 + (-1 if record.timestamp_type is None else record.timestamp_type)
        ]
    }
    row |= {"key": text(record.key), "value": text(record.value)}
    print(json.dumps(row | {"headers": [[name, text(part)] for name, part in record.headers]}), flush=True)


def produce(address, topic, codec, mode):
    modes = {
        "plain": {"enable_idempotence": False},
        "idempotent": {},
        "transactional": {"transactional_id": topic},
    }
    producer = KafkaProducer(
        bootstrap_servers=address,
        compression_type=None if codec == "none" else codec,
        linger_ms=20_000,
        batch_size=1 << 24,
        max_request_size=1 << 26,
        **modes[mode],
    )
    if mode == "transactional":
        producer.init_transactions()
    sent = []
    for line in sys.stdin:
        row = json.loads(line)
        if "flush" in row:
            producer.flush()
            for future in sent:
                try:
                    print(json.dumps({"offset": str(future.get(10).offset)}), flush=True)
                except KafkaError as error:
                    print(json.dumps({"error": repr(error)}), flush=True)
            sent = []
        elif "begin" in row:
            producer.begin_transaction()
        elif "commit" in row:
            producer.commit_transaction()
        elif "abort" in row:
            producer.abort_transaction()
        else:
            stamp = row.get("timestamp")
            sent.append(
                producer.send(
                    topic,
                    key=data(row["key"]),
                    value=data(row["value"]),
                    partition=0,
                    timestamp_ms=stamp and int(stamp),
                    headers=[(name, data(part)) for name, part in row.get("headers", [])],
                )
            )
    producer.close()


if __name__ == "__main__":
    {"consume": consume, "produce": produce}[sys.argv[1]](*sys.argv[2:])
