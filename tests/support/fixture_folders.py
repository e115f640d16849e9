"""Small folders of fixtures, written into a test's own folder."""

from pathlib import Path
from typing import Any

from wireproof.cases import fixtures
from wireproof.cases.fixture_writer import page_text
from wireproof.cases.fixtures import Suite, load
from wireproof.cases.rules import SOURCES_FILE
from wireproof.lint.cases import lint

PLACE = "iggy.identifier/0.0.30/shelf"
"""The format of the cases here: iggy.md section 1: kind, length, value; kind 1 is 4 bytes, little-endian."""

GOOD: dict[str, Any] = {
    "id": f"{PLACE}/a-good",
    "title": "The number 7",
    "why": "A test of the tests.",
    "op": "decode",
    "level": "must",
    "rules": ["shelf.number"],
    "input": {"hex": "010407000000"},
    "expect": {"accept": {"value": {"kind": "numeric", "value": "07000000"}, "consumed": 6}},
    "source": {"origin": "hand"},
}
BAD: dict[str, Any] = {
    "id": f"{PLACE}/b-bad",
    "title": "Kind 0",
    "why": "A test of the tests.",
    "op": "decode",
    "level": "must",
    "rules": ["shelf.number"],
    "input": {"hex": "000407000000"},
    "expect": {"reject": {"class": "bad-kind", "at": 0}},
    "twin": GOOD["id"],
    "source": {"origin": "hand"},
}
RULE = """[[rule]]
id = "shelf.number"
text = "Kind 1 is a number of 4 bytes, any other kind but 2 is refused."
kind = "refusing"
document = "hand"
section = "1"
"""
PAPER = """[paper]
title = "The paper"
kind = "text"
url = "https://example.org/paper"
parts = { shelf = "#shelf" }
"""


def write(root: Path, *rows: dict[str, Any], rules: str = RULE, place: str = PLACE) -> Path:
    """The one file of the shelf, and the rules beside it."""
    form, revision, topic = place.split("/")
    path = root / form / revision / f"{topic}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    page = {"schema": 1, "format": form, "revision": revision, "cases": list(rows)}
    path.write_text(page_text(page), encoding="utf-8")
    (root / form / "rules.toml").write_text(rules, encoding="utf-8")
    return path


def only(root: Path, monkeypatch: Any) -> Suite:
    monkeypatch.setattr("wireproof.cases.fixtures.fixtures_folder", lambda: root)
    return load()


def formats(root: Path, monkeypatch: Any, *names: str) -> None:
    """The package's fixtures of some formats and no others: to lint the rest of them takes seconds."""
    package = fixtures.fixtures_folder()
    for name in (*names, SOURCES_FILE):
        (root / name).symlink_to(package / name)
    monkeypatch.setattr("wireproof.cases.fixtures.fixtures_folder", lambda: root)


def problems(root: Path, monkeypatch: Any) -> list[str]:
    return [str(problem) for problem in lint(only(root, monkeypatch))]
