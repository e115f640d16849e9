"""Every mutant dies by a golden case that it fails itself. architecture.md#strength."""

import pytest
from attrs import evolve
from goldens import by_size, cases_by_size, load

from tests.fixture_tables.history import known_bugs
from tests.mutants.kill import first_kill, is_costly, verdict_on
from tests.mutants.kill_history import cases_named_for, known_survivors
from tests.mutants.registry import mutants, spec_of
from wireproof.cases.case import Reject
from wireproof.runner.engine import Engine
from wireproof.runner.run import Selection, run

OPEN = {
    "mutant:wrapper-offset-zero-rebased": "the text counts from the wrapper, Kafka's class does not",
    "mutant:heka-newline-after-frame": "readers of Heka pass over what is between frames, or refuse it",
}
"""Mutants whose answer turned out to be one of those that the sources leave open, and why."""

OF_KAFKA = "mutant:wrapper-offset-zero-rebased"
"""The one of `OPEN` that claims a format with some of the largest cases: Heka has none."""


@pytest.mark.sweeps
@pytest.mark.parametrize("name", sorted(set(mutants()) - known_survivors(known_bugs(load())) - set(OPEN)))
def test_a_mutant_dies_by_a_named_golden_case(name: str) -> None:
    suite = load()
    killed = first_kill(name, suite, cases_named_for(suite, name), in_process=not is_costly(name))
    assert killed.by in suite.by_id
    assert killed.label


@pytest.mark.parametrize(
    ("name", "largest"),
    [
        *(pytest.param(name, False, marks=pytest.mark.sweeps) for name in sorted(OPEN)),
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


def test_there_are_as_many_mutants_as_the_design_asks_for() -> None:
    assert len(mutants()) >= 60
