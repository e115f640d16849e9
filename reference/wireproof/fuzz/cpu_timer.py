"""A limit on the processor time of one call in this process. Other load on the machine does not count.

A system timer raises an exception in the middle of the Python code that runs. It does not interrupt a loop in
C: for that, `hang_detector` ends the process from outside.
"""

import signal
import time
from collections.abc import Callable
from types import FrameType
from typing import Final, TypeVar

TICK_SECONDS: Final = 0.2
"""Seconds of processor time between two checks."""


T = TypeVar("T")


class CpuTimeExceeded(BaseException):
    """The call has used up its processor time."""


class CpuTimer:
    """A timer for one call at a time.

    Attributes:
        expired: whether the last call used up its time. The call may have swallowed the exception.
    """

    def __init__(self, seconds: float) -> None:
        """Allow each call `seconds` of processor time."""
        self._seconds = seconds
        self._since: float | None = None
        self.expired = False

    def start(self) -> None:
        """Start the system timer; call it in the main thread only."""
        signal.signal(signal.SIGPROF, self._tick)
        signal.setitimer(signal.ITIMER_PROF, TICK_SECONDS, TICK_SECONDS)

    def stop(self) -> None:
        """Stop the system timer."""
        signal.setitimer(signal.ITIMER_PROF, 0)

    def run(self, call: Callable[[], T], on_timeout: Callable[[], T]) -> T:
        """Return the result of `call`, or of `on_timeout` if the call used up its time.

        The exception may be raised at any instruction, also at those that stop the count. So it is caught
        outside of them, and they are repeated.
        """
        self.expired = False
        try:
            try:
                self._since = time.process_time()
                result = call()
            finally:
                self._since = None
        except CpuTimeExceeded:
            self._since = None
            self.expired = True
        return on_timeout() if self.expired else result

    def _tick(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002 - the signature that `signal` calls
        if self._since is not None and time.process_time() - self._since > self._seconds:
            self.expired = True
            raise CpuTimeExceeded
