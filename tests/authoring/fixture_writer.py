"""Fixture files: cases are collected, sorted and written in one form.

A case that no module makes stays in its file: it is a finding that was promoted. An id that is in `fixtures/`
keeps its bytes: a case whose input differs from that of the file is an error.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

from tests.authoring.derived_fields import bare, completed
from tests.authoring.reject_positions import placed
from tests.authoring.report_links import links, with_links

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
INLINE = 512
KEYS = (
    "id", "aliases", "title", "why", "op", "profile", "options", "level", "rules", "flags",
    "input", "expect", "steps", "twin", "needs", "source", "limits",
)  # fmt: skip


class BytesChangedError(Exception):
    """An id of `fixtures/` would get other bytes."""


class FixtureWriter:
    """The cases of a system, and the files that they are written to."""

    def __init__(self) -> None:
        self.cases: dict[str, dict[str, Any]] = {}

    def add(self, case: dict[str, Any]) -> str:
        """Take a case, and return its id."""
        unknown = set(case) - set(KEYS)
        if unknown or case["id"] in self.cases:
            raise ValueError(f"{case['id']}: {unknown or 'twice'}")
        if "steps" not in case:
            placed(case)
        _showing(case)
        self.cases[case["id"]] = {key: case[key] for key in KEYS if case.get(key) not in (None, [], ())}
        return str(case["id"])

    def write(self, folder: Path = FIXTURES) -> None:
        """Write every file that the cases belong to; what is promoted or witnessed comes from `fixtures/`."""
        files: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
        for case in self.cases.values():
            form, revision, topic, _ = case["id"].split("/")
            files.setdefault((form, revision, topic), []).append(case)
        reports = links(FIXTURES)
        for (form, revision, topic), cases in files.items():
            place = Path(form, revision, f"{topic}.json")
            (folder / place.parent).mkdir(parents=True, exist_ok=True)
            rows = self._rows(place, cases, folder, reports)
            page = {"schema": 1, "format": form, "revision": revision, "cases": rows}
            (folder / place).write_text(
                json.dumps(page, indent=2, ensure_ascii=False) + "\n", encoding="utf-8"
            )

    def _rows(
        self, place: Path, cases: list[dict[str, Any]], folder: Path, reports: Mapping[str, Sequence[str]]
    ) -> list[dict[str, Any]]:
        """Return the cases of a file as they are written; large inputs go to files beside it."""
        rows = deepcopy(
            sorted([*cases, *_promoted(FIXTURES / place, self.cases)], key=lambda case: str(case["id"]))
        )
        _keep_bytes(FIXTURES / place, rows)
        for row in rows:
            row["why"] = with_links(row["why"], reports.get(row["id"], ()))
            if "steps" not in row:
                row["expect"] = completed(row, (FIXTURES / place).parent)
                _spill((folder / place).parent, row)
        _keep_witnesses(FIXTURES / place, rows)
        return rows


def _showing(case: dict[str, Any]) -> None:
    """Drop the need to show control batches where a consumer's view is asked for, which has none."""
    if {"fetch_offset", "isolation"} & set(case.get("options") or ()):
        case["needs"] = [atom for atom in case.get("needs") or () if atom != "feature:control-batch"]


def _promoted(path: Path, made: Mapping[str, object]) -> list[dict[str, Any]]:
    """Return the cases of a file that no module makes: findings that were promoted."""
    if not path.exists():
        return []
    landed = json.loads(path.read_text(encoding="utf-8"))["cases"]
    return [case for case in landed if case["id"] not in made]


def _spill(folder: Path, row: dict[str, Any]) -> None:
    """Write an input over 512 bytes to a file of its own."""
    data = row["input"].get("hex")
    if data is None or len(data) <= 2 * INLINE:
        return
    raw = bytes.fromhex(data)
    name = row["id"].split("/", 2)[2].replace("/", ".") + ".bin"
    (folder / name).write_bytes(raw)
    row["input"] = {"file": name, "sha256": hashlib.sha256(raw).hexdigest()}


def _keep_witnesses(path: Path, rows: list[dict[str, Any]]) -> None:
    """Keep the witnesses of a case whose input and expectation are those of its file.

    Derived fields do not count: each peer shows some of them or none, and is compared on those at every check.
    Nor do remarks, which no peer has.
    """
    if not path.exists():
        return
    landed = {case["id"]: case for case in json.loads(path.read_text(encoding="utf-8"))["cases"]}
    for row in rows:
        old = landed.get(row["id"])
        if old and _asked(old) == _asked(row):
            witnesses = old["source"].get("witnesses")
            row["source"] |= {"witnesses": witnesses} if witnesses else {}


def _asked(row: dict[str, Any]) -> Any:
    """Return the input and the expectation of a case, on which its witnesses agree."""
    if "steps" in row:
        return row["steps"]
    expect = bare(row["expect"])
    if "accept" in expect:
        expect |= {"accept": {key: part for key, part in expect["accept"].items() if key != "remarks"}}
    return row["input"], expect


def _sent(row: dict[str, Any]) -> Any:
    """Return the input of a case: of one with steps, the steps without their expectations."""
    if "steps" not in row:
        return row["input"]
    return [{key: part for key, part in step.items() if key != "expect"} for step in row["steps"]]


def _keep_bytes(path: Path, rows: list[dict[str, Any]]) -> None:
    if not path.exists():
        return
    landed = {case["id"]: _sent(case) for case in json.loads(path.read_text(encoding="utf-8"))["cases"]}
    for row in rows:
        old, new = landed.get(row["id"]), _sent(row)
        if old and "sha256" in old and "hex" in new:
            new = {"file": old["file"], "sha256": hashlib.sha256(bytes.fromhex(new["hex"])).hexdigest()}
        if old and old != new:
            raise BytesChangedError(f"{row['id']}: its input has landed and may not change")
