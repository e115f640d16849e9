"""Encoders are checked against profile `produce`: bytes that decode back are not enough. kafka.md §1.7."""

from attrs import evolve
from each import each
from goldens import load

from wireproof.cases.case import Accept, Case, Data, Either, Expect, Value
from wireproof.cases.outcome import Accepted
from wireproof.judge.judge import NO_CLAIMS, judge
from wireproof.wire.json_values import Json

SUITE = load()
DECODED = [
    case
    for case in SUITE.cases
    if case.op == "decode" and case.profile == "produce" and case.format == "kafka.batch"
]


def accepted(expect: Expect) -> Accept | None:
    """How a broker takes the bytes, be it one of several answers; None for what it must refuse."""
    each = [one.expect for one in expect.behaviours] if isinstance(expect, Either) else [expect]
    return next((one for one in each if isinstance(one, Accept)), None)


REFUSED = [case for case in DECODED if accepted(case.expect) is None]
TOLERATED = [case for case in DECODED if (taken := accepted(case.expect)) and taken.remarks]
SOUND = [case for case in DECODED if (taken := accepted(case.expect)) and not taken.remarks]


def written(case: Case, value: Json) -> Case:
    """The case as if an encoder had been asked for its value."""
    return evolve(case, op="encode", input=Value(value), expect=Accept(value), twin=None)


def verdict(case: Case, data: bytes) -> tuple[str, str]:
    """Of an encoder that gave these bytes; the reference is not asked, for it writes what it is given."""
    found = judge(case, Accepted(data=data), hello=NO_CLAIMS, reference=None)
    return found.name, found.kind


def given(case: Case) -> bytes:
    assert isinstance(case.input, Data)
    return case.input.data


@each("case", SOUND, ids=lambda case: case.id)
def test_what_a_broker_takes_without_a_word_may_be_written(case: Case) -> None:
    taken = accepted(case.expect)
    assert taken
    assert verdict(written(case, taken.value), given(case))[0] == "pass"


@each("case", TOLERATED, ids=lambda case: case.id)
def test_what_a_broker_merely_puts_up_with_may_not_be_written(case: Case) -> None:
    taken = accepted(case.expect)
    assert taken
    assert verdict(written(case, taken.value), given(case)) == ("fail", "wrong-bytes")


@each("case", REFUSED, ids=lambda case: case.id)
def test_what_a_broker_refuses_may_not_be_written(case: Case) -> None:
    assert verdict(written(case, None), given(case)) == ("fail", "wrong-bytes")


def test_a_reader_forgives_what_a_broker_puts_up_with() -> None:
    case = next(case for case in TOLERATED if case.id.endswith("/deltas-duplicate"))
    taken = accepted(case.expect)
    assert taken
    assert verdict(evolve(written(case, taken.value), profile="reader"), given(case))[0] == "info"
