"""Data directories of brokers that clients wrote: `explain` prints what Kafka's own tool prints."""

import json
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest
from folders import TESTS
from kafka import KafkaProducer
from kafka.admin import KafkaAdminClient, NewTopic
from machine import needs

from tests.live.brokers.table import BROKERS

pytestmark = [pytest.mark.brokers, needs("java", "mvn", "go", "node", "[peers]")]

BROKER = TESTS / "broker"


def run(script: str, *arguments: object) -> str:
    """What a script of `tests/broker` prints; raises `CalledProcessError`."""
    command = [sys.executable, str(BROKER / script), *map(str, arguments)]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def test_explain_names_every_byte_of_a_broker_and_prints_what_kafkas_tool_prints(tmp_path: Path) -> None:
    run("data_directory.py", "--out", tmp_path)
    out = run("compare_explain.py", tmp_path / "killed", tmp_path / "stopped")
    first, *_, fields = out.splitlines()
    _, size, named = (int(word) for word in first.split() if word.isdecimal())
    assert size == named > 0, out
    assert " 0 different" in fields, out


OLD_FORMATS = {"0": "0.9.0", "1": "0.10.2"}
"""The `message.format.version` by which a topic keeps messages of v0 and of v1."""

OLD_CODECS = (None, "gzip", "snappy", "lz4")

CLEANED_SECONDS = 15
"""The cleaner begins every 300 ms where there is nothing to do, and a topic of these is small."""


def write_old_topics(address: str) -> None:
    """Write topics of old messages in every codec and in several segments, some of them cleaned."""
    rows = [
        (magic, codec, policy)
        for magic in OLD_FORMATS
        for codec in OLD_CODECS
        for policy in ("delete", "compact")
    ]
    settings = {"segment.bytes": "65536", "min.cleanable.dirty.ratio": "0.01"}
    topics = {
        f"v{magic}-{codec}-{policy}": {"message.format.version": OLD_FORMATS[magic], "cleanup.policy": policy}
        | settings
        for magic, codec, policy in rows
    }
    with closing(KafkaAdminClient(bootstrap_servers=address)) as admin:
        admin.create_topics([NewTopic(name, 1, 1, topic_configs=own) for name, own in topics.items()])
    for (_, codec, _), name in zip(rows, topics, strict=True):
        options = {"compression_type": codec, "linger_ms": 20, "enable_idempotence": False}
        with closing(KafkaProducer(bootstrap_servers=address, **options)) as producer:
            for number in range(3000):
                value = None if number % 97 == 0 else f"{number} of {name}".encode() * 3
                producer.send(name, value, key=f"{number % 300}".encode(), partition=0)
            producer.flush()


@pytest.fixture(scope="module")
def old(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data directory of Kafka 3.9 whose topics keep messages of v0 and v1."""
    folder = tmp_path_factory.mktemp("old")
    with BROKERS["kafka-3.9-zookeeper"].running(folder, 0) as address:
        write_old_topics(address)
        time.sleep(CLEANED_SECONDS)
    return folder / "logs"


@pytest.mark.parametrize("magic", OLD_FORMATS)
@pytest.mark.parametrize("codec", OLD_CODECS)
def test_a_topic_keeps_old_messages(magic: str, codec: str | None, old: Path) -> None:
    log = next((old / f"v{magic}-{codec}-delete-0").glob("*.log"))
    done = subprocess.run(
        [sys.executable, "-m", "wireproof", "explain", "--json", log],
        check=True,
        capture_output=True,
        text=True,
    )
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert {row["magic"] for row in rows if "magic" in row} == {int(magic)}


def test_explain_names_every_byte_of_old_messages_and_prints_what_kafkas_tool_prints(old: Path) -> None:
    out = run("compare_explain.py", old)
    first, *_, fields = out.splitlines()
    _, size, named = (int(word) for word in first.split() if word.isdecimal())
    assert size == named > 0, out
    assert " 0 different" in fields, out
