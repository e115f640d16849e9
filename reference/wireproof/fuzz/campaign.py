"""A campaign: every format that an adapter knows, for a while, by one or more workers at a time.

Each worker is a lane in a process of its own. One that cannot go on says why in one line, and the others
go on.
"""

import importlib.util
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

import cattrs
from attrs import Factory, define, field, frozen

from wireproof.adapters.contract import Hello
from wireproof.adapters.errors import AdapterStartError
from wireproof.adapters.registry import resolve
from wireproof.formats import FORMATS
from wireproof.fuzz.corpus import ENOUGH, Minimised, minimise, recover, write_launcher
from wireproof.fuzz.findings import Finding, settle
from wireproof.fuzz.lane import Lane
from wireproof.fuzz.rooms import Rooms
from wireproof.trial.engine import Engine
from wireproof.trial.plan import claimed_ops

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
        held: the ids of fixtures with which it does not begin.
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
    held: tuple[str, ...] = ()

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
    troubles = list(_work(_lanes(campaign, rows), tick))
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
    """One a worker, each with every format; they begin at different ones."""
    return [
        Lane(
            campaign.adapter, (*rows[first:], *rows[:first]), str(campaign.root), f"w{number}",
            campaign.minutes * 60, campaign.seed + 100_000 * number, campaign.max_size, campaign.fixtures,
            first=campaign.first, bare=campaign.bare, held=campaign.held,
        )
        for number in range(campaign.workers)
        for first in [number * len(rows) // campaign.workers]
    ]  # fmt: skip


def _work(lanes: list[Lane], tick: Callable[[], None]) -> Iterator[str]:
    """Run the lanes; gives the lines of those that failed."""
    running = [_started(lane) for lane in lanes]
    try:
        while running:
            for one in tuple(running):
                if one.process.poll() is not None:
                    running.remove(one)
                    yield from _trouble(one)
                elif time.monotonic() > one.until:
                    one.process.kill()
            tick()
            time.sleep(0.1)
    finally:
        for one in running:
            one.process.kill()
            one.process.wait()


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
        lines = [" ".join(line.split())[:300] for line in text.split("\n") if line.strip()]
        yield from lines[-3:] or [_silent(one)]


def _silent(one: _Running) -> str:
    """Why a lane ended that could not say so: its disk may be full."""
    try:
        one.lane.rooms.probe()
    except OSError as error:
        return f"{one.lane.root}: {error}"
    return f"{one.lane.worker} ended with exit code {one.process.returncode}"


def _minimised(campaign: Campaign, rows: Sequence[str]) -> Iterator[tuple[str, Minimised]]:
    """Corpora that grew large are made small; nobody fuzzes now."""
    for joined in rows:
        folder = campaign.rooms.corpus(campaign.adapter, joined)
        if not folder.is_dir() or sum(1 for _ in folder.iterdir()) < ENOUGH:
            continue
        aside = campaign.rooms.work("less")  # what is found again while it is replayed is not counted again
        lane = Lane(campaign.adapter, (joined,), str(aside), "less", 0.0, max_size=campaign.max_size)
        launcher = write_launcher(aside / "target", _text(lane))
        yield joined, minimise(folder, launcher)
