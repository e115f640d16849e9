"""A client program that does harm has an outcome, costs little memory, and spoils no case after its own."""

import sys

import pytest

from tests.live.clients.misbehaves import HARMS, TWICE
from tests.support import goldens
from wireproof.adapters.requests import prepare_case
from wireproof.cases.case import Case
from wireproof.cases.outcome import Accepted, Faulty, Outcome, Stalled
from wireproof.run.engine import Engine

pytestmark = pytest.mark.live

MEMORY = 512 << 20
"""Bytes: a third of what a flood prints."""

OUTCOMES: dict[str, tuple[type[Outcome], str]] = {
    TWICE: (Accepted, ""),
    "closes-pipes": (Stalled, "0 records, then nothing new"),
    "forks": (Accepted, ""),
    "prints-errors": (Accepted, ""),
    "prints-lines": (Faulty, "not a line of a client program: not JSON: xxx"),
    "prints-one-line": (Faulty, "not a line of a client program: not JSON: xxx"),
    "prints-records": (Stalled, "513 records, more than the log has"),
}
"""The outcome of the case in which the harm is done."""

NAMES = ("kafka.batch/v2/batch/two-records", "kafka.log/mixed/entries/one")


def outcomes(harm: str) -> list[Outcome]:
    spec = f"kafka-client:side=consume fetch=12 {sys.executable} -m tests.live.clients.misbehaves {harm}"
    by_id = {case.id: case for case in goldens.load().cases}
    with Engine(spec, memory=MEMORY) as engine:
        prepared = [prepare_case(by_id[name], engine.hello) for name in NAMES]
        plan = [case for case in prepared if isinstance(case, Case)]
        return [ran.outcome for ran in engine.run(plan)]


@pytest.mark.parametrize("harm", OUTCOMES)
def test_harm_has_an_outcome_and_the_next_case_is_judged(harm: str) -> None:
    found, after = outcomes(harm)
    kind, text = OUTCOMES[harm]
    assert isinstance(found, kind)
    if not isinstance(found, Accepted):
        assert found.text.startswith(text)
    assert isinstance(after, Accepted)
    if harm == TWICE:
        assert str(found).count("offset") == 2 * str(outcomes("none")[0]).count("offset")


def test_every_harm_is_tested() -> None:
    assert OUTCOMES.keys() == {*HARMS, TWICE} - {"none"}
