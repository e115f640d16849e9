"""Fixture files as an author writes them: cases are collected, sorted and written in the one form.

A case that no script makes stays: it is a finding that was promoted.

An id that has landed keeps its bytes: a case whose input differs from the file's is refused.
"""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from positions import placed
from reports import links, told

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
INLINE = 512
KEYS = (
    "id", "aliases", "title", "why", "op", "profile", "options", "level", "rules", "flags",
    "input", "expect", "twin", "needs", "source", "limits",
)  # fmt: skip


class BytesChangedError(Exception):
    """An id that has landed would get other bytes."""


class Book:
    """The cases of one author's script, by file."""

    def __init__(self) -> None:
        self.cases: dict[str, dict[str, Any]] = {}

    def add(self, case: dict[str, Any]) -> str:
        """Take a case; returns its id."""
        unknown = set(case) - set(KEYS)
        if unknown or case["id"] in self.cases:
            raise ValueError(f"{case['id']}: {unknown or 'twice'}")
        placed(case)
        _showing(case)
        self.cases[case["id"]] = {key: case[key] for key in KEYS if case.get(key) not in (None, [], ())}
        return str(case["id"])

    def write(self) -> None:
        """Write every file that the cases belong to."""
        files: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
        reports = links(FIXTURES)
        for case in self.cases.values():
            form, revision, topic, _ = case["id"].split("/")
            files.setdefault((form, revision, topic), []).append(case)
        for (form, revision, topic), cases in files.items():
            folder = FIXTURES / form / revision
            folder.mkdir(parents=True, exist_ok=True)
            path = folder / f"{topic}.json"
            rows = sorted([*cases, *_promoted(path, self.cases)], key=lambda case: str(case["id"]))
            _keep_bytes(path, rows)
            for row in rows:
                row["why"] = told(row["why"], reports.get(row["id"], ()))
                _spill(folder, row)
            _keep_witnesses(path, rows)
            page = {"schema": 1, "format": form, "revision": revision, "cases": rows}
            path.write_text(json.dumps(page, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def _showing(case: dict[str, Any]) -> None:
    """Where a consumer's view is asked for, nobody has to show the control batches of a log."""
    if {"fetch_offset", "isolation"} & set(case.get("options") or ()):
        case["needs"] = [atom for atom in case.get("needs") or () if atom != "feature:control-batch"]


def _promoted(path: Path, made: Mapping[str, object]) -> list[dict[str, Any]]:
    """The landed cases that no script makes: findings that were promoted."""
    if not path.exists():
        return []
    landed = json.loads(path.read_text(encoding="utf-8"))["cases"]
    return [case for case in landed if case["id"] not in made]


def _spill(folder: Path, row: dict[str, Any]) -> None:
    """Inputs over 512 bytes lie in a file of their own."""
    data = row["input"].get("hex")
    if data is None or len(data) <= 2 * INLINE:
        return
    raw = bytes.fromhex(data)
    name = row["id"].split("/", 2)[2].replace("/", ".") + ".bin"
    (folder / name).write_bytes(raw)
    row["input"] = {"file": name, "sha256": hashlib.sha256(raw).hexdigest()}


def _keep_witnesses(path: Path, rows: list[dict[str, Any]]) -> None:
    """A witness stands as long as the case asks and expects what it was run on."""
    if not path.exists():
        return
    landed = {case["id"]: case for case in json.loads(path.read_text(encoding="utf-8"))["cases"]}
    for row in rows:
        old = landed.get(row["id"])
        if old and (old["input"], old["expect"]) == (row["input"], row["expect"]):
            witnesses = old["source"].get("witnesses")
            row["source"] |= {"witnesses": witnesses} if witnesses else {}


def _keep_bytes(path: Path, rows: list[dict[str, Any]]) -> None:
    if not path.exists():
        return
    landed = {case["id"]: case["input"] for case in json.loads(path.read_text(encoding="utf-8"))["cases"]}
    for row in rows:
        old, new = landed.get(row["id"]), row["input"]
        if old and "sha256" in old and "hex" in new:
            new = {"file": old["file"], "sha256": hashlib.sha256(bytes.fromhex(new["hex"])).hexdigest()}
        if old and old != new:
            raise BytesChangedError(f"{row['id']}: its input has landed and may not change")
