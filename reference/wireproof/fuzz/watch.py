"""Who watches a fuzzing process: starts it again when it dies, ends it when nothing moves, and goes on."""

import json
import os
import re
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, Protocol

from attrs import asdict, define

from wireproof.adapters.errors import AdapterStartError
from wireproof.fuzz.blame import blame
from wireproof.fuzz.cell import Cell
from wireproof.fuzz.child import DONE, FULL
from wireproof.fuzz.findings import Findings, read
from wireproof.fuzz.inputs import Inputs

HERE: Final = 15.0
"""Seconds by the clock on the wall after which an input in the process itself is a hang."""

AWAY: Final = 300.0
"""The same for a batch that another process works on, where every case has its own limit."""

POLL: Final = 0.05

EVERY: Final = 10.0
"""Seconds between lines of the statistics."""

STILLBORN: Final = 3
"""Children in a row that died before their first input, after which something else is wrong."""

_PULSE: Final = re.compile(rb"cov: (\d+) ft: (\d+) corp: (\d+)")


@define
class Pulse:
    """One line of `stats.jsonl`.

    Attributes:
        at: seconds since the epoch.
        worker, adapter, joined: whose.
        seconds: since the lane began.
        executions: inputs looked at.
        coverage, features, corpus: as libFuzzer counts them.
        deaths: of children.
        last: how the last of them died.
        resident: the largest of a child's resident sizes, in bytes.
    """

    at: float
    worker: str
    adapter: str
    joined: str
    seconds: float
    executions: int = 0
    coverage: int = 0
    features: int = 0
    corpus: int = 0
    deaths: int = 0
    last: str = ""
    resident: int = 0


class Watched(Protocol):
    """What is watched: the part of a lane's bench that this needs."""

    lane: Any
    inputs: Inputs
    cell: Cell

    @property
    def log(self) -> Path:
        """What libFuzzer says."""
        ...

    def child(self, turn: int, until: float, parent: int) -> None:
        """Be a child; does not return."""
        ...


class Watch:
    """One lane's watch."""

    def __init__(self, bench: Watched) -> None:
        """Watch children of `bench`."""
        lane = bench.lane
        self._bench = bench
        self._start = time.monotonic()
        self._until = self._start + lane.seconds
        self._parent = os.getppid()
        self._told = self._start
        self.pulse = Pulse(time.time(), lane.worker, lane.adapter, lane.joined, 0.0)

    def run(self) -> None:
        """Fork and watch until the time is over; raises `AdapterStartError` if no child ever lives."""
        stillborn = 0
        for turn in self._turns():
            how = self._watched(self._forked(turn))
            stillborn = 0 if self._bench.cell.look().executions else stillborn + 1
            if how:
                self.pulse.deaths += 1
                self.pulse.last = how
                self._blame(how)
            if stillborn >= STILLBORN:
                raise AdapterStartError(f"{self._bench.lane.adapter}: {how or 'it ended'}: {self._last()}")
        self._tell(force=True)

    def _turns(self) -> Iterator[int]:
        turn = 0
        while time.monotonic() < self._until and os.getppid() == self._parent and not self._enough():
            yield turn
            turn += 1

    def _enough(self) -> bool:
        lane = self._bench.lane
        found = read(lane.rooms.findings(lane.adapter)) if lane.first else []
        return any(one.gates for one in found)

    def _forked(self, turn: int) -> int:
        me = os.getpid()
        self._bench.cell.begin()
        child = os.fork()
        if child:
            return child
        try:
            self._bench.child(turn, self._until, me)
        finally:
            os._exit(70)

    def _watched(self, child: int) -> str:
        """How the child ended, in words; empty where it ended well."""
        before = self.pulse.executions
        while True:
            found, status, usage = os.wait4(child, os.WNOHANG)
            self.pulse.executions = before + self._bench.cell.look().executions
            if found:
                self.pulse.resident = max(self.pulse.resident, usage.ru_maxrss * 1024)
                return _how(status)
            self._tell()
            if self._stuck() or os.getppid() != self._parent:
                os.kill(child, signal.SIGKILL)
                os.wait4(child, 0)
                return f"nothing moved for {HERE:.0f} s"
            time.sleep(POLL)

    def _stuck(self) -> bool:
        now = self._bench.cell.look()
        return now.seconds > {"here": HERE, "away": AWAY}.get(now.phase, AWAY)

    def _blame(self, how: str) -> None:
        now, lane = self._bench.cell.look(), self._bench.lane
        if now.phase != "here":
            return
        findings = Findings(lane.rooms.findings(lane.adapter), lane.worker)
        origin = f"seed {lane.seed} #{now.executions}"
        try:
            blame(lane.adapter, self._bench.inputs, findings, now.data, how, origin)
        finally:
            findings.close()

    # --- statistics ---

    def _tell(self, *, force: bool = False) -> None:
        if not force and time.monotonic() - self._told < EVERY:
            return
        self._told = time.monotonic()
        self._read_log()
        self.pulse.at = round(time.time(), 1)
        self.pulse.seconds = round(self._told - self._start, 1)
        with self._bench.lane.rooms.stats.open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(self.pulse)) + "\n")

    def _read_log(self) -> None:
        found = _PULSE.findall(_tail(self._bench.log))
        if found:
            self.pulse.coverage, self.pulse.features, self.pulse.corpus = map(int, found[-1])

    def _last(self) -> str:
        lines = _tail(self._bench.log).decode(errors="replace").split("\n")
        return next((line.strip() for line in reversed(lines) if line.strip()), "it said nothing")


def _tail(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - 8192))
            return file.read()
    except OSError:
        return b""


def _how(status: int) -> str:
    if os.WIFSIGNALED(status):
        return f"died by {signal.Signals(os.WTERMSIG(status)).name}"
    code = os.waitstatus_to_exitcode(status)
    return "" if code in (DONE, FULL) else f"ended with exit code {code}"
