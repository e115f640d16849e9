"""The runner of documents can fail: it reports missing files, missing output and unexpected output."""

from pathlib import Path

import pytest
from document_runner import Departs, Follower, Row
from each import each
from markdown_commands import Command, Source, departs, steps

FAILURE = """\
FAIL  an/id     wrong-accept
  got     accept
  replay  wireproof replay an/id one
"""

SHOWN = FAILURE.replace("  replay", "  like    2 more\n  replay")

PAGE = f"""\
# A page

## First

Type `wireproof cases`, not `cases`.

```sh
# no command
one --a \\
  --b
two
```

```text
…
the end
```

## Second

```python
x = 1
```

Saved as `x.py`: `wireproof check py:x:X`.

```console
$ echo 'a
b' | cat
a
b
$ wireproof check one
{SHOWN}…
$ three
```
"""


def test_a_document_is_its_commands_and_sources_from_top_to_bottom() -> None:
    assert steps(PAGE) == [
        Command("First", 5, "wireproof cases"),
        Command("First", 7, "one --a --b"),
        Command("First", 7, "two", "…\nthe end\n"),
        Source("Second", 21, "python", "x = 1\n", "x.py"),
        Command("Second", 25, "wireproof check py:x:X"),
        Command("Second", 27, "echo 'a\nb' | cat", "a\nb\n"),
        Command("Second", 27, "wireproof check one", f"{SHOWN}…\n"),
        Command("Second", 27, "wireproof replay an/id one", f"…\n{FAILURE}…\n"),
        Command("Second", 27, "three", ""),
    ]  # fmt: skip


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
