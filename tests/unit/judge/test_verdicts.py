"""Verdicts: allowed answers, codes that end a run, the texts `want` and `got`, profile `produce`."""

import pytest
from attrs import evolve
from each import each
from goldens import load
from toy_format import (
    GOOD_CASE,
    GOOD_VALUE,
    toy,  # noqa: F401 - pytest finds the fixture here
)

from wireproof.cases.case import Accept, Case, Data, Either, Expect, Level, Value
from wireproof.cases.outcome import Accepted, Outcome, Refused
from wireproof.judge.differences import first_difference, short_field
from wireproof.judge.judge import NO_CLAIMS, judge
from wireproof.judge.verdicts import Verdict, gates
from wireproof.wire.json_values import Json


def circle() -> object:
    inner: list[object] = []
    inner.append(inner)
    return inner


@each(
    "outcome, label",
    [
        (Accepted({"kind": b"x"}), "fail:wrong-value"),
        (Accepted({1: "x", "kind": {2, 3}, (4, 5): None}), "fail:wrong-value"),
        (Accepted({"kind": circle()}), "fail:wrong-value"),
        (Accepted({"kind": float("nan")}), "fail:wrong-value"),
        (Accepted(GOOD_VALUE, "5"), "adapter-error"),
        (Accepted(GOOD_VALUE, consumed=True), "adapter-error"),
        (Accepted(GOOD_VALUE, data="0201"), "adapter-error"),
        (Refused("no-such-class"), "adapter-error"),
    ],
)
def test_an_object_may_answer_anything(outcome: Outcome, label: str) -> None:
    assert judge(GOOD_CASE, outcome).label == label


@each(
    "name, level, hold, expected",
    [
        ("fail", "must", "must", True),
        ("fail", "should", "must", False),
        ("fail", "should", "should", True),
        ("crash", "should", "must", True),
        ("timeout", "should", "must", True),
        ("resource", "should", "must", True),
        ("stalled", "should", "must", True),
        ("crash", "may", "must", False),
        ("fail", "may", "should", False),
        ("fail", "info", "should", False),
        ("lenient", "should", "must", False),
        ("lenient", "should", "should", True),
        ("lenient", "may", "should", False),
        ("undocumented", "must", "must", False),
        ("undocumented", "must", "should", True),
        ("undocumented", "should", "should", True),
        ("undocumented", "may", "should", False),
        ("pass-unclassified", "must", "must", False),
        ("info", "must", "should", False),
        ("unsupported", "must", "should", False),
        ("not-run", "must", "should", False),
        ("pass", "must", "should", False),
        *((name, "must", "must", True) for name in ("crash", "timeout", "resource", "stalled", "blocked")),
    ],
)
def test_each_verdict_gates_at_its_level(name: str, level: str, hold: str, expected: bool) -> None:
    assert gates(name, level, hold=hold) is expected  # type: ignore[arg-type]


@pytest.mark.parametrize(("level", "fails"), [("must", True), ("should", True), ("may", False)])
def test_a_failed_security_case_fails_a_run_at_should_too(level: Level, *, fails: bool) -> None:
    assert gates("fail", level, security=True) is fails


# --- the texts `want` and `got` ---


MIB = 1 << 20


def verdict(want: Json, got: Json) -> Verdict:
    return judge(Case("f/r/t/c", "f", "r", Data(b""), Accept(want)), Accepted(got), reference=None)


def test_why_nothing_could_be_read_comes_before_what_follows_from_it() -> None:
    found = verdict(
        {"batches": [{"offset": "0"}], "end": "1"},
        {"batches": [], "end": "0", "unreadable": "crc-mismatch at 17: aa stored, ab computed"},
    )
    assert found.path == "unreadable"
    assert found.got == 'unreadable = "crc-mismatch at 17: aa stored, ab computed"'
    assert found.fields == ("unreadable", "batches.length", "end")


@each(
    "want, got, texts",
    [
        pytest.param(
            "00" * MIB + "ab",
            "00" * MIB + "cd" + "00" * 50,
            (
                'value from byte 1,048,576 of 1,048,577 = "…00000000|ab"',
                f'value from byte 1,048,576 of 1,048,627 = "…00000000|cd{"00" * 31}…"',
            ),
            id="far inside",
        ),
        pytest.param(
            "0" * 399 + "1",
            "0" * 400,
            ('value from byte 199 of 200 = "…00000000|01"', 'value from byte 199 of 200 = "…00000000|00"'),
            id="in the second digit of a byte",
        ),
        pytest.param(
            "61" * 100,
            "61" * 60,
            (
                f'value from byte 60 of 100 = "…61616161|{"61" * 32}…"',
                'value from byte 60 of 60 = "…61616161|" (end)',
            ),
            id="too short",
        ),
        pytest.param("6162", "6163", ('value = "6162"', 'value = "6163"'), id="short"),
        pytest.param("61" * 100, None, (f'value = "{"61" * 59}…', "value = null"), id="null"),
    ],
)
def test_a_long_text_is_shown_around_the_byte_where_it_differs(
    want: str, got: str | None, texts: tuple[str, str]
) -> None:
    found = first_difference({"value": want}, {"value": got})
    assert found is not None
    assert short_field(found) == texts


# --- profile `produce`: bytes that decode back are not enough. kafka.md §1.7 ---


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


def produced_verdict(case: Case, data: bytes) -> tuple[str, str]:
    """Of an encoder that gave these bytes; the reference is not asked, for it writes what it is given."""
    found = judge(case, Accepted(data=data), hello=NO_CLAIMS, reference=None)
    return found.name, found.kind


def given(case: Case) -> bytes:
    return case.input.data


@each("case", SOUND, ids=lambda case: case.id)
def test_what_a_broker_takes_without_a_word_may_be_written(case: Case) -> None:
    taken = accepted(case.expect)
    assert taken
    assert produced_verdict(written(case, taken.value), given(case))[0] == "pass"


@each("case", TOLERATED, ids=lambda case: case.id)
def test_what_a_broker_merely_puts_up_with_may_not_be_written(case: Case) -> None:
    taken = accepted(case.expect)
    assert taken
    assert produced_verdict(written(case, taken.value), given(case)) == ("fail", "wrong-bytes")


@each("case", REFUSED, ids=lambda case: case.id)
def test_what_a_broker_refuses_may_not_be_written(case: Case) -> None:
    assert produced_verdict(written(case, None), given(case)) == ("fail", "wrong-bytes")


def test_a_reader_forgives_what_a_broker_puts_up_with() -> None:
    case = next(case for case in TOLERATED if case.id.endswith("/deltas-duplicate"))
    taken = accepted(case.expect)
    assert taken
    assert produced_verdict(evolve(written(case, taken.value), profile="reader"), given(case))[0] == "info"
