"""A campaign: every format that an adapter knows, for a while, by one or more workers at a time.

The lanes take turns in slices, so that a run that is cut off has looked at all of them. A lane that cannot
go on says why in one line, and the others go on.
"""

import importlib.util
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from math import ceil
from pathlib import Path
from typing import Final

import cattrs
from attrs import Factory, define, evolve, field, frozen

from wireproof.adapters.contract import Hello
from wireproof.adapters.errors import AdapterStartError
from wireproof.adapters.registry import resolve
from wireproof.formats import FORMATS
from wireproof.fuzz.corpus import ENOUGH, Minimised, minimise, recover, write_launcher
from wireproof.fuzz.findings import Finding, read, settle
from wireproof.fuzz.lane import Lane
from wireproof.fuzz.rooms import Rooms
from wireproof.trial.engine import Engine
from wireproof.trial.plan import claimed_ops

SLICE: Final = 120.0
"""Seconds of one turn of a lane at most."""

GRACE: Final = 120.0
"""Seconds that a lane may take over its time: to start, to ask about a death, to judge what is owed."""


@frozen
class Campaign:
    """What is fuzzed, how long, and where it is kept.

    Attributes:
        adapter: as users write it.
        formats: joined names; empty takes all that it claims.
        root: the directory.
        minutes: of all lanes together, by the clock.
        workers: processes at a time.
        seed: of all that is drawn.
        max_size: bytes of an input.
        fixtures: further folders of fixtures, for seeds.
        first: whether the first finding ends it.
        bare: whether it begins with the least encodings alone, and not with the fixtures.
    """

    adapter: str
    root: Path
    formats: tuple[str, ...] = ()
    minutes: float = 5.0
    workers: int = 1
    seed: int = 1
    max_size: int = 4096
    fixtures: tuple[str, ...] = ()
    first: bool = False
    bare: bool = False

    @property
    def rooms(self) -> Rooms:
        """Where it keeps what it has."""
        return Rooms(self.root)


@define
class Ended:
    """What came of a campaign: the findings, one line for each lane that could not go on, the corpora."""

    findings: list[Finding]
    troubles: list[str] = field(default=Factory(list))
    corpora: dict[str, Minimised] = field(default=Factory(dict))


@frozen
class _Running:
    lane: Lane
    process: subprocess.Popen[bytes]
    until: float


def run(campaign: Campaign, tick: Callable[[], None] = lambda: None) -> Ended:
    """Fuzz until the time is over; `tick` is called a few times a second.

    Raises:
        AdapterError: the adapter cannot be started, or an extra is missing.
        UnknownFormat: a format that it does not claim.
    """
    if importlib.util.find_spec("atheris") is None:
        raise AdapterStartError("fuzzing needs a further package: pip install 'wireproof[fuzz]'")
    rows = _rows(campaign)
    for joined in rows:
        recover(campaign.rooms.corpus(campaign.adapter, joined))
    troubles = list(_work(campaign, _lanes(campaign, rows), tick))
    corpora = dict(_minimised(campaign, rows))
    return Ended(settle(campaign.rooms.findings(campaign.adapter)), troubles, corpora)


def _rows(campaign: Campaign) -> tuple[str, ...]:
    hello = _hello(campaign.adapter)
    claimed = tuple(joined for joined, row in FORMATS.items() if claimed_ops(hello, row))
    if not hello.revisions and (about := resolve(campaign.adapter).formats):
        claimed = tuple(joined for joined in claimed if joined.startswith(about))
    chosen = tuple(joined for joined in claimed if not campaign.formats or joined in campaign.formats)
    if not chosen:
        raise AdapterStartError(f"{campaign.adapter} claims none of {', '.join(campaign.formats)}")
    return chosen


def _hello(adapter: str) -> Hello:
    with Engine(adapter) as engine:
        return engine.hello


def _lanes(campaign: Campaign, rows: Sequence[str]) -> list[Lane]:
    """The turns, in order: each lane once a round, as many at a time as there are workers."""
    total = campaign.minutes * 60
    share = total * campaign.workers / len(rows)
    rounds = ceil(share / min(SLICE, total))
    lane = Lane(
        campaign.adapter, "", str(campaign.root), "", share / rounds,
        max_size=campaign.max_size, fixtures=campaign.fixtures, first=campaign.first,
        bare=campaign.bare,
    )  # fmt: skip
    return [
        evolve(lane, joined=joined, seed=campaign.seed + 1000 * turn)
        for turn in range(rounds)
        for joined in rows
    ]


def _work(campaign: Campaign, waiting: list[Lane], tick: Callable[[], None]) -> Iterator[str]:
    """Run the turns on the workers; gives the lines of those that failed."""
    running: dict[str, _Running] = {}
    try:
        while waiting or running:
            for number in range(campaign.workers):
                name = f"w{number}"
                if name not in running and waiting:
                    running[name] = _started(evolve(waiting.pop(0), worker=name))
            for name, one in list(running.items()):
                if one.process.poll() is not None:
                    del running[name]
                    yield from _trouble(one)
                    if campaign.first and any(map(_gates, read(campaign.rooms.findings(campaign.adapter)))):
                        waiting.clear()
                elif time.monotonic() > one.until:
                    one.process.kill()
            tick()
            time.sleep(0.1)
    finally:
        for one in running.values():
            one.process.kill()
            one.process.wait()


def _gates(finding: Finding) -> bool:
    return finding.gates


def _started(lane: Lane) -> _Running:
    """Start a lane in a process of its own, with the environment that its adapter asks for."""
    errors = lane.rooms.work(lane.worker) / "errors"
    errors.parent.mkdir(parents=True, exist_ok=True)
    with errors.open("wb") as file:
        process = subprocess.Popen(  # noqa: S603 - ourselves
            [sys.executable, "-m", "wireproof.fuzz.lane", _text(lane)],
            stdin=subprocess.DEVNULL, stdout=file, stderr=file, env=_environment(lane.adapter),
        )  # fmt: skip
    return _Running(lane, process, time.monotonic() + lane.seconds + GRACE)


def _text(lane: Lane) -> str:
    return json.dumps(cattrs.unstructure(lane))


def _environment(adapter: str) -> dict[str, str]:
    import os  # noqa: PLC0415 - the one place that looks at it

    path = os.pathsep.join(part for part in (os.getcwd(), *sys.path) if part)  # noqa: PTH109 - a search path
    return {**os.environ, "PYTHONPATH": path, "PYTHONHASHSEED": "0", **resolve(adapter).environment}


def _trouble(one: _Running) -> Iterator[str]:
    if one.process.returncode:
        text = (one.lane.rooms.work(one.lane.worker) / "errors").read_text("utf-8", errors="replace")
        last = next((line for line in reversed(text.split("\n")) if line.strip()), "it said nothing")
        yield f"{one.lane.joined}: exit code {one.process.returncode}: {' '.join(last.split())[:300]}"


def _minimised(campaign: Campaign, rows: Sequence[str]) -> Iterator[tuple[str, Minimised]]:
    """Corpora that grew large are made small; nobody fuzzes now."""
    for joined in rows:
        folder = campaign.rooms.corpus(campaign.adapter, joined)
        if not folder.is_dir() or sum(1 for _ in folder.iterdir()) < ENOUGH:
            continue
        aside = campaign.rooms.work("less")  # what is found again while it is replayed is not counted again
        lane = Lane(campaign.adapter, joined, str(aside), "less", 0.0, max_size=campaign.max_size)
        launcher = write_launcher(aside / "target", _text(lane))
        yield joined, minimise(folder, launcher)
