"""A lane: one adapter, on one format after the other, in a process of its own whose children fuzz.

The parent imports and instruments once, then forks for each turn of a format; a child that dies costs a
fork. What it died of lies in its cell, and is asked again alone in a fresh process.

    python -m wireproof.fuzz.lane '{"adapter": …}'
"""

import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from math import ceil
from pathlib import Path
from typing import Final, Literal

import cattrs
from attrs import evolve, frozen

from wireproof.adapters.contract import Hello
from wireproof.adapters.entry import Entry
from wireproof.adapters.errors import AdapterError
from wireproof.adapters.objects import Caller
from wireproof.adapters.process import MEMORY
from wireproof.adapters.registry import load_object, resolve
from wireproof.adapters.worker import limit_memory
from wireproof.cases.fixtures import load
from wireproof.cases.mutate import dictionary, seed
from wireproof.formats import FORMATS
from wireproof.fuzz.aside import aside
from wireproof.fuzz.asker import Asker, Away, Here
from wireproof.fuzz.asking import Asking, askings, claimed
from wireproof.fuzz.cell import Cell
from wireproof.fuzz.child import fuzz, native
from wireproof.fuzz.clock import Clock
from wireproof.fuzz.corpus import write_dictionary, write_seeds
from wireproof.fuzz.findings import Findings
from wireproof.fuzz.inputs import Inputs
from wireproof.fuzz.instrument import instrument, modules_of
from wireproof.fuzz.mutator import Mutator
from wireproof.fuzz.rooms import Rooms, slug
from wireproof.fuzz.target import OWN, Desk, Target
from wireproof.fuzz.watch import Watch
from wireproof.trial.engine import Engine
from wireproof.trial.plan import claimed_ops

SECONDS: Final = 2.0
"""Of processor time that one input may take: the time limit of a case."""

WARMING: Final = 120.0
"""The same for the first question of all, before any is counted."""

SLICE: Final = 120.0
"""Seconds of one turn of a format at most, so that a run that is cut off has looked at all of them."""

SHORT: Final = 6.0
"""The same where the first finding ends it all: a fault of the last format need not wait for the others."""

ROOM: Final = MEMORY
"""Bytes of address space, over what is mapped at the start, for a codec that asks for what it is told."""


@frozen
class Lane:
    """What one lane is about.

    Attributes:
        adapter: as users write it.
        rows: the formats, by their joined names, in the order of their turns.
        root: the directory of the campaign.
        worker: the name of who runs it; two at a time never share one.
        seconds: how long, all formats together.
        seed: of libFuzzer.
        max_size: bytes of an input.
        fixtures: further fixtures for seeds.
        stuck: seconds by the clock on the wall after which an input is a hang.
        first: whether the first finding ends it.
        bare: whether it begins with the least encodings alone, and not with the fixtures.
        held: the ids of fixtures with which it does not begin.
    """

    adapter: str
    rows: tuple[str, ...]
    root: str
    worker: str
    seconds: float
    seed: int = 1
    max_size: int = 4096
    fixtures: tuple[str, ...] = ()
    stuck: float = 15.0
    first: bool = False
    bare: bool = False
    held: tuple[str, ...] = ()

    @property
    def rooms(self) -> Rooms:
        """Its directory."""
        return Rooms(Path(self.root))

    def turns(self) -> Iterator[tuple[str, float]]:
        """Each format once a round, and for how many seconds."""
        share = self.seconds / len(self.rows)
        rounds = ceil(share / (SHORT if self.first else SLICE))
        for _ in range(rounds):
            yield from ((joined, share / rounds) for joined in self.rows)


class Bench:
    """What a lane imports and instruments once, before the first fork."""

    def __init__(self, lane: Lane) -> None:
        """Import and instrument; raises `AdapterError`."""
        entry = resolve(lane.adapter)
        self.lane = lane
        self.suite = load(tuple(Path(folder) for folder in lane.fixtures))
        self.caller = _caller(lane, entry)
        self.hello = self._hello()
        self.cell = Cell(lane.rooms.work(lane.worker) / "cell", lane.max_size)
        self.functions = instrument(modules_of((FORMATS[joined] for joined in lane.rows), entry))
        aside()  # imported once, and behind the instruments

    def _hello(self) -> Hello:
        if self.caller is not None:
            return self.caller.hello
        with Engine(self.lane.adapter) as engine:
            return engine.hello

    def asker(self, clock: Clock) -> Asker | None:
        """The adapter, as a child asks it."""
        if self.lane.adapter == OWN:
            return None
        return Away(self.lane.adapter) if self.caller is None else Here(self.caller, clock)


def _caller(lane: Lane, entry: Entry) -> Caller | None:
    """The adapter as an object of this process; None for the reference, which is here, and for processes."""
    if lane.adapter == OWN or not entry.object or entry.interpreter:
        return None
    return Caller(load_object(entry))


class Stand:
    """One format of a lane: its inputs, and what a child does with them.

    Attributes:
        row: the format.
        inputs: makes the cases.
        cell: where the current input lies.
        log: what libFuzzer says.
        words: the dictionary.
        folders: corpus and seeds.
    """

    def __init__(self, bench: Bench, joined: str) -> None:
        """Write seeds and dictionary."""
        lane, self.row = bench.lane, FORMATS[joined]
        self.lane, self.cell, self._bench = lane, bench.cell, bench
        lifted = bool(bench.hello.revisions) and joined not in bench.hello.revisions
        ops = claimed_ops(bench.hello, self.row)
        ways, scans = self._ways("decode"), self._ways("scan")
        self.inputs = Inputs(self.row, ways, ops, scans=scans, lifted=lifted)
        work = lane.rooms.work(lane.worker)
        self.log = work / "log"
        self.words = write_dictionary(work / f"{slug(joined)}.dict", dictionary(self.row))
        cases = () if lane.bare else [case for case in bench.suite.cases if case.id not in lane.held]
        seeds = write_seeds(work / "seeds" / slug(joined), self.row, cases, lane.max_size)
        corpus = lane.rooms.corpus(lane.adapter, joined)
        corpus.mkdir(parents=True, exist_ok=True)
        self.folders: Sequence[Path] = (corpus, seeds)
        self._warm()

    def _ways(self, op: Literal["decode", "scan"]) -> tuple[Asking, ...]:
        """How the adapter may be asked beside the bytes."""
        bare = evolve(Inputs(self.row, (), ()).unanswered(b""), op=op)
        return claimed(askings(self.row, self._bench.suite, op), bare, self._bench.hello)

    def _warm(self) -> None:
        """Ask once what costs nothing later: what is compiled or loaded on first use is nobody's hang."""
        case = self.inputs.case(seed(self.row))
        clock = Clock(WARMING)
        asker = self._bench.asker(clock)
        if isinstance(asker, Here):
            clock.start()
            for _ in asker.ask([case, *self.inputs.every(case)]):
                pass
            clock.stop()

    def desk(self) -> Desk:
        """What the target of a child works with; made in the child."""
        lane, clock = self.lane, Clock(SECONDS)
        findings = Findings(lane.rooms.findings(lane.adapter), lane.worker)
        return Desk(self.inputs, self._bench.asker(clock), findings, self.cell, clock, f"seed {lane.seed}")

    def arguments(self, turn: int) -> list[str]:
        """libFuzzer's, for the child of one turn."""
        lane = self.lane
        return [
            f"-max_len={lane.max_size}",
            f"-seed={lane.seed + turn}",
            f"-dict={self.words}",
            f"-artifact_prefix={lane.rooms.work(lane.worker)}/",
            *map(str, self.folders),
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

        fuzz(Mutator(self.row, native, self.inputs.keys), Target(desk), self.arguments(turn), over)


def mapped() -> int:
    """Bytes of address space of this process; 0 where the system does not say."""
    try:
        pages = int(Path("/proc/self/statm").read_text("ascii").split()[0])
    except (OSError, IndexError, ValueError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")


def main(arguments: list[str]) -> int:
    """Run the lane that the one argument tells; gives the exit code."""
    lane = cattrs.structure(json.loads(arguments[0]), Lane)
    parent, troubles = os.getppid(), 0
    try:
        bench = Bench(lane)
        stands = {joined: Stand(bench, joined) for joined in lane.rows}
        for number, (joined, seconds) in enumerate(lane.turns()):
            watch = Watch(stands[joined], seconds, parent, number * 1000)
            troubles += _watched(watch, joined)
            if watch.enough():
                break
    except (AdapterError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 4
    return 4 if troubles else 0


def _watched(watch: Watch, joined: str) -> int:
    """Watch one turn; returns how many troubles ended it."""
    try:
        watch.run()
    except AdapterError as error:
        sys.stderr.write(f"{joined}: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
