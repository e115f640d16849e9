"""Real brokers, each started here: what the suite finds is what is known of it, and no topic is left."""

from pathlib import Path

import pytest
from kafka.admin import KafkaAdminClient
from machine import needs

from tests.live.brokers.table import BROKERS
from tests.live.judging import judged

pytestmark = pytest.mark.brokers

KNOWN = Path(__file__).parent / "brokers" / "known"
"""The known failures of a broker, by its name; Apache Kafka has none."""

EVERY_CASE = ("kafka.batch/v*/produce/**", "kafka.log/mixed/produce/**", "kafka.log/mixed/append/**")

SEQUENCES = tuple(
    f"kafka.log/mixed/{topic}/*" for topic in ("idempotence", "transaction", "transaction-v2", "fetch")
)
"""The cases with steps."""

LEGACY = frozenset({"kafka-3.9", "kafka-3.9-zookeeper"})
"""The brokers that take v0 and v1: with KRaft they store them as v2, with ZooKeeper as they are."""


def of_broker(name: str, *tools: str) -> object:
    return pytest.param(name, id=name, marks=needs(*tools, "[peers]"))


JUDGED = [
    of_broker("kafka-4.4", "java", "mvn"),
    *(of_broker(name, "java", "mvn") for name in sorted(LEGACY)),
    of_broker("kfake", "go"),
]
"""Those that are built in a minute; tansu takes half an hour."""


@pytest.mark.parametrize("name", JUDGED)
def test_a_broker_departs_only_where_it_is_known_to(name: str, tmp_path: Path) -> None:
    known = KNOWN / f"{name}.toml"
    options = ("--baseline", str(known)) if known.exists() else ()
    with BROKERS[name].running(tmp_path, 0) as address:
        run = judged([address], tmp_path, *options, cases=EVERY_CASE)
        admin = KafkaAdminClient(bootstrap_servers=address)
        left = [topic for topic in admin.list_topics() if topic.startswith("wireproof-")]
        admin.close()
    assert (run.code, left) == (0, []), run.output
    old = {verdict for case, verdict in run.verdicts[address].items() if "/v0/" in case or "/v1/" in case}
    assert "pass" in old if name in LEGACY else old == {"unsupported"}


@pytest.mark.parametrize(
    ("name", "unsupported"),
    [
        pytest.param("kafka-4.4", set(), id="kafka-4.4", marks=needs("java", "mvn", "[peers]")),
        pytest.param("kafka-3.9", {"transaction-v2"}, id="kafka-3.9", marks=needs("java", "mvn", "[peers]")),
    ],
)
def test_kafka_answers_every_step_as_the_case_says(name: str, unsupported: set[str], tmp_path: Path) -> None:
    with BROKERS[name].running(tmp_path, 0) as address:
        run = judged([address], tmp_path, cases=SEQUENCES)
    assert run.code == 0, run.output
    verdicts = run.verdicts[address]
    assert {case.split("/")[2] for case, one in verdicts.items() if one == "unsupported"} == unsupported
    assert set(verdicts.values()) <= {"pass", "info", "unsupported"}


KILLS_THE_MOCK = "kafka.log/mixed/append/no-bytes"
"""An assertion ends the process of librdkafka's mock cluster: no case after it would be judged."""


def test_the_mock_cluster_of_librdkafka_departs_only_where_it_is_known_to(tmp_path: Path) -> None:
    known = KNOWN / "librdkafka-mock.toml"
    with BROKERS["librdkafka-mock"].running(tmp_path, 0) as address:
        options = ("--baseline", str(known), "--skip", KILLS_THE_MOCK)
        run = judged([address], tmp_path, *options, cases=EVERY_CASE)
    assert run.code == 0, run.output
    assert "pass" in run.verdicts[address].values()
