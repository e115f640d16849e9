"""What the processes of a campaign share: its configuration, its folder, and its statistics.

A worker gets its configuration as JSON. The statistics are lines of one file, to which all workers append.
"""

import json
import re
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from math import ceil, inf
from pathlib import Path
from typing import Final

from attrs import asdict, define, evolve, field, frozen

from wireproof.strict_parsing import parse_json, structure, to_tree

LEAST_SECONDS: Final = 5.0
"""Seconds of fuzzing at least, however long a worker took to start; fewer if the campaign has fewer."""

LONGEST_TURN: Final = 120.0
"""Seconds of one turn of a format at most, so that an interrupted run has reached every format."""

PLAIN_SHARE: Final = 0.25
"""The part of the time and the executions that nothing guides: the seeds are mutated, and no function is
instrumented, which makes an execution two to four times as fast. It comes first, since it reaches most bugs
sooner (fuzzing.md, section "what guidance is worth"), and takes at most `LONGEST_TURN` of each format."""

MINIMISE: Final = "minimise"
"""The name of the worker that reads all inputs of a corpus."""


def slug(name: str) -> str:
    """Return `name` as a safe file name."""
    return re.sub(r"[^A-Za-z0-9.+-]+", "-", name).strip("-.")[:80] or "x"


@frozen
class Turn:
    """A turn of a format.

    Attributes:
        format_id: the format.
        until: when the turn ends, on the monotonic clock.
        runs: executions after which it ends; 0 for any number.
        guided: whether coverage chooses what is mutated again.
    """

    format_id: str
    until: float = inf
    runs: int = 0
    guided: bool = True


@frozen
class Work:
    """What one worker does, and where.

    Attributes:
        adapter: name of the adapter, as users write it.
        root: the work directory.
        formats: ids of the formats, in the order of their turns.
        minutes: wall-clock time of all formats together; 0 only reads findings and corpora again.
        fixtures: folders of further fixtures that serve as seeds.
        minimal_seeds: begin with the minimal encodings only, without the fixtures.
        runs: executions of each format after which its turn ends; 0 for any number.
        inputs: a folder with further inputs for every format; empty if there is none.
        worker: name of the worker; two workers that run at the same time have different names.
        until: when the campaign ends, on the monotonic clock: a worker that took long to start fuzzes less.
        hang_seconds: seconds of wall-clock time after which an input counts as a hang.
    """

    adapter: str
    root: str = field(converter=str)
    formats: tuple[str, ...] = ()
    minutes: float = 5.0
    seed: int = 1
    fixtures: tuple[str, ...] = ()
    minimal_seeds: bool = False
    runs: int = 0
    inputs: str = ""
    worker: str = "w0"
    until: float = inf
    hang_seconds: float = 15.0

    @classmethod
    def of_json(cls, text: str) -> "Work":
        return structure(json.loads(text), Work, "the configuration")

    def json(self) -> str:
        return json.dumps(to_tree(self))

    @property
    def replays(self) -> bool:
        """Return True if no new inputs are made."""
        return self.minutes == 0

    @property
    def folder(self) -> Path:
        return Path(self.root) / "work" / self.worker

    @property
    def findings_folder(self) -> Path:
        return Path(self.root) / "findings" / slug(self.adapter)

    @property
    def stats(self) -> Path:
        return Path(self.root) / "stats.jsonl"

    def corpus(self, format_id: str) -> Path:
        return Path(self.root) / "corpus" / slug(self.adapter) / slug(format_id)

    def corpora(self) -> list[Path]:
        """Return the folders of inputs that there are, by format."""
        folders = (Path(self.root) / "corpus" / slug(self.adapter)).glob("[!.]*")
        return sorted(folder for folder in folders if folder.is_dir())

    def check_space(self) -> None:
        """Write a test file; raises OSError if the disk is full or not writable."""
        with tempfile.TemporaryFile(dir=self.root) as file:
            file.write(bytes(1 << 16))

    def turns(self, begin: float) -> Iterator[Turn]:
        """Yield the turns if the first begins now: a round without guidance, and one or more with it.

        Every format has one turn in each round. A turn that begins late is shorter, and the last one ends in
        time. Without new inputs a turn has no end. There is one guided round if executions are counted.
        """
        if self.replays:
            yield from (Turn(format_id, guided=False) for format_id in self.formats)
            return
        seconds = min(self.minutes * 60, max(self.until - begin, LEAST_SECONDS))
        share, plain_runs = seconds / len(self.formats), int(self.runs * PLAIN_SHARE)
        part = PLAIN_SHARE if self.runs else min(PLAIN_SHARE, LONGEST_TURN / share)
        rounds = 1 if self.runs else ceil(share * (1 - part) / LONGEST_TURN)
        if plain_runs or not self.runs:
            for number, format_id in enumerate(self.formats, 1):
                yield Turn(format_id, begin + number * share * part, plain_runs, guided=False)
        begin += seconds * part
        for number, format_id in enumerate(self.formats * rounds, 1):
            yield Turn(format_id, begin + number * share * (1 - part) / rounds, self.runs - plain_runs)


@define
class StatsLine:
    """The statistics of one turn of a format up to a moment, or of all turns.

    Attributes:
        seconds: since the turn began.
        executions: inputs that were checked.
        coverage, features, corpus: as libFuzzer counts them.
        deaths: fuzzing processes that died or were stopped.
        last: how the last of them ended.
        resident: largest resident memory of a fuzzing process, in bytes.
    """

    worker: str
    turn: int
    adapter: str
    format_id: str
    seconds: float = 0.0
    executions: int = 0
    coverage: int = 0
    features: int = 0
    corpus: int = 0
    deaths: int = 0
    last: str = ""
    resident: int = 0


SUMMED: Final = ("seconds", "executions", "deaths")
LARGEST: Final = ("coverage", "features", "corpus", "resident")
"""What is added over the turns of a format, and of what the largest counts."""


def append_line(work: Work, line: StatsLine) -> None:
    with work.stats.open("a", encoding="utf-8") as file:
        file.write(json.dumps(asdict(line)) + "\n")


class StatsReader:
    """Reads the lines about an adapter that workers append from now on; of each turn the last one counts.

    Attributes:
        last: the newest line; None before the first one.
    """

    def __init__(self, work: Work) -> None:
        """Read the lines of the adapter of `work`, without those of earlier runs."""
        self._path, self._adapter = work.stats, work.adapter
        self._place = self._path.stat().st_size if self._path.exists() else 0
        self._turns: dict[tuple[str, int], StatsLine] = {}
        self.last: StatsLine | None = None

    def formats(self) -> list[StatsLine]:
        """Read the lines that are new, and return the sum of the turns of each format.

        A line that was being written when its process was killed is left out.
        """
        complete = b""
        if self._path.exists():
            with self._path.open("rb") as file:
                file.seek(self._place)
                complete = file.read()
            complete = complete[: complete.rfind(b"\n") + 1]
        self._place += len(complete)
        for text in complete.splitlines():
            with suppress(ValueError):
                line = structure(parse_json(text), StatsLine, "the line")
                if line.adapter == self._adapter:
                    self._turns[line.worker, line.turn] = self.last = line
        by_format: dict[str, StatsLine] = {}
        for line in self._turns.values():
            before = by_format.setdefault(line.format_id, line)
            if before is not line:
                added = {name: getattr(before, name) + getattr(line, name) for name in SUMMED}
                largest = {name: max(getattr(before, name), getattr(line, name)) for name in LARGEST}
                by_format[line.format_id] = evolve(line, **added, **largest)
        return list(by_format.values())
