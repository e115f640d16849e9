"""Carries out a plan with a Python client: `python clients.py NAME BOOTSTRAP PLAN`; prints its version."""

import asyncio
import json
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

HOLD = 30_000
"""Milliseconds for which records are held back: a flush ends it."""


def librdkafka(bootstrap: str, step: dict[str, Any], name: str) -> None:
    """A step, with confluent-kafka."""
    from confluent_kafka import Producer  # noqa: PLC0415 - the others are not loaded with it

    own = {"transactional.id": name} if _transactional(step) else {}
    settings = {"bootstrap.servers": bootstrap, "linger.ms": HOLD, "compression.type": step["codec"]}
    producer = Producer({**settings, "enable.idempotence": step["mode"] != "plain", **own})
    failed: list[Any] = []
    if own:
        producer.init_transactions(30)
        producer.begin_transaction()
    for batch in step["batches"]:
        for record in batch:
            producer.produce(
                step["topic"],
                partition=0,
                on_delivery=lambda error, _: failed.append(error) if error else None,
                **_told(record),
            )
        if producer.flush(30) or failed:
            raise RuntimeError(f"not delivered: {failed}")
    if own:
        (producer.commit_transaction if step["mode"] == "commit" else producer.abort_transaction)(30)


def _told(record: dict[str, Any]) -> dict[str, Any]:
    headers = [(key, _bytes(part)) for key, part in record["headers"]]
    told = {"key": _bytes(record["key"]), "value": _bytes(record["value"]), "timestamp": record["timestamp"]}
    return told | ({"headers": headers} if headers else {})


def kafka_python(bootstrap: str, step: dict[str, Any], name: str) -> None:
    """A step, with kafka-python."""
    from kafka import KafkaProducer  # noqa: PLC0415 - the others are not loaded with it

    producer = KafkaProducer(
        bootstrap_servers=bootstrap,
        linger_ms=HOLD,
        batch_size=1 << 20,
        compression_type=None if step["codec"] == "none" else step["codec"],
        enable_idempotence=step["mode"] != "plain",
        transactional_id=name if _transactional(step) else None,
    )
    if _transactional(step):
        producer.init_transactions()
        producer.begin_transaction()
    for batch in step["batches"]:
        sent = [
            producer.send(step["topic"], partition=0, timestamp_ms=told.pop("timestamp"), **told)
            for told in map(_told, map(_without_null_headers, batch))
        ]
        producer.flush(timeout=30)
        for future in sent:
            future.get(timeout=1)
    if _transactional(step):
        (producer.commit_transaction if step["mode"] == "commit" else producer.abort_transaction)()
    producer.close()


def _without_null_headers(record: dict[str, Any]) -> dict[str, Any]:
    """KafkaProducer.send raises TypeError for a header without a value."""
    return record | {"headers": [pair for pair in record["headers"] if pair[1] is not None]}


def aiokafka(bootstrap: str, step: dict[str, Any], name: str) -> None:
    """A step, with aiokafka."""
    asyncio.run(_aiokafka(bootstrap, step, name))


async def _aiokafka(bootstrap: str, step: dict[str, Any], name: str) -> None:
    from aiokafka import AIOKafkaProducer  # noqa: PLC0415 - the others are not loaded with it

    producer = AIOKafkaProducer(
        bootstrap_servers=bootstrap,
        compression_type=None if step["codec"] == "none" else step["codec"],
        enable_idempotence=step["mode"] != "plain",
        transactional_id=name if _transactional(step) else None,
    )
    await producer.start()
    if _transactional(step):
        await producer.begin_transaction()
    for batch in step["batches"]:
        made = producer.create_batch()
        for record in batch:
            headers = [(key, _bytes(part)) for key, part in record["headers"]]
            body = {"key": _bytes(record["key"]), "value": _bytes(record["value"])}
            made.append(timestamp=record["timestamp"], headers=headers, **body)
        made.close()
        await (await producer.send_batch(made, step["topic"], partition=0))
    if _transactional(step):
        await (producer.commit_transaction() if step["mode"] == "commit" else producer.abort_transaction())
    await producer.stop()


def _transactional(step: dict[str, Any]) -> bool:
    return step["mode"] in ("commit", "abort")


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else text.encode()


CLIENTS = {
    "librdkafka": (librdkafka, "confluent-kafka"),
    "kafka-python": (kafka_python, "kafka-python"),
    "aiokafka": (aiokafka, "aiokafka"),
}
"""The function that carries out a step, and the package whose version it has."""


def main(name: str, bootstrap: str, path: str) -> None:
    """Every step of the plan."""
    produce, package = CLIENTS[name]
    for number, step in enumerate(json.loads(Path(path).read_text())["steps"]):
        produce(bootstrap, step, f"wireproof-{name}-{number}")
    sys.stdout.write(f"{version(package)}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
