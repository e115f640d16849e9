"""A lane: one adapter on one format, for some seconds, in a process of its own with a child that fuzzes.

The parent imports and instruments once, then forks; a child that dies costs a fork. What it died of lies in
its cell, and is asked again alone in a fresh process.

    python -m wireproof.fuzz.lane '{"adapter": …}'
"""

import json
import os
import sys
import time
from pathlib import Path
from typing import Final

import cattrs
from attrs import frozen

from wireproof.adapters.contract import Hello
from wireproof.adapters.entry import Entry
from wireproof.adapters.errors import AdapterError
from wireproof.adapters.objects import Caller
from wireproof.adapters.process import MEMORY
from wireproof.adapters.registry import load_object, resolve
from wireproof.adapters.worker import limit_memory
from wireproof.cases.fixtures import load
from wireproof.cases.mutate import dictionary
from wireproof.formats import FORMATS, Format
from wireproof.fuzz.asker import Asker, Away, Here
from wireproof.fuzz.cell import Cell
from wireproof.fuzz.child import fuzz
from wireproof.fuzz.clock import Clock
from wireproof.fuzz.corpus import write_dictionary, write_seeds
from wireproof.fuzz.findings import Findings
from wireproof.fuzz.inputs import Asking, Inputs, askings
from wireproof.fuzz.instrument import instrument, modules_of
from wireproof.fuzz.rooms import Rooms
from wireproof.fuzz.target import OWN, Desk, Target
from wireproof.fuzz.watch import Watch
from wireproof.trial.engine import Engine
from wireproof.trial.plan import claimed_ops

SECONDS: Final = 2.0
"""Of processor time that one input may take: the time limit of a case."""

ROOM: Final = 4 * MEMORY
"""Bytes of address space, over what is mapped at the start, for a codec that asks for what it is told."""


@frozen
class Lane:
    """What one lane is about.

    Attributes:
        adapter: as users write it.
        joined: the format and revision.
        root: the directory of the campaign.
        worker: the name of who runs it; two at a time never share one.
        seconds: how long.
        seed: of libFuzzer.
        max_size: bytes of an input.
        fixtures: further fixtures for seeds.
        first: whether the first finding ends it.
        bare: whether it begins with the least encoding alone, and not with the fixtures.
    """

    adapter: str
    joined: str
    root: str
    worker: str
    seconds: float
    seed: int = 1
    max_size: int = 4096
    fixtures: tuple[str, ...] = ()
    first: bool = False
    bare: bool = False

    @property
    def rooms(self) -> Rooms:
        """Its directory."""
        return Rooms(Path(self.root))

    @property
    def row(self) -> Format:
        """Its format."""
        return FORMATS[self.joined]


class Bench:
    """Everything of a lane that is made once, before the first fork."""

    def __init__(self, lane: Lane) -> None:
        """Import, instrument, write seeds and dictionary; raises `AdapterError`."""
        entry = resolve(lane.adapter)
        suite = load(tuple(Path(folder) for folder in lane.fixtures))
        self.lane = lane
        self.caller = _caller(lane, entry)
        self.inputs = self._inputs(askings(lane.row, suite))
        work = lane.rooms.work(lane.worker)
        self.cell = Cell(work / "cell", lane.max_size)
        cases = () if lane.bare else suite.cases
        self.seeds = write_seeds(work / "seeds", lane.row, cases, lane.max_size)
        self.words = write_dictionary(work / "words.dict", dictionary(lane.row))
        self.functions = instrument(modules_of(lane.row, entry))

    def _inputs(self, ways: tuple[Asking, ...]) -> Inputs:
        row, hello = self.lane.row, self._hello()
        lifted = bool(hello.revisions) and row.joined not in hello.revisions
        return Inputs(row, ways, claimed_ops(hello, row), lifted=lifted)

    def _hello(self) -> Hello:
        if self.caller is not None:
            return self.caller.hello
        with Engine(self.lane.adapter) as engine:
            return engine.hello

    def desk(self) -> Desk:
        """What the target of a child works with; made in the child."""
        lane, clock = self.lane, Clock(SECONDS)
        findings = Findings(lane.rooms.findings(lane.adapter), lane.worker)
        return Desk(self.inputs, self._asker(clock), findings, self.cell, clock, f"seed {lane.seed}")

    def _asker(self, clock: Clock) -> Asker | None:
        if self.lane.adapter == OWN:
            return None
        return Away(self.lane.adapter) if self.caller is None else Here(self.caller, clock)

    def arguments(self, turn: int) -> list[str]:
        """libFuzzer's, for the child of one turn."""
        lane = self.lane
        corpus = lane.rooms.corpus(lane.adapter, lane.joined)
        corpus.mkdir(parents=True, exist_ok=True)
        return [
            f"-max_len={lane.max_size}",
            f"-seed={lane.seed + turn}",
            f"-dict={self.words}",
            f"-artifact_prefix={lane.rooms.work(lane.worker)}/",
            str(corpus),
            str(self.seeds),
        ]

    def child(self, turn: int, until: float, parent: int) -> None:
        """Be the child of one turn: it does not return."""
        log = os.open(self.log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        os.dup2(log, 1)
        os.dup2(log, 2)
        desk = self.desk()
        limit_memory(mapped() + ROOM)
        desk.clock.start()

        def over() -> bool:
            enough = self.lane.first and desk.findings.gating > 0
            return enough or time.monotonic() > until or os.getppid() != parent

        fuzz(self.lane.row, Target(desk), self.arguments(turn), over)

    @property
    def log(self) -> Path:
        """What libFuzzer says."""
        return self.lane.rooms.work(self.lane.worker) / "log"


def mapped() -> int:
    """Bytes of address space of this process; 0 where the system does not say."""
    try:
        pages = int(Path("/proc/self/statm").read_text("ascii").split()[0])
    except (OSError, IndexError, ValueError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")


def _caller(lane: Lane, entry: Entry) -> Caller | None:
    """The adapter as an object of this process; None for the reference, which is here, and for processes."""
    if lane.adapter == OWN or not entry.object or entry.interpreter:
        return None
    return Caller(load_object(entry))


def main(arguments: list[str]) -> int:
    """Run the lane that the one argument tells; gives the exit code."""
    lane = cattrs.structure(json.loads(arguments[0]), Lane)
    try:
        bench = Bench(lane)
        Watch(bench).run()
    except AdapterError as error:
        sys.stderr.write(f"{error}\n")
        return 4
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
