"""New cases are written and frozen if an independent reader and `lint` agree; else nothing changes."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from documentation import text_of

from tests.authoring.new_cases import AddError, add

EXAMPLE = re.findall(r"^```python\n(.*?)^```", text_of("writing-a-case.md"), re.DOTALL | re.MULTILINE)[0]
NAMES = ["kafka.batch/v2/crc/null-between", "kafka.batch/v2/records/null-between"]


def added(text: str, folder: Path) -> list[str]:
    """Add the cases of a file with this text to the fixtures of a folder."""
    path = folder / "cases.py"
    path.write_text(text, "utf-8")
    return add(path, folder / "fixtures")


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in (folder / "fixtures").rglob("*") if path.is_file())


def cases_of(path: Path) -> list[Any]:
    cases: list[Any] = json.loads(path.read_text("utf-8"))["cases"]
    return cases


def test_the_example_of_the_page_is_written_and_frozen(tmp_path: Path) -> None:
    lines = added(EXAMPLE, tmp_path)
    assert lines[:2] == NAMES
    assert files(tmp_path) == ["crc.json", "frozen.json", "records.json"]
    frozen = json.loads((tmp_path / "fixtures" / "frozen.json").read_text("utf-8"))
    assert sorted(frozen) == NAMES
    (case,) = cases_of(tmp_path / "fixtures/kafka.batch/v2/records.json")
    assert (
        case["expect"]["accept"]["value"]["nextOffset"] == "3"
    )  # a derived field, which the file does not state


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        (
            "batch_value(rows)",
            "batch_value(rows[:2])",
            r"null-between: \.value\.lastOffsetDelta: the reader finds 2",
        ),
        ("at=17", "at=18", r"crc/null-between: \.at: the reader finds 17, the file has 18"),
        ('"crc-mismatch"', '"bad-magic"', r"crc/null-between: \.class: the reader finds crc-mismatch"),
        ('why="A tombstone must not end the batch."', "y=1", "TypeError: .*missing 1 required keyword-only"),
        ("def write", "def other", "has no function `write`"),
        ("crc/null", "records/null", "records/null-between: is there twice"),
        ("VALUES = ", "VALUES = 1 / 0, ", "ZeroDivisionError: division by zero"),
    ],
)
def test_a_case_that_is_wrong_adds_nothing(tmp_path: Path, old: str, new: str, problem: str) -> None:
    assert old in EXAMPLE
    with pytest.raises(AddError, match=problem):
        added(EXAMPLE.replace(old, new), tmp_path)
    assert files(tmp_path) == []
