"""Answers of adapters that are real processes (`faulty_adapter.py`): order, claims, what follows them."""

from itertools import product

from each import each
from faulty_runs import around, cases, good, run

from wireproof.cases.case import Accept, Case, Value
from wireproof.cases.outcome import (
    Faulty,
)


def test_a_sound_adapter_answers_in_plan_order() -> None:
    parts = [b"%d" % number for number in range(1500)]
    outcomes, engine = run(cases(*parts))
    assert outcomes == [good(part) for part in parts]
    assert engine.deaths.count == 0
    assert engine.hello.name == "faulty"


def test_answers_may_come_in_any_order() -> None:
    parts = [b"%d" % number for number in range(8)]
    outcomes, _ = run(cases(*parts), "backwards")
    assert outcomes == [good(part) for part in parts]


def test_an_encode_answered_with_a_value_breaks_the_contract() -> None:
    outcomes, _ = run([Case("toy/v1/x/e", "toy", "v1", Value({"a": "1"}), Accept(), op="encode")])
    assert outcomes == [Faulty("encode was answered with a value or digest")]


@each(
    "fault, text",
    [
        ("unknown-class", "class is unknown: 'crc-mismtach'; did you mean crc-mismatch?"),
        ("float-value", "1.5 is a float"),
        ("unknown-outcome", "outcome must be one of accepted"),
        ("huge-frame", "its length would be 2147483647"),
    ],
)
def test_an_answer_that_breaks_the_contract_is_named(fault: str, text: str) -> None:
    outcome, _ = around(fault)
    assert isinstance(outcome, Faulty)
    assert text in outcome.text


@each("number, fault", product([0, 17, 40], ["repeated-id", "noise-after"]))
def test_a_breach_behind_the_answer_is_the_case_s_that_committed_it(fault: str, number: int) -> None:
    plan = [b"x"] * 41
    plan[number] = fault.encode()
    outcomes, engine = run(cases(*plan))
    assert [place for place, one in enumerate(outcomes) if isinstance(one, Faulty)] == [number]
    assert outcomes.count(good(b"x")) == 40
    assert engine.notes == []
