"""Who watches a fuzzing process: starts it again when it dies, ends it when nothing moves, and goes on."""

import json
import os
import re
import signal
import time
import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final, Protocol

from attrs import asdict, define

from wireproof.adapters.errors import AdapterStartError
from wireproof.formats import Format
from wireproof.fuzz.blame import STILL, blame
from wireproof.fuzz.cell import Cell, Now
from wireproof.fuzz.child import DONE, FULL
from wireproof.fuzz.corpus import drop
from wireproof.fuzz.findings import Findings, read
from wireproof.fuzz.inputs import Inputs
from wireproof.fuzz.patience import Patience

POLL: Final = 0.05

EVERY: Final = 10.0
"""Seconds between lines of the statistics."""

STILLBORN: Final = 3
"""Children in a row that died before their first input, after which something else is wrong."""

BUG, UNCAUGHT = 70, 77
"""Exit codes of a child whose harness raised: our own, and libFuzzer's."""

BUGGY: Final = "the harness raised"

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
    """What is watched: the part of a lane's stand that this needs."""

    row: Format
    lane: Any
    inputs: Inputs
    cell: Cell
    log: Path
    folders: Sequence[Path]

    def child(self, turn: int, until: float, parent: int) -> None:
        """Be a child; does not return."""
        ...


class Watch:
    """The watch over one turn of a format."""

    def __init__(self, stand: Watched, seconds: float, parent: int, seed: int = 0) -> None:
        """Watch children of `stand` for `seconds`, while `parent` lives; `seed` is added to their own."""
        lane = stand.lane
        self._stand = stand
        self._start = time.monotonic()
        self._until = self._start + seconds
        self._parent = parent
        self._seed = seed
        self._told = self._start
        self.pulse = Pulse(time.time(), lane.worker, lane.adapter, stand.row.joined, 0.0)

    def run(self) -> None:
        """Fork and watch until the time is over; raises `AdapterStartError` if children do not live."""
        stillborn = 0
        for turn in self._turns():
            how = self._watched(self._forked(turn))
            now = self._stand.cell.look()
            stillborn = 0 if now.executions else stillborn + 1
            if how:
                self.pulse.deaths += 1
                self.pulse.last = how
                self._blame(how, now)
            if stillborn >= STILLBORN:
                self._stand.lane.rooms.probe()
                raise AdapterStartError(f"{self._stand.lane.adapter}: {how or 'it ended'}: {self._last()}")
        self._tell(force=True)

    def enough(self) -> bool:
        """Whether one finding is enough, and there is one."""
        lane = self._stand.lane
        found = read(lane.rooms.findings(lane.adapter)) if lane.first else []
        return any(one.gates for one in found)

    def _turns(self) -> Iterator[int]:
        turn = self._seed
        while time.monotonic() < self._until and os.getppid() == self._parent and not self.enough():
            yield turn
            turn += 1

    def _forked(self, turn: int) -> int:
        me = os.getpid()
        self._stand.cell.begin()
        child = os.fork()
        if child:
            return child
        try:
            self._stand.child(turn, self._until, me)
        except BaseException:  # noqa: BLE001 - whatever it is, the child must not go on as its parent
            traceback.print_exc()
        finally:
            os._exit(BUG)

    def _watched(self, child: int) -> str:
        """How the child ended, in words; empty where it ended well."""
        before = self.pulse.executions
        patience = Patience(child, self._stand.lane.stuck)
        while True:
            found, status, usage = os.wait4(child, os.WNOHANG)
            now = self._stand.cell.look()
            self.pulse.executions = before + now.executions
            if found:
                self.pulse.resident = max(self.pulse.resident, usage.ru_maxrss * 1024)
                return _how(status)
            self._tell()
            if patience.over(now) or os.getppid() != self._parent:
                os.kill(child, signal.SIGKILL)
                os.wait4(child, 0)
                return f"{STILL} for {now.seconds:.0f} s"
            time.sleep(POLL)

    def _blame(self, how: str, now: Now) -> None:
        """Ask again what it was at; an end that the harness itself came to is a bug of ours."""
        lane = self._stand.lane
        if how == BUGGY:
            lane.rooms.probe()
            raise AdapterStartError(f"a bug of the suite, please report {self._stand.log}: {self._last()}")
        if now.phase != "here":
            return
        drop(self._stand.folders, now.data)
        findings = Findings(lane.rooms.findings(lane.adapter), lane.worker)
        origin = f"seed {lane.seed} #{now.executions}"
        try:
            blame(lane.adapter, self._stand.inputs, findings, now.data, how, origin)
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
        with self._stand.lane.rooms.stats.open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(self.pulse)) + "\n")

    def _read_log(self) -> None:
        found = _PULSE.findall(_tail(self._stand.log))
        if found:
            self.pulse.coverage, self.pulse.features, self.pulse.corpus = map(int, found[-1])

    def _last(self) -> str:
        lines = _tail(self._stand.log).decode(errors="replace").split("\n")
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
    if code in (BUG, UNCAUGHT):
        return BUGGY
    return "" if code in (DONE, FULL) else f"ended with exit code {code}"
