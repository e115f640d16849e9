"""The commands of every page are run, from top to bottom, one folder for each section."""

from pathlib import Path

import documentation
import pytest
from document_runner import Departs, Follower, Row
from documentation import LEFT, ROWS, Left, Section, follow, sections
from each import each
from folders import TESTS
from markdown_commands import Command, departs


@pytest.mark.documents
@pytest.mark.parametrize("section", sections(), ids=str)
def test_the_commands_of_a_section_do_what_it_says(section: Section, tmp_path: Path) -> None:
    follow(section, Follower(tmp_path))


def test_every_row_is_about_a_command_of_some_page() -> None:
    typed = {command.typed for command in documentation.commands()}
    assert [one for one in ROWS if one not in typed] == []
    assert [one for one in LEFT if not any(words.startswith(one.typed) for words in typed)] == []
    assert [one for one, row in ROWS.items() if bool(row.run) != bool(row.why)] == []


@each("one", LEFT, ids=lambda one: one.typed)
def test_a_command_that_is_not_run_has_a_reason_and_a_test_of_its_subject(one: Left) -> None:
    assert one.why
    assert one.word in (TESTS / one.test).read_text(encoding="utf-8")


# --- the runner can fail ---


@each("shown, printed", [
    ("a\nb\n", "a\nc\n"), ("a\nb\n", "a\n"), ("a\n", "a\nb\n"), ("a\n", ""), ("a…c\n", "a\nc\n"),
    ("…\na\n", "a\nb\n"), ("a\n…\n", "b\na\n"), ("a\n…\na\n", "a\n"),
    ("…\nb\n…\na\n…\n", "a\nb\n"), ("  a\n", "a\n"), ("a.c\n", "abc\n"),
])  # fmt: skip
def test_what_is_shown_and_was_not_printed_is_named(shown: str, printed: str) -> None:
    assert departs(shown, printed).startswith("not printed, from line ")


@pytest.mark.parametrize(("typed", "row", "why"), [
    ("false", Row(says="…"), "ended with 1, not 0"),
    ("true", Row(code=1, says="…"), "ended with 0, not 1"),
    ("nosuch-command", Row(says="…"), "ended with 127, not 0"),
    ("echo a", Row(says="b"), "not printed"),
    ("echo a; true --out nosuch", Row(), "nosuch was not written"),
    ("touch empty; true --out empty", Row(), "empty was not written"),
    ("true --out old", Row(), "old was not written"),
    ("true", Row(), "nothing to hold it to"),
])  # fmt: skip
def test_a_command_with_another_result_is_reported(tmp_path: Path, typed: str, row: Row, why: str) -> None:
    (tmp_path / "old").write_text("of another command")
    with pytest.raises(Departs, match=why) as told:
        Follower(tmp_path).types(Command("Section", 7, typed), row)
    assert f"line 7: {typed}" in str(told.value)
