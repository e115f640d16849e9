"""The statistics of a campaign: the lines that supervisors append to `stats.jsonl`, and their sums."""

import json
from collections.abc import Iterator

from attrs import asdict, define, frozen

from wireproof.fuzz.work_directory import WorkDirectory
from wireproof.strict_parsing import parse_json, structure


@define
class StatsLine:
    """One line of `stats.jsonl`: one turn of one format, up to a moment.

    Attributes:
        at: time of the line, in seconds since the epoch.
        worker, adapter, format_id: the worker, its adapter and the id of the format.
        seconds: since the turn began.
        executions: inputs that were checked.
        coverage, features, corpus: as libFuzzer counts them.
        deaths: fuzzing processes that died or were stopped.
        last: how the last of them ended.
        resident: largest resident memory of a fuzzing process, in bytes.
    """

    at: float
    worker: str
    adapter: str
    format_id: str
    seconds: float
    executions: int = 0
    coverage: int = 0
    features: int = 0
    corpus: int = 0
    deaths: int = 0
    last: str = ""
    resident: int = 0


@frozen
class FormatStats:
    """The statistics of one format, summed over its turns; of coverage, features and corpus the maximum."""

    format_id: str
    executions: int
    seconds: float
    coverage: int
    features: int
    corpus: int
    deaths: int
    resident: int


def append_line(directory: WorkDirectory, line: StatsLine) -> None:
    """Append one line to the statistics of a campaign."""
    with directory.stats.open("a", encoding="utf-8") as file:
        file.write(json.dumps(asdict(line)) + "\n")


def format_stats(directory: WorkDirectory, adapter: str, since: float) -> list[FormatStats]:
    """Return the statistics of an adapter for each format, from `since` on (seconds since the epoch).

    A turn has many lines, and the last one counts. A turn ends where the format changes or the seconds fall.
    """
    turns: dict[tuple[str, int], StatsLine] = {}
    current: dict[str, int] = {}
    for line in _lines(directory):
        if line.adapter != adapter or line.at < since:
            continue
        key = (line.worker, current.get(line.worker, 0))
        before = turns.get(key)
        if before is not None and (line.seconds < before.seconds or line.format_id != before.format_id):
            current[line.worker] = key[1] + 1
            key = (line.worker, current[line.worker])
        turns[key] = line
    names = dict.fromkeys(line.format_id for line in turns.values())
    return [_sum(name, [line for line in turns.values() if line.format_id == name]) for name in names]


def _lines(directory: WorkDirectory) -> Iterator[StatsLine]:
    """Yield the complete lines; a line that was being written when its process was killed is left out."""
    if not directory.stats.exists():
        return
    for text in directory.stats.read_text("utf-8").split("\n"):
        try:
            line = structure(parse_json(text), StatsLine, "the line")
        except ValueError:
            continue
        yield line


def _sum(name: str, lines: list[StatsLine]) -> FormatStats:
    """Return the sum of the last lines of the turns of one format."""
    return FormatStats(
        name,
        sum(line.executions for line in lines),
        sum(line.seconds for line in lines),
        max(line.coverage for line in lines),
        max(line.features for line in lines),
        max(line.corpus for line in lines),
        sum(line.deaths for line in lines),
        max(line.resident for line in lines),
    )
