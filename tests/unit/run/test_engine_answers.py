"""Answers of adapters that are real processes (`faulty_adapter.py`): their order, claims and shape."""

from itertools import product

import pytest
from each import each
from faulty_runs import around, case, cases, good, run

from wireproof.cases.case import Accept, Case, Chunks, Data, Value
from wireproof.cases.outcome import (
    Faulty,
    Unsupported,
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


def test_what_is_not_claimed_is_not_asked_and_what_is_claimed_is() -> None:
    plan = [
        case(b"a", 0),
        case(b"b", 1, needs=("codec:lz4",)),
        case(b"c", 2, needs=("codec:zstd",)),
        Case("toy/v1/x/e", "toy", "v1", Value(None), Accept(), op="encode"),
        Case("toy/v2/x/e", "toy", "v2", Data(b""), Accept()),
        Case("toy/v1/x/s", "toy", "v1", Chunks((b"",)), Accept(), op="scan"),
    ]
    outcomes, engine = run(plan, "claims-wrongly")
    assert outcomes == [
        Unsupported("not built in"),
        Unsupported("not built in"),
        Unsupported("claims no codec:zstd for toy/v1"),
        Unsupported("claims no encode of toy/v1"),
        Unsupported("claims no decode of toy/v2"),
        Unsupported("claims no scan of toy/v1"),
    ]
    assert engine.hello.revisions["toy/v1"].observes == ("hex",)


def test_an_encode_answered_with_a_value_breaks_the_contract() -> None:
    outcomes, _ = run([Case("toy/v1/x/e", "toy", "v1", Value({"a": "1"}), Accept(), op="encode")])
    assert outcomes == [Faulty("encode was answered with a value or digest")]


@pytest.mark.parametrize(("fault", "text"), [("wrong-id", "'no-such-id', which"), ("no-id", "None, which")])
def test_an_answer_to_nobody_breaks_the_contract(fault: str, text: str) -> None:
    outcome, _ = around(fault)
    assert isinstance(outcome, Faulty)
    assert text in outcome.text


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


def test_noise_on_stdout_breaks_the_contract_and_is_shown() -> None:
    outcome, _ = around("noise")
    assert isinstance(outcome, Faulty)
    assert "64 65 62 75 67 3a 20" in outcome.text
    assert "|debug: got 5 bytes" in outcome.text


@each("number, fault", product([0, 17, 40], ["repeated-id", "noise-after"]))
def test_a_breach_behind_the_answer_is_the_case_s_that_committed_it(fault: str, number: int) -> None:
    plan = [b"x"] * 41
    plan[number] = fault.encode()
    outcomes, engine = run(cases(*plan))
    assert [place for place, one in enumerate(outcomes) if isinstance(one, Faulty)] == [number]
    assert outcomes.count(good(b"x")) == 40
    assert engine.notes == []


@pytest.mark.parametrize("fault", ["repeated-id", "noise-after"])
def test_a_breach_behind_the_very_last_answer_is_seen(fault: str) -> None:
    outcomes, _ = run(cases(fault.encode()))
    assert isinstance(outcomes[0], Faulty)


def test_split_writes_are_put_together() -> None:
    outcome, engine = around("split-writes")
    assert outcome == good(b"split-writes")
    assert engine.deaths.count == 0
