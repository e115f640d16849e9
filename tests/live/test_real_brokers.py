"""Real brokers, each started here: what the suite finds is what is known of it, and no topic is left."""

from pathlib import Path

import pytest
from kafka.admin import KafkaAdminClient
from machine import needs

from tests.live.brokers.table import BROKERS
from tests.live.judging import judged

pytestmark = pytest.mark.brokers

KNOWN = Path(__file__).parent / "brokers" / "known"
"""The known failures of a broker, by its name."""

EVERY_CASE = ("kafka.batch/v*/produce/**", "kafka.log/mixed/produce/**", "kafka.log/mixed/append/**")

SEQUENCES = tuple(
    f"kafka.log/mixed/{topic}/*"
    for topic in ("idempotence", "transaction", "transaction-v2", "fetch", "expiry", "down-conversion")
)
"""The cases with steps."""

EXPIRY = "kafka.log/mixed/expiry/*"

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


def known_of(name: str) -> tuple[str, ...]:
    """Return the options of a check that knows the failures of a broker."""
    path = KNOWN / f"{name}.toml"
    return ("--baseline", str(path)) if path.exists() else ()


@pytest.mark.parametrize("name", JUDGED)
def test_a_broker_departs_only_where_it_is_known_to(name: str, tmp_path: Path) -> None:
    with BROKERS[name].running(tmp_path, 0) as address:
        run = judged([address], tmp_path, *known_of(name), cases=EVERY_CASE)
        admin = KafkaAdminClient(bootstrap_servers=address)
        left = [topic for topic in admin.list_topics() if topic.startswith("wireproof-")]
        admin.close()
    assert (run.code, left) == (0, []), run.output
    old = {verdict for case, verdict in run.verdicts[address].items() if "/v0/" in case or "/v1/" in case}
    assert "pass" in old if name in LEGACY else old == {"unsupported"}


@pytest.mark.parametrize(
    ("name", "unsupported"),
    [
        pytest.param(name, topics, id=name, marks=needs("java", "mvn", "[peers]"))
        for name, topics in (
            ("kafka-4.4", {"expiry", "down-conversion"}),
            ("kafka-3.9", {"expiry", "transaction-v2"}),
        )
    ],
)
def test_kafka_answers_every_step_as_the_case_says(name: str, unsupported: set[str], tmp_path: Path) -> None:
    with BROKERS[name].running(tmp_path, 0) as address:
        run = judged([address], tmp_path, *known_of(name), cases=SEQUENCES)
    assert run.code == 0, run.output
    verdicts = run.verdicts[address]
    assert {case.split("/")[2] for case, one in verdicts.items() if one == "unsupported"} == unsupported
    assert {"pass", "info"} <= set(verdicts.values())


@pytest.mark.parametrize(
    "name", [of_broker(f"{name}-expiring", "java", "mvn") for name in ("kafka-4.4", "kafka-3.9")]
)
def test_kafka_forgets_what_is_idle_as_its_settings_say(name: str, tmp_path: Path) -> None:
    with BROKERS[name].running(tmp_path, 0) as address:
        run = judged([address], tmp_path, cases=[EXPIRY])
    assert run.code == 0, run.output
    assert set(run.verdicts[address].values()) == {"pass", "info"}


@pytest.mark.parametrize("name", [of_broker("kfake", "go")])
def test_a_broker_departs_from_cases_with_steps_only_where_it_is_known_to(name: str, tmp_path: Path) -> None:
    with BROKERS[name].running(tmp_path, 0) as address:
        run = judged([address], tmp_path, *known_of(name), cases=SEQUENCES)
    assert run.code == 0, run.output
    assert {"pass", "unsupported"} < set(run.verdicts[address].values())


KILLS_THE_MOCK = "kafka.log/mixed/append/no-bytes"
"""An assertion ends the process of librdkafka's mock cluster: no case after it would be judged."""


def test_the_mock_cluster_of_librdkafka_departs_only_where_it_is_known_to(tmp_path: Path) -> None:
    known = KNOWN / "librdkafka-mock.toml"
    with BROKERS["librdkafka-mock"].running(tmp_path, 0) as address:
        options = ("--baseline", str(known), "--skip", KILLS_THE_MOCK)
        run = judged([address], tmp_path, *options, cases=EVERY_CASE)
    assert run.code == 0, run.output
    assert "pass" in run.verdicts[address].values()
