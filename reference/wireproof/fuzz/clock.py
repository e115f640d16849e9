"""How long an input may take in this process: seconds of its own processor time, whatever else runs.

A timer of the system raises in the middle of whatever Python does. A loop in C is not interrupted: whoever
watches the process ends it (`watch`).
"""

import signal
import time
from types import FrameType
from typing import Final

TICK: Final = 0.2
"""Seconds of processor time between looks."""


class TooLong(BaseException):
    """The time is over."""


class Clock:
    """One timer; `over` tells afterwards, for the exception itself may have been swallowed."""

    def __init__(self, seconds: float) -> None:
        """Allow `seconds` of processor time from each `begin` on."""
        self._seconds = seconds
        self._since: float | None = None
        self.over = False

    def start(self) -> None:
        """Let the timer run; in the main thread only."""
        signal.signal(signal.SIGPROF, self._tick)
        signal.setitimer(signal.ITIMER_PROF, TICK, TICK)

    def begin(self) -> None:
        """Count from here."""
        self.over = False
        self._since = time.process_time()

    def end(self) -> None:
        """Count no longer."""
        self._since = None

    def _tick(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002 - the call of `signal`
        if self._since is not None and time.process_time() - self._since > self._seconds:
            self.over = True
            raise TooLong
