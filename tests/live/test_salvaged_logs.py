"""A damaged partition of a real broker is salvaged: Kafka's own tool and a broker read what is written."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from folders import TESTS
from kafka import KafkaConsumer, KafkaProducer, TopicPartition
from kafka.admin import KafkaAdminClient, NewTopic
from machine import needs

pytestmark = [pytest.mark.brokers, needs("java", "mvn", "[peers]")]

sys.path.insert(0, str(TESTS / "broker"))
import dump  # noqa: E402 - a script of tests/broker
import ground  # noqa: E402 - likewise

TOPIC, RECORDS = "salvaged", 600


def produce(address: str) -> None:
    """Write records in batches of a few, in two segments at least."""
    settings = {"segment.bytes": "1048576"}
    with closing(KafkaAdminClient(bootstrap_servers=address)) as admin:
        admin.create_topics([NewTopic(TOPIC, 1, 1, topic_configs=settings)])
    with closing(KafkaProducer(bootstrap_servers=address, batch_size=32768)) as producer:
        for number in range(RECORDS):
            producer.send(TOPIC, f"{number} ".encode() * 800, partition=0)
            if number % 7 == 0:
                producer.flush()


def consumed(address: str) -> Iterator[int]:
    """Yield the offsets that a consumer reads."""
    place = TopicPartition(TOPIC, 0)
    with closing(KafkaConsumer(bootstrap_servers=address, consumer_timeout_ms=10000)) as consumer:
        consumer.assign([place])
        consumer.seek_to_beginning(place)
        for record in consumer:
            assert record.value == f"{record.offset} ".encode() * 800
            yield record.offset


def test_kafka_reads_a_repaired_log(tmp_path: Path) -> None:
    with ground.running(tmp_path) as address:
        produce(address)
    partition = tmp_path / "logs" / f"{TOPIC}-0"
    first, *later = sorted(partition.glob("*.log"))
    assert later
    data = bytearray(first.read_bytes())
    for part in (1, 3, 5):
        data[len(data) * part // 16] ^= 1
    data[len(data) // 2 : len(data) // 2 + 65536] = bytes(65536)
    first.write_bytes(data)
    last = later[-1]
    last.write_bytes(last.read_bytes()[:-100])
    words = [
        sys.executable,
        "-m",
        "wireproof",
        "salvage",
        str(partition),
        "--out",
        str(tmp_path / "repaired"),
    ]
    done = subprocess.run(words, check=False, capture_output=True, text=True)
    assert done.returncode == 1, done.stderr
    *losses, sums = map(json.loads, (tmp_path / "repaired.lost.jsonl").read_text().splitlines())
    repaired = sorted((tmp_path / "repaired").glob("*.log"))
    assert [path.name for path in repaired] == [first.name, last.name]
    for path in repaired:
        (printed,) = dump.printed([path]).values()
        assert not [line for line in printed if "unread" in line]
        assert {line["isvalid"] for line in printed if "isvalid" in line} == {"true"}
        (partition / path.name).write_bytes(path.read_bytes())
        for ending in (".index", ".timeindex"):
            (partition / path.name).with_suffix(ending).unlink(missing_ok=True)
    (tmp_path / "logs" / ".kafka_cleanshutdown").unlink()
    settings = tmp_path / "server.properties"
    port = int(
        next(line for line in settings.read_text().splitlines() if "advertised" in line).rpartition(":")[2]
    )
    command = ground.java("kafka.Kafka", str(settings), heap=512)
    with ground.listening(command, port, tmp_path / "again.out") as address:
        offsets = list(consumed(address))
    lost = {
        offset
        for one in losses
        for offset in range(
            one["firstOffset"], RECORDS if one["lastOffset"] is None else one["lastOffset"] + 1
        )
    }
    assert len(offsets) == sums["soundRecords"]
    assert len(lost) == sums["leastRecords"]
    assert sorted([*offsets, *lost]) == list(range(RECORDS))
