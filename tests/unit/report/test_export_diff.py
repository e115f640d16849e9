"""The list of changes of the cases, made from two exports."""

import json
from pathlib import Path
from typing import Any

import pytest
from command_line import Command
from each import each
from goldens import load

from wireproof.report.diff import INPUT, export_diff
from wireproof.report.export import export

ROW: dict[str, Any] = {
    "id": "toy/v1/basic/good",
    "file": "raw/toy/v1/basic/good.bin",
    "sha256": "aa",
    "op": "decode",
    "level": "must",
    "input": {"hex": "01"},
    "expect": {"accept": {"value": {"a": "1"}, "consumed": 1}},
}


def rows(*changed: dict[str, Any]) -> dict[str, Any]:
    return {row["id"]: row for row in ({**ROW, **one} for one in changed)}


OTHER = {"id": "toy/v1/basic/other"}


PARTS_CHANGED: dict[str, dict[str, Any]] = {
    "level": {"level": "should"},
    "expectation": {"expect": {"reject": {"class": "bad", "at": 0}}},
    "op": {"op": "scan"},
    "profile": {"profile": "produce"},
    "options": {"options": {"topic": "compact"}},
    "needs": {"needs": ["codec:lz4"]},
    "flags": {"flags": ["security"]},
    "limits": {"limits": {"ms": 100}},
    "twin": {"twin": OTHER["id"]},
}


@each("part", PARTS_CHANGED)
def test_a_part_that_changed_is_named_and_no_error(part: str) -> None:
    found = export_diff(rows({}), rows(PARTS_CHANGED[part]))
    assert [one.part for one in found.changed] == [part]
    assert not found.broken


INPUTS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "bytes": ({}, {"sha256": "bb", "input": {"hex": "02"}}),
    "chunks": ({"input": {"chunks": ["01", "0203"]}}, {"input": {"chunks": ["0102", "03"]}}),
    "a value": ({"sha256": None, "input": {"value": "1"}}, {"sha256": None, "input": {"value": "2"}}),
    "a recipe": (
        {"sha256": None, "input": {"generate": {}, "size": 9, "sha256": "aa"}},
        {"sha256": None, "input": {"generate": {}, "size": 9, "sha256": "bb"}},
    ),
    "steps": (
        {"sha256": None, "input": {}, "steps": [{"op": "produce", "hex": "01", "expect": {}}]},
        {"sha256": None, "input": {}, "steps": [{"op": "produce", "hex": "02", "expect": {}}]},
    ),
}


@each("kind", INPUTS)
def test_another_input_under_the_same_id_is_an_error(kind: str) -> None:
    before, now = INPUTS[kind]
    found = export_diff(rows(before), rows(now))
    assert [one.part for one in found.changed] == [INPUT]
    assert found.broken
    assert not export_diff(rows(now), rows(now)).broken


@pytest.fixture(scope="module")
def exports(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Two exports; the second one has a case more, and one at another level."""
    suite = load()
    some = [case for case in suite.cases if case.format == "iggy.identifier"]
    old, new = (tmp_path_factory.mktemp("exports") / name for name in ("old", "new"))
    for folder in (old, new):
        export(suite, some, folder)
    first, second, *rest = (new / "cases.ndjson").read_text("utf-8").splitlines()
    row = json.loads(first)
    row["level"] = "may" if row["level"] == "should" else "should"
    added = {**row, "id": f"{row['id']}-again"}
    lines = [json.dumps(row), json.dumps(added), second, *rest]
    (new / "cases.ndjson").write_text("\n".join(lines) + "\n", "utf-8")
    return old, new


def test_the_verb_prints_the_changes_of_two_exports(wireproof: Command, exports: tuple[Path, Path]) -> None:
    done = wireproof("diff", *map(str, exports))
    assert done.code == 0
    changed, added = done.out.splitlines()
    assert ": level: " in changed
    assert added.endswith("-again")


def test_a_case_removed_from_an_export_fails_the_verb(wireproof: Command, exports: tuple[Path, Path]) -> None:
    old, new = exports
    done = wireproof("diff", str(new), str(old))
    assert done.code == 1
    assert done.out.startswith("removed  iggy.identifier/")


def test_the_changes_as_markdown_are_a_table(wireproof: Command, exports: tuple[Path, Path]) -> None:
    text = wireproof("diff", "--markdown", *map(str, exports)).out
    assert "1 added, 1 changed, 0 removed." in text
    assert "### Added" in text
    assert "| level | `" in text
    assert "### Removed" not in text


def test_equal_exports_have_no_change(wireproof: Command, exports: tuple[Path, Path]) -> None:
    assert wireproof("diff", str(exports[0]), str(exports[0])).out == "no change\n"


@pytest.mark.parametrize(
    ("text", "fault"), [("[]\n", "an object with an id"), ("{\n", ":1: "), (None, "name a folder")]
)
def test_a_folder_that_is_no_export_is_one_line(
    wireproof: Command, exports: tuple[Path, Path], tmp_path: Path, text: str | None, fault: str
) -> None:
    if text is not None:
        (tmp_path / "cases.ndjson").write_text(text)
    done = wireproof("diff", str(tmp_path), str(exports[0]))
    assert done.code == 2
    assert fault in done.one_line()


def test_a_run_is_not_compared_with_an_export(wireproof: Command, exports: tuple[Path, Path]) -> None:
    done = wireproof("diff", str(exports[0]), str(exports[0] / "cases.ndjson"))
    assert done.code == 2
    assert "name runs, two exports or scans" in done.err
