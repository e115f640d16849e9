"""How long an input may take in this process: seconds of its own processor time, whatever else runs.

A timer of the system raises in the middle of whatever Python does. A loop in C is not interrupted: whoever
watches the process ends it (`watch`).
"""

import signal
import time
from collections.abc import Callable
from types import FrameType
from typing import Final, TypeVar

TICK: Final = 0.2
"""Seconds of processor time between looks."""


T = TypeVar("T")


class TooLong(BaseException):
    """The time is over."""


class Clock:
    """One timer; `over` tells afterwards, for the exception itself may have been swallowed."""

    def __init__(self, seconds: float) -> None:
        """Allow each call `seconds` of processor time."""
        self._seconds = seconds
        self._since: float | None = None
        self.over = False

    def start(self) -> None:
        """Let the timer run; in the main thread only."""
        signal.signal(signal.SIGPROF, self._tick)
        signal.setitimer(signal.ITIMER_PROF, TICK, TICK)

    def stop(self) -> None:
        """Let it run no longer."""
        signal.setitimer(signal.ITIMER_PROF, 0)

    def within(self, call: Callable[[], T], late: Callable[[], T]) -> T:
        """What `call` gives, or `late` if it took too long, whether or not it swallowed the exception.

        The exception may come at any instruction, in the ones that end the counting too; so it is caught
        outside of them, and they are repeated.
        """
        self.over = False
        try:
            try:
                self._since = time.process_time()
                result = call()
            finally:
                self._since = None
        except TooLong:
            self._since = None
            self.over = True
        return late() if self.over else result

    def _tick(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002 - the call of `signal`
        if self._since is not None and time.process_time() - self._since > self._seconds:
            self.over = True
            raise TooLong
