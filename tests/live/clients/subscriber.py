"""A client program by the public consumer of kafka-python: at an offset, or by a group."""

import json
import sys

from kafka import KafkaConsumer, TopicPartition
from kafka.errors import KafkaError

TIMESTAMP_TYPES = {None: None, -1: None, 0: "CreateTime", 1: "LogAppendTime"}


# Longer than a join takes on a busy machine: kafka-python 3.0.12 whose poll ends before that never fetches.
POLL_MS = 10_000


def main(start: str, address: str, topic: str, isolation: str, offset: str) -> None:
    group = {"group_id": "g", "auto_offset_reset": "earliest"} if start == "subscribe" else {"group_id": None}
    consumer = KafkaConsumer(bootstrap_servers=address, isolation_level=isolation, **group)
    if start == "subscribe":
        consumer.subscribe([topic])
    else:
        consumer.assign([TopicPartition(topic, 0)])
        consumer.seek(TopicPartition(topic, 0), int(offset))
    while True:
        try:
            for records in consumer.poll(POLL_MS).values():
                for record in records:
                    put(row_of(record))
        except KafkaError as error:
            put({"error": repr(error)})


def row_of(record: object) -> dict[str, object]:
    return {
        "offset": str(record.offset),  # type: ignore[attr-defined] # of kafka-python
        "timestampType": TIMESTAMP_TYPES[record.timestamp_type],  # type: ignore[attr-defined] # the same
        "key": record.key and record.key.hex(),  # type: ignore[attr-defined] # the same
        "value": record.value and record.value.hex(),  # type: ignore[attr-defined] # the same
    }


def put(row: dict[str, object]) -> None:
    sys.stdout.write(json.dumps(row) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
