"""New cases are written and frozen if an independent reader and `lint` agree; else nothing changes."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from documentation import text_of

from tests.authoring.new_cases import AddError, NewCases, add
from wireproof.wire.json_values import json_digest

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


def test_what_lint_refuses_adds_nothing(tmp_path: Path) -> None:
    with pytest.raises(AddError, match=r"the rule kafka\.v2\.nil is unknown"):
        added(EXAMPLE.replace("kafka.v2.null", "kafka.v2.nil"), tmp_path)
    assert files(tmp_path) == []


def test_the_builder_has_every_sort_of_case() -> None:
    cases = NewCases()
    s = cases.of("heka.stream", "0.10")
    head: dict[str, Any] = {"doc": "heka.md §2", "why": "because", "rules": ["heka.stream.frame"]}
    s.either(
        "a/open",
        "t",
        b"",
        {"read": {"accept": {"value": {"frames": []}}}, "refused": {"reject": {"class": "other"}}},
        **head,
    )
    s.writes("a/written", "t", {"frames": []}, b"", **head)
    s.unfit("a/unfit", "t", {"frames": [1]}, twin="a/written", **head)
    s.scans("a/scan", "t", [b"a", b"b"], [{"kind": "garbage", "at": 0, "length": 2}], **head)
    s.steps("a/steps", "t", [{"op": "produce", "hex": "", "expect": {"error": "x"}}], **head)
    s.made("a/made", "t", "decode", {"value": 10}, **head)
    rows = {name.rpartition("/")[2]: row for name, row in cases.rows.items()}
    assert [row["op"] for row in rows.values()] == [
        "decode",
        "encode",
        "encode",
        "scan",
        "sequence",
        "decode",
    ]
    assert [one["id"] for one in rows["open"]["expect"]["either"]["behaviours"]] == ["read", "refused"]
    assert rows["written"]["expect"] == {"accept": {"value": {"frames": []}, "bytes": [""]}}
    assert rows["unfit"]["twin"] == "heka.stream/0.10/a/written"
    assert rows["scan"]["expect"]["accept"]["consumed"] == 2
    assert rows["made"]["expect"]["accept"]["consumed"] == rows["made"]["input"]["size"]
    assert len(rows["made"]["expect"]["accept"]["digest"]) == len(json_digest(None))
