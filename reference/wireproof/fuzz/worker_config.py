"""The configuration of one worker process. A campaign passes it to the process as JSON."""

from collections.abc import Iterator
from math import ceil, inf
from pathlib import Path
from typing import Final

from attrs import frozen

from wireproof.cases.case import Level
from wireproof.fuzz.corpus import WorkDirectory

LEAST_SECONDS: Final = 5.0
"""Seconds of fuzzing at least, however long a worker took to start; fewer if the campaign has fewer."""

LONGEST_TURN: Final = 120.0
"""Seconds of one turn of a format at most, so that an interrupted run has reached every format."""

LONGEST_SHORT_TURN: Final = 6.0
"""The same if the first finding ends the run, so that a bug in the last format is found soon."""


@frozen
class WorkerConfig:
    """The configuration of one worker.

    Attributes:
        adapter: name of the adapter, as users write it.
        formats: ids of the formats, in the order of their turns.
        root: work directory of the campaign.
        worker: name of the worker; two workers that run at the same time have different names.
        seconds: time for all formats together; 0 only reads the corpora again.
        until: when the campaign ends, on the monotonic clock: a worker that took long to start fuzzes less.
        seed: random seed of libFuzzer.
        fixtures: folders of further fixtures that serve as seeds.
        hang_seconds: seconds of wall-clock time after which an input counts as a hang.
        stop_at_first: stop at the first finding.
        minimal_seeds: begin with the minimal encodings only, without the fixtures.
        held_out: ids of fixtures that do not serve as seeds.
        runs: executions of each format after which its turn ends; 0 for any number.
        inputs: a folder with further inputs; empty if there is none.
        level: the lowest level whose failures are findings against the adapter.
    """

    adapter: str
    formats: tuple[str, ...]
    root: str
    worker: str
    seconds: float
    seed: int = 1
    fixtures: tuple[str, ...] = ()
    hang_seconds: float = 15.0
    stop_at_first: bool = False
    minimal_seeds: bool = False
    held_out: tuple[str, ...] = ()
    level: Level = "must"
    until: float = inf
    runs: int = 0
    inputs: str = ""

    @property
    def work_directory(self) -> WorkDirectory:
        """Return the work directory of the campaign."""
        return WorkDirectory(Path(self.root))

    @property
    def replays(self) -> bool:
        """Return True if the worker makes no new inputs."""
        return self.seconds == 0

    def turns(self, begin: float) -> Iterator[tuple[str, float]]:
        """Yield the format of each turn and when it ends, on the monotonic clock, if the first begins now.

        Every format has one turn in each round. A turn that begins late is shorter, and the last one ends in
        time. Without new inputs a turn has no end. There is one round if executions are counted.
        """
        if self.replays:
            yield from ((format_id, inf) for format_id in self.formats)
            return
        seconds = min(self.seconds, max(self.until - begin, LEAST_SECONDS))
        share = seconds / len(self.formats)
        longest = LONGEST_SHORT_TURN if self.stop_at_first else LONGEST_TURN
        rounds = 1 if self.runs else ceil(share / longest)
        for number, format_id in enumerate(self.formats * rounds, 1):
            yield format_id, begin + number * share / rounds
