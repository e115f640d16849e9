"""What a campaign cost, read back from its statistics: the last line of each lane's turn, added up."""

from collections.abc import Iterator
from typing import Any

from attrs import frozen

from wireproof.fuzz.rooms import Rooms
from wireproof.parsing import json_of


@frozen
class Effort:
    """One format's share: inputs looked at, seconds, coverage and features at the end, deaths, memory."""

    joined: str
    executions: int
    seconds: float
    coverage: int
    features: int
    corpus: int
    deaths: int
    resident: int


def efforts(rooms: Rooms, adapter: str, since: float) -> list[Effort]:
    """The efforts of an adapter, format by format, from `since` (seconds since the epoch) on."""
    turns: dict[tuple[str, int], dict[str, Any]] = {}
    turn: dict[str, int] = {}
    for line in _lines(rooms):
        if line["adapter"] != adapter or line["at"] < since:
            continue
        worker = line["worker"]
        key = (worker, turn.get(worker, 0))
        before = turns.get(key)
        if before is not None and (line["seconds"] < before["seconds"] or line["joined"] != before["joined"]):
            turn[worker] = key[1] + 1
            key = (worker, turn[worker])
        turns[key] = line
    names = dict.fromkeys(line["joined"] for line in turns.values())
    return [_added(name, [line for line in turns.values() if line["joined"] == name]) for name in names]


def _lines(rooms: Rooms) -> Iterator[dict[str, Any]]:
    """Whole lines; one that was being written when its process was killed is left out."""
    if not rooms.stats.exists():
        return
    for text in rooms.stats.read_text("utf-8").split("\n"):
        try:
            line = json_of(text)
        except ValueError:
            continue
        if isinstance(line, dict):
            yield line


def _added(name: str, lines: list[dict[str, Any]]) -> Effort:
    return Effort(
        name,
        sum(line["executions"] for line in lines),
        sum(line["seconds"] for line in lines),
        max(line["coverage"] for line in lines),
        max(line["features"] for line in lines),
        max(line["corpus"] for line in lines),
        sum(line["deaths"] for line in lines),
        max(line["resident"] for line in lines),
    )
