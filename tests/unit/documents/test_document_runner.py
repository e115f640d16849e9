"""The runner of documents can fail: it reports missing files, missing output and unexpected output."""

from pathlib import Path

import pytest
from document_runner import Departs, Follower, Row
from each import each
from markdown_commands import Command, departs


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
