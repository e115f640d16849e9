"""A client of aiokafka: `client.py consume ADDRESS TOPIC ISOLATION OFFSET`, `client.py produce ADDRESS TOPIC CODEC MODE`."""

import asyncio
import json
import sys

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.errors import KafkaError

TYPES = {0: "CreateTime", 1: "LogAppendTime"}


async def consume(address, topic, isolation, offset):
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
                timestamp=str(r.timestamp),
                timestampType=TYPES.get(r.timestamp_type),
                key=hexed(r.key),
                value=hexed(r.value),
                headers=[[name, hexed(value)] for name, value in r.headers],
            )


async def produce(address, topic, codec, mode):
    """Hand the records of stdin to the producer; print the answers at each flush."""
    options = {"bootstrap_servers": address, "linger_ms": 100, "max_batch_size": 1 << 24, "max_request_size": 1 << 25}
    modes = {"plain": {}, "idempotent": {"enable_idempotence": True}, "transactional": {"transactional_id": topic}}
    verbs = {"begin": "begin_transaction", "commit": "commit_transaction", "abort": "abort_transaction"}
    lines, sent = asyncio.StreamReader(limit=1 << 28), []
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    compression = None if codec == "none" else codec
    async with AIOKafkaProducer(compression_type=compression, **options, **modes[mode]) as producer:
        while text := await lines.readline():
            line = json.loads(text)
            if "value" in line:
                headers = [(name, unhexed(value)) for name, value in line.get("headers", [])]
                when = int(line["timestamp"]) if "timestamp" in line else None
                key, value = unhexed(line["key"]), unhexed(line["value"])
                sent.append(await producer.send(topic, value, key, 0, when, headers))
            elif "flush" in line:
                await producer.flush()
                for done in await asyncio.gather(*sent, return_exceptions=True):
                    show(**{"error": repr(done)} if isinstance(done, Exception) else {"offset": str(done.offset)})
                sent.clear()
            else:
                await getattr(producer, verbs[next(iter(line))])()


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
    asyncio.run({"consume": consume, "produce": produce}[sys.argv[1]](*sys.argv[2:]))
