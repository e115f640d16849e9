"""Levels of refusals that only the reference gives: architecture.md#verdicts."""

import copy

import pytest
from attrs import evolve
from each import each
from goldens import load

from wireproof.cases.case import Case, Level, Reject, Value
from wireproof.cases.reference_answers import with_refusal_level
from wireproof.derive.derived import derived_cases
from wireproof.wire.rejection import RejectClass

MINIMAL = "heka.message/0.10/message/minimal"


def refused(golden: str, cls: RejectClass, level: Level = "must") -> Case:
    return evolve(load().by_id[golden], expect=Reject(cls), level=level)


@each(
    "cls, level",
    [
        ("missing-field", "must"),
        ("type-mismatch", "should"),
        ("unknown-field", "may"),
        ("bad-base64", "should"),
    ],
)
def test_the_golden_cases_of_a_class_limit_its_level(cls: RejectClass, level: Level) -> None:
    assert with_refusal_level(refused(MINIMAL, cls)).level == level


@pytest.mark.parametrize(
    ("golden", "level"),
    [("two-arrays", "should"), ("uuid-15", "should"), ("pid-32-bits", "must")],
)
def test_the_field_limits_the_level_of_a_value_that_is_refused_too(golden: str, level: Level) -> None:
    case = load().by_id[f"heka.message/0.10/encode/{golden}"]
    assert with_refusal_level(evolve(case, level="must")).level == level


def test_a_field_in_which_no_golden_case_is_refused_is_no_must_where_others_are_not() -> None:
    """Only a string in another array is golden, and it is `should`; the text of an integer is `must`."""
    case = load().by_id["heka.message/0.10/encode/two-arrays"]
    assert isinstance(case.input, Value)
    value = copy.deepcopy(case.input.value)
    (field,) = [one for one in value["fields"] if one["value_string"]]  # type: ignore[index,call-overload]
    field["value_string"], field["value_double"] = [], ["00" * 8]  # type: ignore[index,call-overload]
    other = evolve(case, input=Value(value), level="must")
    assert with_refusal_level(other).level == "should"


def test_a_reader_that_keeps_unknown_fields_fails_no_derived_must_case() -> None:
    derived = list(derived_cases(load().by_id["heka.message/0.10/message/every-field"]))
    unknown = [case for case in derived if case.expect == Reject("unknown-field", (), *_rest(case))]
    assert unknown
    assert {case.level for case in unknown} == {"may"}
    assert "must" in {case.level for case in derived if isinstance(case.expect, Reject)}


def broken_at(golden: str, title: str) -> Case:
    """The derived case of a golden one with this title."""
    return next(case for case in derived_cases(load().by_id[golden]) if case.title == title)


def test_a_wrong_position_in_an_index_is_as_sure_derived_as_golden() -> None:
    """Only the server compares the index; both cases are refused as `length-mismatch`."""
    position = broken_at("iggy.send/0.7/messages/two", "index[0].position +1")
    length = broken_at("iggy.send/0.7/messages/two", "metadata_length +1")
    assert isinstance(position.expect, Reject)
    assert isinstance(length.expect, Reject)
    assert position.expect.cls == length.expect.cls == "length-mismatch"
    assert (position.level, length.level) == ("should", "must")


def _rest(case: Case) -> tuple[object, ...]:
    return (case.expect.at, case.expect.before) if isinstance(case.expect, Reject) else ()
