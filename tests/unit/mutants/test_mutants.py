"""Every mutant dies by a golden case, and not by one that is only blocked: architecture.md#strength."""

from collections.abc import Iterator
from functools import cache

import pytest
from attrs import evolve
from goldens import load, stored_cases
from toy_format import (
    BAD_CASE,
    GOOD_CASE,
    OPEN_CASE,
    toy,  # noqa: F401 - pytest finds the fixture here
)

from tests.mutants import common, kafka
from tests.mutants.base import ReferenceCodec
from tests.mutants.kill import kills
from tests.mutants.registry import description_of, spec_of
from wireproof.adapters.contract import Request
from wireproof.adapters.python_object import Caller
from wireproof.cases.case import Case, Chunks, Data, Generated, Steps, Value
from wireproof.cases.made_case import made_input, needs_digest
from wireproof.cases.reference_answers import reference_answer
from wireproof.runner.engine import Engine
from wireproof.runner.judge import REFERENCE_HELLO, judge
from wireproof.runner.verdicts import Verdict

RESOURCE = ("length-trusted-for-allocation", "count-trusted-for-allocation")
"""Die in a process of their own only, where memory is measured."""

KAFKA = [name for name in kafka.MUTANTS if name not in RESOURCE]


class Faultless(ReferenceCodec):
    """The base of all mutants, with no fault planted."""

    name = "faultless"


@cache
def golden() -> dict[str, Case]:
    return {case.id: case for case in stored_cases("kafka") if not isinstance(case.input, Steps)}


def request(case: Case) -> Request:
    options = evolve(case.options, profile=case.profile)
    asked = Request("1", case.op, case.format, case.revision, options=options, limits=case.limits)
    match made_input(case):
        case Data(data):
            return evolve(asked, data=data)
        case Value(value):
            return evolve(asked, value=value)
        case Chunks(chunks):
            return evolve(asked, chunks=chunks)


def judged(made: type[ReferenceCodec], cases: dict[str, Case]) -> Iterator[tuple[str, Verdict]]:
    """The verdicts one after the other, each case behind its twin."""
    caller = Caller(made())
    found: dict[str, Verdict] = {}
    for case in sorted(cases.values(), key=lambda case: case.twin is not None):
        twin = found.get(case.twin or "")
        found[case.id] = judge(case, caller.answer(request(case)), hello=caller.hello, twin=twin)
        yield case.id, found[case.id]


def verdicts(made: type[ReferenceCodec], cases: dict[str, Case]) -> dict[str, Verdict]:
    return dict(judged(made, cases))


def dies(made: type[ReferenceCodec]) -> bool:
    """Return True if it fails a case that the reference passes; otherwise the judge answers `suite-bug`."""
    return any(
        kills(verdict.name, golden()[name].level) and verdict.name != "blocked"
        for name, verdict in judged(made, golden())
    )


@pytest.mark.sweeps
@pytest.mark.parametrize("name", [*common.MUTANTS, *KAFKA])
def test_a_mutant_dies_by_a_golden_case(name: str) -> None:
    assert dies({**common.MUTANTS, **kafka.MUTANTS}[name])


@pytest.mark.sweeps
@pytest.mark.parametrize("name", RESOURCE)
def test_a_mutant_that_takes_memory_dies_of_it_or_of_the_time_it_costs(name: str) -> None:
    cases = [case for case in golden().values() if case.limits.rss_mb is not None]
    with Engine(spec_of(f"mutant:{name}")) as engine:
        found = {judge(ran.case, ran.outcome).name for ran in engine.run(cases)}
    assert found & {"resource", "timeout"}


def test_the_base_of_all_mutants_answers_as_the_reference() -> None:
    caller = Caller(Faultless())
    for case in golden().values():
        assert caller.answer(request(case)) == reference_answer(case).outcome


@pytest.mark.sweeps
def test_the_base_of_all_mutants_answers_generated_cases_as_the_reference() -> None:
    caller = Caller(Faultless())
    for case in load().cases:
        if case.format.startswith("kafka") and isinstance(case.input, Generated) and not needs_digest(case):
            assert caller.answer(request(case)) == reference_answer(case).outcome


def test_a_codec_without_a_fault_fails_nothing() -> None:
    assert {verdict.name for verdict in verdicts(Faultless, golden()).values()} <= {"pass", "info"}
    for case in (GOOD_CASE, BAD_CASE, OPEN_CASE):
        outcome = Caller(Faultless()).answer(request(case))
        assert judge(case, outcome, hello=REFERENCE_HELLO, twin=Verdict("pass")).label == "pass:canonical"


def test_a_codec_that_refuses_everything_gets_no_credit_for_its_refusals() -> None:
    found = verdicts(common.RejectEverything, golden())
    assert not [
        name for name, verdict in found.items() if verdict.name.startswith("pass") and golden()[name].twin
    ]


def test_every_mutant_is_registered_and_says_what_is_wrong_with_it() -> None:
    for name, made in {**common.MUTANTS, **kafka.MUTANTS}.items():
        assert made.name == name
        fault = description_of(f"mutant:{name}")
        assert len(fault) > 20
        assert fault.endswith(".")
