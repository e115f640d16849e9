"""What no codec gets credit for, and what is counted against none. architecture.md#strength."""

import pytest
from attrs import evolve
from goldens import by_size, cases_by_size, load

from tests.mutants.base import MUTANTS
from tests.mutants.kill import verdict_on
from tests.mutants.registry import spec_of
from wireproof.cases.case import Reject
from wireproof.run.engine import Engine
from wireproof.run.run import Selection, run

OPEN = sorted(f"mutant:{name}" for name in MUTANTS if MUTANTS[name].left_open)

OF_KAFKA = "mutant:wrapper-offset-zero-rebased"
"""The one of `OPEN` that claims a format with some of the largest cases: Heka has none."""


@pytest.mark.parametrize(
    ("name", "largest"),
    [
        *(pytest.param(name, False, marks=pytest.mark.sweeps) for name in OPEN),
        pytest.param(OF_KAFKA, True, marks=pytest.mark.largest),
    ],
)
def test_an_open_answer_fails_no_case_of_level_must_or_should(name: str, *, largest: bool) -> None:
    suite = evolve(load(), cases=cases_by_size(largest=largest))
    found = verdict_on(name, suite, in_process=True)
    assert found.by == ""
    assert found.passed


@pytest.mark.parametrize("name", ["mutant:reject-everything", "mutant:accept-everything"])
def test_a_codec_without_judgement_gets_no_credit_for_a_refusal(name: str) -> None:
    """A codec that refuses everything has no accepted twin; one that accepts everything has no refusal."""
    suite = load()
    refused = [case for case in suite.cases if isinstance(case.expect, Reject) and case.op == "decode"]
    assert len(refused) > 300
    with Engine(spec_of(name), in_process=True) as engine:
        events = list(run(engine, Selection.of(engine.hello, refused, suite, families=False)))
    assert len(events) == len(refused)
    assert [(event.id, event.label) for event in events if event.verdict.startswith("pass")] == []


@pytest.mark.parametrize("largest", by_size(others="sweeps"))
def test_a_codec_that_refuses_everything_passes_no_golden_case_but_open_ones(*, largest: bool) -> None:
    cases = cases_by_size(largest=largest)
    with Engine(spec_of("mutant:reject-everything"), in_process=True) as engine:
        events = list(run(engine, Selection.of(engine.hello, cases, load(), families=False)))
    assert len(events) == len(cases)
    assert [(event.id, event.label) for event in events if event.verdict == "pass"] == []
