"""A real consumer gets the same records however a log is served, and by every version of Fetch."""

import sys
from pathlib import Path

import pytest

from tests.live.judging import Judged, judged
from tests.support import goldens
from wireproof.adapters.requests import prepare_case
from wireproof.cases.case import Case
from wireproof.cases.outcome import Accepted, Exhausted
from wireproof.run.engine import Engine

pytestmark = pytest.mark.live

SUBSCRIBER = f"{sys.executable} -m tests.live.clients.subscriber"
ENTRIES = "kafka.log/mixed/entries"
CASES = [f"{ENTRIES}/three", f"{ENTRIES}/v0-v1-v2", f"{ENTRIES}/gap-at-the-end"]

MANNERS = (
    "serve=whole",
    "serve=cut",
    "serve=error",
    "serve=leader",
    "start=subscribe",
    "fetch=4",
    "fetch=11",
    "fetch=12",
)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Judged:
    specs = [f"{manner} side=consume {SUBSCRIBER}" for manner in MANNERS]
    return judged(specs, tmp_path_factory.mktemp("manners"), cases=CASES, kind="kafka-client")


@pytest.mark.parametrize("manner", MANNERS)
def test_every_manner_gives_the_same_records(manner: str, run: Judged) -> None:
    assert run.verdicts[f"{manner} side=consume {SUBSCRIBER}"] == dict.fromkeys(CASES, "pass"), run.output


@pytest.mark.parametrize(
    ("fetches", "growth", "expected"),
    [(12, 2, "pass"), (30, 2, "pass"), (15, 1, "pass"), (1_000_000, 1, "stalled")],
    ids=["grows", "grows-for-long", "asks-often", "asks-for-ever"],
)
def test_a_stall_is_sixteen_fetches_without_a_greater_limit(
    fetches: int, growth: int, expected: str, tmp_path: Path
) -> None:
    spec = f"side=consume fetch=12 {sys.executable} -m tests.live.clients.late_error {fetches} {growth}"
    name = "kafka.log/mixed/damaged/first-crc"
    run = judged([spec], tmp_path, cases=[name], kind="kafka-client")
    assert run.verdicts[spec][name].split("-")[0] == expected, run.output


def test_a_program_that_refuses_read_committed_is_not_judged_by_what_it_hides(tmp_path: Path) -> None:
    cases = [*CASES, "kafka.log/mixed/delivered/read-committed"]
    spec = f"side=consume {sys.executable} -m tests.live.clients.uncommitted"
    run = judged([spec], tmp_path, cases=cases, kind="kafka-client")
    assert run.verdicts[spec] == {**dict.fromkeys(CASES, "pass"), cases[-1]: "unsupported"}, run.output


def test_a_producer_without_ids_is_not_judged_by_the_batches_that_have_one(tmp_path: Path) -> None:
    produce = "kafka.batch/v2/produce"
    cases = {f"{produce}/encode-{name}": "unsupported" for name in ("idempotent", "transactional")}
    cases[f"{produce}/encode-three-records"] = "pass"
    spec = f"side=produce {sys.executable} -m tests.live.clients.without_ids"
    run = judged([spec], tmp_path, cases=list(cases), kind="kafka-client")
    assert run.verdicts[spec] == cases, run.output


def test_a_program_that_cannot_consume_a_plain_record_is_one_line_at_the_start(tmp_path: Path) -> None:
    found = judged(["side=consume false"], tmp_path, cases=CASES, kind="kafka-client")
    assert found.code == 4
    assert "kafka-client does not consume a plain record: the program ended with exit code 1" in found.output


def test_a_command_that_does_not_exist_is_one_line_at_the_start(tmp_path: Path) -> None:
    found = judged(["side=consume no-such-program-x"], tmp_path, cases=CASES, kind="kafka-client")
    assert found.code == 4
    assert "no-such-program-x cannot be started" in found.output


def test_the_memory_of_a_program_is_limited() -> None:
    spec = f"kafka-client:side=consume fetch=12 {sys.executable} -m tests.live.clients.hoards_memory"
    names = ("kafka.batch/v2/counts/int-max", "kafka.log/mixed/entries/one")
    with Engine(spec, memory=400 << 20) as engine:
        prepared = [prepare_case(one, engine.hello) for one in goldens.load().cases if one.id in names]
        plan = [one for one in prepared if isinstance(one, Case)]
        found = {ran.case.id: ran.outcome for ran in engine.run(plan)}
    assert isinstance(found[names[0]], Exhausted)
    assert "over the limit of 400 MiB" in found[names[0]].text
    assert isinstance(found[names[1]], Accepted)
