"""The layout of a campaign's work directory, and its statistics. It is readable at any moment.

corpus/<adapter>/<format>/       inputs, named by their SHA-1; all workers share them while they run
findings/<adapter>/              one JSON and one binary file for each signature, and the counts
work/<worker>/                   the files of one worker: its shared input, its log, its seeds
stats.jsonl                      one line every two seconds: executions, coverage, memory
"""

import json
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from attrs import asdict, define, frozen

from wireproof.strict_parsing import parse_json, structure

TEST_FILE_BYTES: Final = 1 << 16
"""Size in bytes of the test file that shows that the disk is not full."""

_UNSAFE: Final = re.compile(r"[^A-Za-z0-9.+-]+")


def slug(name: str) -> str:
    """Return `name` as a safe file name."""
    return _UNSAFE.sub("-", name).strip("-.")[:80] or "x"


@frozen
class WorkDirectory:
    """The work directory of a campaign."""

    root: Path

    def corpus(self, adapter: str, format_id: str) -> Path:
        """Return the folder of the inputs of one adapter and format."""
        return self.root / "corpus" / slug(adapter) / slug(format_id)

    def findings(self, adapter: str) -> Path:
        """Return the folder of the findings in one adapter."""
        return self.root / "findings" / slug(adapter)

    def worker(self, name: str) -> Path:
        """Return the folder of the files that belong to one worker."""
        return self.root / "work" / name

    def check_space(self) -> None:
        """Write a test file; raises OSError if the disk is full or not writable."""
        with tempfile.TemporaryFile(dir=self.root) as file:
            file.write(bytes(TEST_FILE_BYTES))

    @property
    def stats(self) -> Path:
        """Return the file of the statistics of all workers."""
        return self.root / "stats.jsonl"


# --- the statistics ---


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


class StatsReader:
    """Reads the statistics of an adapter while workers append to them.

    A turn has many lines, and the last one counts. A turn ends where the format changes or the seconds fall.

    Attributes:
        last: the newest line; None before the first one.
    """

    def __init__(self, directory: WorkDirectory, adapter: str, since: float) -> None:
        """Read the lines of `adapter` from `since` on (seconds since the epoch)."""
        self._path, self._adapter, self._since = directory.stats, adapter, since
        self._place = 0
        self._turns: dict[tuple[str, int], StatsLine] = {}
        self._current: dict[str, int] = {}
        self.last: StatsLine | None = None

    def formats(self) -> list[FormatStats]:
        """Read the lines that are new, and return the statistics of each format."""
        for line in self._new_lines():
            if line.adapter == self._adapter and line.at >= self._since:
                self._add(line)
        names = dict.fromkeys(line.format_id for line in self._turns.values())
        turns = self._turns.values()
        return [_sum(name, [line for line in turns if line.format_id == name]) for name in names]

    def _add(self, line: StatsLine) -> None:
        key = (line.worker, self._current.get(line.worker, 0))
        before = self._turns.get(key)
        if before is not None and (line.seconds < before.seconds or line.format_id != before.format_id):
            self._current[line.worker] = key[1] + 1
            key = (line.worker, self._current[line.worker])
        self._turns[key] = self.last = line

    def _new_lines(self) -> Iterator[StatsLine]:
        """Yield the complete lines; one that was being written when its process was killed is left out."""
        if not self._path.exists():
            return
        with self._path.open("rb") as file:
            file.seek(self._place)
            complete, newline, _ = file.read().rpartition(b"\n")
        self._place += len(complete) + len(newline)
        for text in complete.splitlines():
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
