"""Known bugs: the loader of `bugs.toml`, the checks of its entries, and their counts."""

from pathlib import Path

import pytest
from attrs import evolve
from fixture_folders import GOOD, only, write
from goldens import load

from tests.fixture_tables import history
from tests.fixture_tables.history import Bug, counts, history_problems, known_bugs
from wireproof.cases.case_json import FixtureError
from wireproof.cases.fixtures import Suite

GOOD_ID = GOOD["id"]
CAUGHT = """
[[bug]]
id = "shelf-1"
project = "shelf"
links = ["https://example.org/shelf/issues/1"]
title = "Kind 0 was read as a number."
scope = "codec"
fixed = "1.1"
mutant = "shelf-kind-0"
"""
MISSED = """
[[bug]]
id = "shelf-2"
project = "shelf"
links = ["https://example.org/shelf/issues/2"]
title = "Numbers above 2^31 were lost."
scope = "codec"
missed = "no case has one"
found_by = "property"
mutant = "shelf-large"
"""
EXCLUDED = """
[[bug]]
id = "shelf-3"
project = "shelf"
links = ["https://example.org/shelf/issues/3"]
title = "The shelf was moved."
scope = "broker"
excluded = "no bytes show it"
"""


def suite_of(
    folder: Path, monkeypatch: pytest.MonkeyPatch, text: str, level: str = "must", bugs: str = "shelf-1"
) -> Suite:
    """One case that names some bugs, and the file of bugs."""
    write(folder, {**GOOD, "level": level, "source": {"origin": "hand", "bugs": bugs.split()}})
    path = folder / "bugs.toml"
    path.write_text(text, encoding="utf-8")
    monkeypatch.setattr(history, "BUGS_FILE", path)
    return only(folder, monkeypatch)


def found(
    folder: Path, monkeypatch: pytest.MonkeyPatch, text: str, level: str = "must", bugs: str = "shelf-1"
) -> list[str]:
    """The problems of the bugs of one folder."""
    return [str(problem) for problem in history_problems(suite_of(folder, monkeypatch, text, level, bugs))]


def test_the_bugs_of_the_file_have_the_cases_that_name_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite = suite_of(tmp_path, monkeypatch, CAUGHT + MISSED + EXCLUDED, bugs="no-7 shelf-1")
    bugs = known_bugs(suite)
    assert [bug.cases for bug in bugs] == [(GOOD_ID,), (), ()]
    assert [bug.id for bug in bugs] == ["shelf-1", "shelf-2", "shelf-3"]
    assert [bug.caught_by for bug in bugs] == ["golden", "property", ""]
    assert [bug.in_scope for bug in bugs] == [True, True, False]


def test_a_sound_file_has_no_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert found(tmp_path, monkeypatch, CAUGHT + MISSED + EXCLUDED) == []


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ('title = "Kind', 'titel = "Kind', "shelf-1: the bug has no field 'titel'"),
        ('scope = "codec"', 'scope = "code"', "shelf-1: scope must be one of codec, client"),
        ('id = "shelf-1"', 'id = "Shelf 1"', "Shelf 1: an id has a-z"),
        ('fixed = "1.1"', "fixed = 1.1", "shelf-1: fixed must be a string"),
        ("https:", "javascript:", "shelf-1: javascript://example.org/shelf/issues/1 does not begin with"),
        ('fixed = "1.1"', 'found_by = "luck"', "shelf-1: found_by must be one of derived, property"),
        ('fixed = "1.1"', 'cases = ["a"]', "shelf-1: the cases of a bug name it in `source.bugs`"),
    ],
)
def test_the_loader_names_the_bug_and_the_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, old: str, new: str, reason: str
) -> None:
    suite = suite_of(tmp_path, monkeypatch, CAUGHT.replace(old, new))
    with pytest.raises(FixtureError, match=reason):
        known_bugs(suite)


@pytest.mark.parametrize(
    ("text", "bugs", "reason"),
    [
        (CAUGHT + CAUGHT.replace("issues/1", "issues/4"), "shelf-1", "the id shelf-1 is there 2 times"),
        (CAUGHT + CAUGHT.replace("shelf-1", "shelf-4"), "shelf-1 shelf-4", "issues/1 is there 2 times"),
        (CAUGHT, "shelf-1 shelf-9", f"{GOOD_ID}: bugs.toml has no bug shelf-9"),
        (CAUGHT.replace('mutant = "shelf-kind-0"', ""), "shelf-1", "needs a mutant that repeats it"),
        (CAUGHT, "", "needs cases that catch it, or the reason"),
        (CAUGHT + 'missed = "why"\n', "shelf-1", "needs cases that catch it, or the reason"),
        (CAUGHT + 'found_by = "property"\n', "shelf-1", "`found_by` is for a bug without"),
        (CAUGHT + 'without_mutant = "why"\n', "shelf-1", "needs a mutant that repeats it, or the reason"),
        (EXCLUDED, "shelf-3", "is out of scope, and has no cases"),
        (EXCLUDED + 'missed = "why"\n', "", "is out of scope, and has no cases"),
        (EXCLUDED.replace("broker", "codec"), "", "a bug that a codec's bytes show is in scope"),
        (MISSED.replace('title = "Numbers above 2^31 were lost."', 'title = ""'), "", "a link and a title"),
    ],
)
def test_a_problem_names_what_is_wrong_with_an_entry(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, bugs: str, reason: str
) -> None:
    problems = found(tmp_path, monkeypatch, text, bugs=bugs)
    assert len(problems) == 1
    assert reason in problems[0]


def test_a_case_that_fails_no_run_catches_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert found(tmp_path, monkeypatch, CAUGHT, "should") == []
    assert found(tmp_path, monkeypatch, CAUGHT, "may") == [
        f"bugs.toml shelf-1: the case {GOOD_ID} has the level may, and cannot fail a run"
    ]


def test_counts_rate_the_bugs_in_scope_by_the_first_part_that_catches_them() -> None:
    bug = Bug("a", "shelf", ("https://example.org/a",), "A", "codec", cases=(GOOD_ID,), mutant="m")
    bugs = [
        bug,
        evolve(bug, cases=(), missed="why", found_by="derived"),
        evolve(bug, cases=(), missed="why", scope="client"),
        evolve(bug, cases=(), mutant="", excluded="why", scope="broker"),
    ]
    assert str(counts(bugs)) == (
        "history: 4 bugs, 3 in scope: 1 caught by golden cases, 1 by derived, 0 by property, 1 missed; "
        "1 of 2 that a codec's bytes can show are caught by golden cases"
    )


def test_the_package_knows_205_bugs_and_no_fault_is_in_them() -> None:
    suite = load()
    assert len(known_bugs(suite)) == 205
    assert [str(problem) for problem in history_problems(suite)] == []
