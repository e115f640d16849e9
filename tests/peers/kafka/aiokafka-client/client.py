"""A client of aiokafka.

`client.py consume ADDRESS TOPIC ISOLATION OFFSET`, `client.py produce ADDRESS TOPIC CODEC MODE`
"""

import asyncio
import json
import sys
from typing import Any

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.errors import KafkaError
from aiokafka.structs import RecordMetadata

TYPES = {0: "CreateTime", 1: "LogAppendTime"}


async def consume(address: str, topic: str, isolation: str, offset: str) -> None:
    """Print the records of partition 0 from `offset` on, for ever."""
    options = {"bootstrap_servers": address, "isolation_level": isolation, "auto_offset_reset": "none"}
    async with AIOKafkaConsumer(**options) as consumer:
        consumer.assign([TopicPartition(topic, 0)])
        consumer.seek(TopicPartition(topic, 0), int(offset))
        while True:
            try:
                r = await consumer.getone()
            except KafkaError as error:
                show(error=repr(error))
                await asyncio.sleep(0.1)
                continue
            show(
                offset=str(r.offset),
                timestamp=str(-1 if r.timestamp is None else r.timestamp),
                timestampType=TYPES.get(r.timestamp_type),
                key=hexed(r.key),
                value=hexed(r.value),
                headers=[[name, hexed(value)] for name, value in r.headers],
            )


async def produce(address: str, topic: str, codec: str, mode: str) -> None:
    """Hand the records of stdin to the producer; print the answers at each flush."""
    verbs = {"begin": "begin_transaction", "commit": "commit_transaction", "abort": "abort_transaction"}
    sent = []
    async with AIOKafkaProducer(bootstrap_servers=address, **settings(topic, codec, mode)) as producer:
        while text := await asyncio.to_thread(sys.stdin.readline):
            line = json.loads(text)
            if "value" in line:
                headers = [(name, unhexed(value)) for name, value in line.get("headers", [])]
                when = int(line["timestamp"]) if "timestamp" in line else None
                key, value = unhexed(line["key"]), unhexed(line["value"])
                try:
                    sent.append(await producer.send(topic, value, key, 0, when, headers))
                except (AssertionError, KafkaError) as error:
                    sent.append(failed(error))
            elif "flush" in line:
                await producer.flush()
                for done in await asyncio.gather(*sent, return_exceptions=True):
                    show(**answer(done))
                sent.clear()
            else:
                await getattr(producer, verbs[next(iter(line))])()


def failed(error: Exception) -> "asyncio.Future[Any]":
    """Return the answer to a record that could not be handed over."""
    future = asyncio.get_running_loop().create_future()
    future.set_exception(error)
    return future


def answer(done: RecordMetadata | BaseException) -> dict[str, str]:
    return {"error": repr(done)} if isinstance(done, BaseException) else {"offset": str(done.offset)}


def settings(topic: str, codec: str, mode: str) -> dict[str, Any]:
    options = {"compression_type": None if codec == "none" else codec, "enable_idempotence": mode != "plain"}
    sizes = {"linger_ms": 100, "max_batch_size": 1 << 24, "max_request_size": 1 << 25}
    identity = {"transactional_id": topic} if mode == "transactional" else {}
    return {**options, **sizes, **identity}


def show(**line: object) -> None:
    print(json.dumps(line), flush=True)


def hexed(data: bytes | None) -> str | None:
    return None if data is None else data.hex()


def unhexed(text: str | None) -> bytes | None:
    return None if text is None else bytes.fromhex(text)


if __name__ == "__main__":
    asyncio.run({"consume": consume, "produce": produce}[sys.argv[1]](*sys.argv[2:]))
