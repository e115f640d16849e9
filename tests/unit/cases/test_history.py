"""Known bugs: the loader of `history.toml`, the checks of its entries, and their counts."""

from pathlib import Path

import pytest
from attrs import evolve
from fixture_folders import GOOD, only, write
from goldens import load

from tests.fixture_tables.history import HISTORY_FILE, Bug, counts, history_problems, known_bugs, read_history
from wireproof.cases.case_json import FixtureError

GOOD_ID = GOOD["id"]
CAUGHT = f"""
[[bug]]
id = "shelf-1"
project = "shelf"
links = ["https://example.org/shelf/issues/1"]
title = "Kind 0 was read as a number."
scope = "codec"
fixed = "1.1"
cases = ["{GOOD_ID}"]
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


def history_file(folder: Path, text: str) -> Path:
    path = folder / HISTORY_FILE
    path.write_text(text, encoding="utf-8")
    return path


def found(folder: Path, monkeypatch: pytest.MonkeyPatch, text: str, level: str = "must") -> list[str]:
    """The problems of the bugs of one folder."""
    write(folder, {**GOOD, "level": level})
    history_file(folder, text)
    return [str(problem) for problem in history_problems(only(folder, monkeypatch))]


def test_a_folder_without_the_file_has_no_bugs(tmp_path: Path) -> None:
    assert read_history(tmp_path / HISTORY_FILE) == ()


def test_the_suite_has_the_bugs_of_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, GOOD)
    history_file(tmp_path, CAUGHT + MISSED + EXCLUDED)
    bugs = known_bugs(only(tmp_path, monkeypatch))
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
    ],
)
def test_the_loader_names_the_bug_and_the_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, old: str, new: str, reason: str
) -> None:
    write(tmp_path, GOOD)
    history_file(tmp_path, CAUGHT.replace(old, new))
    with pytest.raises(FixtureError, match=reason):
        known_bugs(only(tmp_path, monkeypatch))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (CAUGHT + CAUGHT.replace("issues/1", "issues/4"), "history.toml: the id shelf-1 is there 2 times"),
        (CAUGHT + CAUGHT.replace("shelf-1", "shelf-4"), "issues/1 is there 2 times"),
        (CAUGHT.replace(GOOD_ID, "shelf/none"), "the case shelf/none does not exist"),
        (CAUGHT.replace('mutant = "shelf-kind-0"', ""), "needs a mutant that repeats it"),
        (CAUGHT.replace(f'cases = ["{GOOD_ID}"]', ""), "needs cases that catch it, or the reason"),
        (CAUGHT + 'missed = "why"\n', "needs cases that catch it, or the reason"),
        (CAUGHT + 'found_by = "property"\n', "`found_by` is for a bug without"),
        (CAUGHT + 'without_mutant = "why"\n', "needs a mutant that repeats it, or the reason"),
        (EXCLUDED + 'missed = "why"\n', "is out of scope, and has no cases"),
        (EXCLUDED.replace("broker", "codec"), "a bug that a codec's bytes show is in scope"),
        (MISSED.replace('title = "Numbers above 2^31 were lost."', 'title = ""'), "needs a link and a title"),
    ],
)
def test_a_problem_names_what_is_wrong_with_an_entry(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, reason: str
) -> None:
    problems = found(tmp_path, monkeypatch, text)
    assert len(problems) == 1
    assert reason in problems[0]


def test_a_case_that_fails_no_run_catches_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert found(tmp_path, monkeypatch, CAUGHT, "should") == []
    assert found(tmp_path, monkeypatch, CAUGHT, "may") == [
        f"history.toml shelf-1: the case {GOOD_ID} has the level may, and cannot fail a run"
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
