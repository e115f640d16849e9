"""When a fuzzing process hangs: its input does not end, although the CPU timer should have ended it."""

from typing import Final

from wireproof.adapters.process_stats import cpu_seconds
from wireproof.fuzz.shared_input import InputState

MAX_CPU_SECONDS: Final = 4.0
"""Seconds of processor time for one input in the process. A loop in C is not ended by the CPU timer."""

WAITING_FACTOR: Final = 20.0
"""How many times longer a process may wait for a batch of another process than it may work on one input."""


class HangDetector:
    """Watches one process, with a limit on processor time and a longer one on wall-clock time.

    A process that waits uses no processor time. Wall-clock time alone would blame inputs for other load on
    the machine.
    """

    def __init__(self, process: int, hang_seconds: float) -> None:
        """Watch the process with the id `process`; `hang_seconds` of wall-clock time are a hang."""
        self._process = process
        self._hang_seconds = hang_seconds
        self._executions = -1
        self._spent_before = 0.0

    def hangs(self, state: InputState) -> bool:
        """Report whether the process hangs; call this a few times a second with its present state."""
        if state.executions != self._executions:
            self._executions, self._spent_before = state.executions, cpu_seconds(self._process)
        if state.phase != "running":
            return state.seconds > self._hang_seconds * WAITING_FACTOR
        return (
            state.seconds > self._hang_seconds
            or cpu_seconds(self._process) - self._spent_before > MAX_CPU_SECONDS
        )
