"""Completion of case ids in a shell; no case is read, because an id names the place of its file."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Final

FILE_PARTS: Final = 3
"""Parts of an id that its file names: format, revision and topic; `lint` checks that they agree."""


def completions(root: Path, beginning: str) -> list[str]:
    """Return the ids in a folder of fixtures with this beginning, cut after the part that is being typed."""
    depth = beginning.count("/") + 1
    names = (
        map(place_of, sorted(root.glob("*/*/*.json")))
        if depth <= FILE_PARTS
        else _ids(root, beginning.rpartition("/")[0])
    )
    heads = ("/".join(name.split("/")[:depth]) for name in names if name.startswith(beginning))
    return list(dict.fromkeys(heads))


def place_of(path: Path) -> str:
    """Return format, revision and topic of a fixture file."""
    return f"{path.parent.parent.name}/{path.parent.name}/{path.stem}"


def _ids(root: Path, place: str) -> Iterator[str]:
    """Yield the ids of the file at a place."""
    for path in root.glob("*/*/*.json"):
        if place_of(path) == place:
            yield from (row["id"] for row in json.loads(path.read_text(encoding="utf-8"))["cases"])
