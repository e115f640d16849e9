"""Levels of refusals that only the reference gives: architecture.md#verdicts."""

import pytest
from attrs import evolve
from goldens import load

from wireproof.cases.case import Case, Level, Reject
from wireproof.cases.derived import derived_cases
from wireproof.cases.refusal_levels import with_refusal_level
from wireproof.wire.reject_classes import RejectClass

MINIMAL = "heka.message/0.10/message/minimal"


def refused(golden: str, cls: RejectClass, level: Level = "must") -> Case:
    return evolve(load().by_id[golden], expect=Reject(cls), level=level)


@pytest.mark.parametrize(
    ("cls", "level"),
    [
        ("missing-field", "must"),
        ("type-mismatch", "should"),
        ("unknown-field", "may"),
        ("bad-base64", "should"),
    ],
    ids=["the schema requires it", "readers differ", "proto2 keeps it", "no golden case has it"],
)
def test_the_golden_cases_of_a_class_limit_its_level(cls: RejectClass, level: Level) -> None:
    assert with_refusal_level(refused(MINIMAL, cls)).level == level


def test_a_stream_refuses_its_entries_at_their_level() -> None:
    assert with_refusal_level(refused("kafka.log/mixed/entries/one", "count-mismatch")).level == "must"


def test_no_level_is_raised() -> None:
    assert with_refusal_level(refused(MINIMAL, "missing-field", "may")).level == "may"


def test_an_accepted_case_keeps_its_level() -> None:
    case = load().by_id[MINIMAL]
    assert with_refusal_level(case) is case


def test_a_reader_that_keeps_unknown_fields_fails_no_derived_must_case() -> None:
    derived = list(derived_cases(load().by_id["heka.message/0.10/message/every-field"]))
    unknown = [case for case in derived if case.expect == Reject("unknown-field", (), *_rest(case))]
    assert unknown
    assert {case.level for case in unknown} == {"may"}
    assert "must" in {case.level for case in derived if isinstance(case.expect, Reject)}


def _rest(case: Case) -> tuple[object, ...]:
    return (case.expect.at, case.expect.before) if isinstance(case.expect, Reject) else ()
