"""A must case without a witness has a reason, and each reason belongs to such a case."""

from pathlib import Path
from typing import Any

import pytest
from fixture_folders import BAD, GOOD, PLACE, only, write
from goldens import load

from tests.fixture_tables.witness_reasons import (
    check_reasons,
    count_line,
    reasons_of,
    without_witness,
)
from wireproof.cases.id_patterns import compile_pattern
from wireproof.cases.requirements import SETS_FILE, RequirementError


def problems(root: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    return [str(problem) for problem in check_reasons(only(root, monkeypatch))]


WITNESSED = {**GOOD, "source": {"origin": "hand", "witnesses": [{"name": "one", "version": "1"}]}}


def row(*patterns: str, reason: str = "No other program reads it.") -> str:
    cases = ", ".join(f'"{pattern}"' for pattern in patterns)
    return f'[[unwitnessed]]\ncases = [{cases}]\nreason = "{reason}"\n'


def folder(root: Path, text: str, *rows: dict[str, Any]) -> None:
    write(root, *(rows or (GOOD, BAD)))
    (root / SETS_FILE).write_text(text, encoding="utf-8")


@pytest.mark.parametrize(
    ("text", "cases", "line"),
    [
        ("", (GOOD, BAD), "witnesses of 2 must cases: 0 have one, 0 a reason, 2 neither"),
        ("", (WITNESSED, BAD), "witnesses of 2 must cases: 1 have one, 0 a reason, 1 neither"),
        (row(f"{PLACE}/*"), (GOOD, BAD), "witnesses of 2 must cases: 0 have one, 2 a reason, 0 neither"),
        (
            row("iggy.**"),
            (GOOD, {**BAD, "level": "should"}),
            "witnesses of 1 must cases: 0 have one, 1 a reason, 0 neither",
        ),
    ],
)
def test_must_cases_are_counted_by_witness_and_reason(
    tmp_path: Path, monkeypatch: Any, text: str, cases: tuple[dict[str, Any], ...], line: str
) -> None:
    folder(tmp_path, text or row(f"{PLACE}/b-bad"), *cases)
    if not text:
        (tmp_path / SETS_FILE).unlink()
    suite = only(tmp_path, monkeypatch)
    assert count_line(suite) == line
    assert not list(check_reasons(suite))


@pytest.mark.parametrize("pattern", ["kafka.**", f"{PLACE}/a-good"])
def test_a_pattern_of_no_case_without_a_witness_is_a_problem(
    tmp_path: Path, monkeypatch: Any, pattern: str
) -> None:
    folder(tmp_path, row(f"{PLACE}/b-bad", pattern), WITNESSED, BAD)
    assert problems(tmp_path, monkeypatch) == [
        f"sets.toml: {pattern} matches no must case without a witness: remove or correct it"
    ]


@pytest.mark.parametrize("text", [row(f"{PLACE}/*", reason=""), row()])
def test_a_row_needs_cases_and_a_reason(tmp_path: Path, monkeypatch: Any, text: str) -> None:
    folder(tmp_path, text)
    assert problems(tmp_path, monkeypatch) == ["sets.toml unwitnessed 1: needs cases and a reason"]


@pytest.mark.parametrize(
    ("text", "reason"), [(row("iggy.**") + 'autor = "me"\n', ".*autor"), ("[other]\n", ".*other")]
)
def test_a_file_with_a_mistake_is_one_line(tmp_path: Path, monkeypatch: Any, text: str, reason: str) -> None:
    folder(tmp_path, text)
    with pytest.raises(RequirementError, match=rf"sets\.toml: {reason}") as caught:
        reasons_of(only(tmp_path, monkeypatch))
    assert "\n" not in str(caught.value)


def test_the_reasons_of_the_package_match_its_cases() -> None:
    suite = load()
    assert not list(check_reasons(suite))
    bare = without_witness(suite)
    special = [
        case for case in bare if case.profile == "produce" or case.topic == "delivered" or case.op == "scan"
    ]
    patterns = [compile_pattern(pattern) for row in reasons_of(suite) for pattern in row.cases]
    assert all(any(one.fullmatch(case.id) for one in patterns) for case in special)
