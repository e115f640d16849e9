"""Real brokers, each started here: what the suite finds is what is known of it, and no topic is left."""

from pathlib import Path

import pytest
from attrs import evolve
from kafka.admin import KafkaAdminClient
from machine import needs

from tests.broker import ground
from tests.live.brokers.table import BROKERS, KAFKA_39
from tests.live.judging import judged, judged_and_interrupted, restarted_kafka

pytestmark = pytest.mark.brokers

KNOWN = Path(__file__).parent / "brokers" / "known"
"""The known failures of a broker, by its name."""

EVERY_CASE = ("kafka.batch/v*/produce/**", "kafka.log/mixed/produce/**", "kafka.log/mixed/append/**")

SEQUENCES = tuple(
    f"kafka.log/mixed/{topic}/*"
    for topic in (
        "idempotence",
        "transaction",
        "transaction-v2",
        "fetch",
        "list-offsets",
        "restart",
        "expiry",
        "down-conversion",
    )
)
"""The cases with steps."""

EXPIRY = "kafka.log/mixed/expiry/*"
RESTART = "kafka.log/mixed/restart/*"

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


def topics_of_ours(address: str) -> list[str]:
    admin = KafkaAdminClient(bootstrap_servers=address)
    found = [topic for topic in admin.list_topics() if topic.startswith("wireproof-")]
    admin.close()
    return found


@pytest.mark.parametrize("name", JUDGED)
def test_a_broker_departs_only_where_it_is_known_to(name: str, tmp_path: Path) -> None:
    with BROKERS[name].running(tmp_path, 0) as address:
        run = judged([address], tmp_path, *known_of(name), cases=EVERY_CASE)
        left = topics_of_ours(address)
    assert (run.code, left) == (0, []), run.output
    old = {verdict for case, verdict in run.verdicts[address].items() if "/v0/" in case or "/v1/" in case}
    assert "pass" in old if name in LEGACY else old == {"unsupported"}


@pytest.mark.parametrize(
    ("name", "unsupported"),
    [
        pytest.param(name, topics, id=name, marks=needs("java", "mvn", "[peers]"))
        for name, topics in (
            ("kafka-4.4", {"expiry", "down-conversion", "restart"}),
            ("kafka-3.9", {"expiry", "transaction-v2", "restart"}),
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


@pytest.mark.parametrize(
    "release",
    [
        pytest.param(release, id=name, marks=needs("java", "mvn", "[peers]"))
        for name, release in (("kafka-4.4", ground.NEWEST), ("kafka-3.9", KAFKA_39))
    ],
)
def test_kafka_knows_after_a_restart_what_it_knew_before(release: ground.Release, tmp_path: Path) -> None:
    with restarted_kafka(tmp_path, release) as (address, command):
        file = tmp_path / "client.properties"
        file.write_text(f"wireproof.broker.restart={command}\n")
        run = judged([f"{address}:{file}"], tmp_path, cases=[RESTART])
    assert run.code == 0, run.output
    assert set(run.verdicts[f"{address}:{file}"].values()) == {"pass", "info"}


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
    # Each accepted append is answered with the append time 1234: none passes. No case is without a verdict.
    assert set(run.verdicts[address].values()) == {"fail", "lenient", "blocked", "info", "unsupported"}


SESSION = "broker.session.timeout.ms=9000\n"
"""The default of Kafka: a broker that was killed may register again when its old session has ended."""

INTERRUPTED = ["kafka.log/mixed/append/*", "kafka.log/mixed/idempotence/*", "kafka.log/mixed/transaction/*"]
JUDGED_BEFORE = 40
"""The number of cases that have passed when the broker is killed."""


@pytest.mark.parametrize("again", [False, True], ids=["and stays away", "and is started again"])
@needs("java", "mvn", "[peers]")
def test_a_broker_that_is_killed_in_the_middle(again: bool, tmp_path: Path) -> None:
    port, log = ground.free_port(), tmp_path / "broker.out"
    command = ground.formatted(tmp_path, evolve(ground.NEWEST, settings=SESSION), port)
    brokers = [ground.started(command, port, log)]

    def kill() -> None:
        brokers[-1].kill()
        brokers[-1].wait()
        if again:
            brokers.append(ground.started(command, port, log))

    try:
        run = judged_and_interrupted(
            f"kafka-broker:127.0.0.1:{port}", INTERRUPTED, tmp_path, JUDGED_BEFORE, kill
        )
        left = topics_of_ours(f"127.0.0.1:{port}") if again else []
    finally:
        brokers[-1].kill()
        brokers[-1].wait()
    if again:
        assert (run.code, run.lines, left) == (0, (), [])
        assert not run.verdicts.keys() & {"crash", "fail", "lenient", "stalled", "timeout", "not-run"}
    else:
        assert run.code == 4
        assert run.verdicts["pass"] >= JUDGED_BEFORE
        assert {"crash", "not-run"} <= run.verdicts.keys()
        (line,) = run.lines
        assert "nothing answers at 127.0.0.1" in line
        assert "topics named wireproof-" in line
