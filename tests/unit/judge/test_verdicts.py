"""The allowed answers of an object, and the verdicts and codes that end a run: architecture.md#verdicts."""

import pytest
from each import each
from toy_format import (
    GOOD_CASE,
    GOOD_VALUE,
    toy,  # noqa: F401 - pytest finds the fixture here
)

from wireproof.cases.case import Level
from wireproof.cases.outcome import (
    Accepted,
    Outcome,
    Refused,
)
from wireproof.judge.judge import judge
from wireproof.judge.verdicts import gates


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
