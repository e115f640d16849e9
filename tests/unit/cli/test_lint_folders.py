"""`lint DIR`: the fixtures of a user's folder alone, with the problems last."""

from collections.abc import Callable
from pathlib import Path

import pytest
from command_line import Command
from fixture_folders import BAD, GOOD, RULE, write


@pytest.mark.parametrize("form", ["argument", "option"])
def test_a_folder_is_reported_alone_with_its_problems_last(
    wireproof: Command, tmp_path: Path, form: str
) -> None:
    write(tmp_path, {**GOOD, "rules": ["shelf.none", *GOOD["rules"]]}, BAD, rules=RULE)
    words = ("lint", tmp_path) if form == "argument" else ("--fixtures", tmp_path, "lint")
    done = wireproof(*words)
    count, *problems, last = done.out.splitlines()
    assert done.code == 5
    assert count == "2 cases, 2 of them not frozen; 1 rule"
    assert problems == [f"{GOOD['id']}: the rule shelf.none is unknown"]
    assert last == "1 problem"


def cut(path: Path) -> None:
    path.write_text(path.read_text("utf-8")[:200], encoding="utf-8")


def twice(path: Path) -> None:
    write(path.parents[2], GOOD, GOOD, BAD)


def other_bytes(path: Path) -> None:
    (path.parent / "shelf.a-good.bin").write_bytes(b"x")
    write(path.parents[2], {**GOOD, "input": {"file": "shelf.a-good.bin", "sha256": "0" * 64}}, BAD)


@pytest.mark.parametrize(
    ("spoil", "names", "said"),
    [
        (cut, "shelf.json", "correct or restore it"),
        (twice, GOOD["id"], "correct or restore it"),
        (other_bytes, GOOD["id"], "has another sha256 than the case says: correct or restore it"),
    ],
)
def test_a_bad_file_is_one_line_that_names_the_place_and_counts_last(
    wireproof: Command, tmp_path: Path, spoil: Callable[[Path], None], names: str, said: str
) -> None:
    spoil(write(tmp_path, GOOD, BAD, rules=RULE))
    done = wireproof("lint", tmp_path)
    lines = [*done.out.splitlines(), *done.err.splitlines()]
    assert done.code == 5
    assert sum(names in line and said in line for line in lines) == 1, lines
    assert lines[-1].endswith("1 problem")
