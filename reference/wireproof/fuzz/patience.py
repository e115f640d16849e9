"""When to give up on a process whose input does not end, though its own clock should have ended it."""

import os
from pathlib import Path
from typing import Final

from wireproof.fuzz.cell import Now

WORK: Final = 4.0
"""Seconds of processor time for an input in the process itself: a loop in C is ended by no timer."""

AWAY: Final = 20.0
"""How many times as long as an input in the process itself a batch may take that another one works on."""


class Patience:
    """With one process: by the processor time that it spends, and by the clock on the wall if it spends none.

    The clock alone would blame inputs for what else the machine does.
    """

    def __init__(self, process: int, stuck: float) -> None:
        """Look at `process`; `stuck` is in seconds by the clock on the wall."""
        self._stat = Path(f"/proc/{process}/stat")
        self._stuck = stuck
        self._at = -1
        self._spent = 0.0

    def over(self, now: Now) -> bool:
        """Whether it is to be ended; to be asked a few times a second."""
        if now.executions != self._at:
            self._at, self._spent = now.executions, self._seconds()
        if now.phase != "here":
            return now.seconds > self._stuck * AWAY
        return now.seconds > self._stuck or self._seconds() - self._spent > WORK

    def _seconds(self) -> float:
        """Its processor time so far; 0 where the system does not say."""
        try:
            fields = self._stat.read_text("ascii", errors="replace").rpartition(")")[2].split()
        except OSError:
            return 0.0
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
