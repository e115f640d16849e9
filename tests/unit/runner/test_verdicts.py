"""The allowed answers of an object, and the verdicts that set the exit code: architecture.md#verdicts."""

import pytest
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
from wireproof.runner.judge import judge
from wireproof.runner.verdicts import Verdict, gates


def circle() -> object:
    inner: list[object] = []
    inner.append(inner)
    return inner


@pytest.mark.parametrize(
    ("outcome", "label"),
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


@pytest.mark.parametrize(
    ("name", "level", "hold", "strict", "expected"),
    [
        ("fail", "must", "must", False, True),
        ("fail", "should", "must", False, False),
        ("fail", "should", "should", False, True),
        ("crash", "should", "must", False, True),
        ("timeout", "should", "must", False, True),
        ("resource", "should", "must", False, True),
        ("stalled", "should", "must", False, True),
        ("crash", "may", "must", False, False),
        ("fail", "may", "should", True, False),
        ("fail", "info", "should", True, False),
        ("lenient", "should", "must", False, False),
        ("lenient", "should", "should", False, True),
        ("lenient", "may", "should", False, False),
        ("undocumented", "must", "must", True, False),
        ("undocumented", "must", "should", False, True),
        ("undocumented", "should", "should", False, True),
        ("undocumented", "may", "should", False, False),
        ("pass-unclassified", "must", "must", False, False),
        ("pass-unclassified", "must", "must", True, True),
        ("info", "must", "should", True, False),
        ("unsupported", "must", "should", True, False),
        ("not-run", "must", "should", True, False),
        ("pass", "must", "should", True, False),
        *(
            (name, "must", "must", False, True)
            for name in ("crash", "timeout", "resource", "stalled", "blocked")
        ),
    ],
)
def test_each_verdict_gates_at_its_level(
    name: str, level: str, hold: str, strict: bool, expected: bool
) -> None:
    assert gates(name, level, hold=hold, strict_class=strict) is expected  # type: ignore[arg-type]


@pytest.mark.parametrize(("level", "fails"), [("must", True), ("should", True), ("may", False)])
def test_a_failed_security_case_fails_a_run_at_should_too(level: Level, *, fails: bool) -> None:
    assert gates("fail", level, security=True) is fails


def test_a_verdict_has_only_the_kinds_of_its_row() -> None:
    with pytest.raises(ValueError, match="has no kind"):
        Verdict("fail", "canonical")
