"""The base of all mutants, with no fault planted, answers as the reference does."""

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

from tests.mutants.base import ReferenceCodec
from wireproof.adapters.contract import Request
from wireproof.adapters.python_object import Caller
from wireproof.cases.case import Case, Chunks, Data, Generated, Steps, Value
from wireproof.cases.made_case import made_input, needs_digest
from wireproof.cases.reference_answers import reference_answer
from wireproof.runner.judge import REFERENCE_HELLO, judge
from wireproof.runner.verdicts import Verdict


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
