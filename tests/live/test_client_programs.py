"""A real consumer gets the same records however a log is served; one that does harm spoils no other case."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.live.clients.unusual import HARMS, TWICE
from tests.live.judging import Judged, judged
from tests.support import goldens
from wireproof.adapters.requests import prepare_case
from wireproof.cases.case import Case
from wireproof.cases.outcome import Accepted, Exhausted, Faulty, Outcome, Stalled
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
    spec = (
        f"side=consume fetch=12 {sys.executable} -m tests.live.clients.unusual late-error {fetches} {growth}"
    )
    name = "kafka.log/mixed/damaged/first-crc"
    run = judged([spec], tmp_path, cases=[name], kind="kafka-client")
    assert run.verdicts[spec][name].split("-")[0] == expected, run.output


def test_a_program_that_refuses_read_committed_is_not_judged_by_what_it_hides(tmp_path: Path) -> None:
    cases = [*CASES, "kafka.log/mixed/delivered/read-committed"]
    spec = f"side=consume {sys.executable} -m tests.live.clients.unusual uncommitted"
    run = judged([spec], tmp_path, cases=cases, kind="kafka-client")
    assert run.verdicts[spec] == {**dict.fromkeys(CASES, "pass"), cases[-1]: "unsupported"}, run.output


def test_a_producer_without_ids_is_not_judged_by_the_batches_that_have_one(tmp_path: Path) -> None:
    produce = "kafka.batch/v2/produce"
    cases = {f"{produce}/encode-{name}": "unsupported" for name in ("idempotent", "transactional")}
    cases[f"{produce}/encode-three-records"] = "pass"
    spec = f"side=produce {sys.executable} -m tests.live.clients.unusual without-ids"
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


# --- harm ---


def outcomes(program: str, names: Sequence[str], memory: int) -> list[Outcome]:
    """Return the outcomes of cases, in their order, of one program with a limit of memory."""
    spec = f"kafka-client:side=consume fetch=12 {sys.executable} -m tests.live.clients.unusual {program}"
    by_id = {case.id: case for case in goldens.load().cases}
    with Engine(spec, memory=memory) as engine:
        prepared = [prepare_case(by_id[name], engine.hello) for name in names]
        ran = {
            one.case.id: one.outcome for one in engine.run([one for one in prepared if isinstance(one, Case)])
        }
    return [ran[name] for name in names]


def test_the_memory_of_a_program_is_limited() -> None:
    hoards, after = outcomes("hoards-memory", ("kafka.batch/v2/counts/int-max", f"{ENTRIES}/one"), 400 << 20)
    assert isinstance(hoards, Exhausted)
    assert "over the limit of 400 MiB" in hoards.text
    assert isinstance(after, Accepted)


MEMORY = 512 << 20
"""Bytes: a third of what a flood prints."""

OUTCOMES: dict[str, tuple[type[Any], str]] = {
    TWICE: (Accepted, ""),
    "closes-pipes": (Stalled, "0 records, then nothing new"),
    "fills-disk": (Faulty, "the program ended with exit code 1: its disk is full: OSError: [Errno 28]"),
    "forks": (Accepted, ""),
    "prints-errors": (Accepted, ""),
    "prints-lines": (Faulty, "not a line of a client program: not JSON: xxx"),
    "prints-one-line": (Faulty, "not a line of a client program: not JSON: xxx"),
    "prints-records": (Stalled, "513 records, more than the log has"),
}
"""The outcome of the case in which the harm is done."""


@pytest.mark.parametrize("harm", OUTCOMES)
def test_harm_has_an_outcome_and_the_next_case_is_judged(harm: str) -> None:
    names = ("kafka.batch/v2/batch/two-records", f"{ENTRIES}/one")
    found, after = outcomes(f"misbehaves {harm}", names, MEMORY)
    kind, text = OUTCOMES[harm]
    assert isinstance(found, kind)
    assert getattr(found, "text", "").startswith(text)
    assert isinstance(after, Accepted)
    if harm == TWICE:
        once = outcomes("misbehaves none", names, MEMORY)[0]
        assert str(found).count("offset") == 2 * str(once).count("offset")


def test_every_harm_is_tested() -> None:
    assert OUTCOMES.keys() == {*HARMS, TWICE}
