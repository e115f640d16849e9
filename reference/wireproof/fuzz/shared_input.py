"""The input that a fuzzing process works on, in a mapped file that survives the process.

The process writes each input there before it checks the input. If the process dies, its supervisor reads the
input that killed it; if the time of the input does not change, the process hangs. The pages belong to the
system, so they survive `kill -9` too.
"""

import mmap
import struct
import time
from pathlib import Path
from typing import Final, Literal

from attrs import frozen

from wireproof.adapters.process_stats import cpu_seconds

Phase = Literal["idle", "running", "waiting"]
"""The process checks no input; it checks one; it waits for the answers of another process."""

PHASES: Final[tuple[Phase, ...]] = ("idle", "running", "waiting")

HEADER: Final = struct.Struct("<QdII")
"""Executions; time of the last change in seconds of the monotonic clock; length of the input; phase."""


@frozen
class InputState:
    """The state of a fuzzing process.

    Attributes:
        executions: inputs so far.
        seconds: since the last change of phase or input.
        phase: what the process does.
        data: the input; empty if no input is checked.
    """

    executions: int
    seconds: float
    phase: Phase
    data: bytes


class SharedInput:
    """A mapped file that one fuzzing process writes and any process can read."""

    def __init__(self, path: Path, size: int) -> None:
        """Create the file `path` and map it, for inputs of up to `size` bytes."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(bytes(HEADER.size + size))
        with path.open("r+b") as file:
            self._map = mmap.mmap(file.fileno(), HEADER.size + size)
        self._size = size
        self.executions = 0

    def reset(self) -> None:
        """Set the executions to 0, for a new fuzzing process."""
        self.executions = 0
        self.end_input()

    def begin_input(self, data: bytes) -> None:
        """Record that the process checks `data` from now on; bytes beyond the size of the file are cut."""
        self.executions += 1
        data = data[: self._size]
        end = HEADER.size + len(data)
        self._map[HEADER.size : end] = data
        self._write_header(len(data), "running")

    def end_input(self, phase: Phase = "idle") -> None:
        """Record that the process checks no input."""
        self._write_header(0, phase)

    def _write_header(self, length: int, phase: Phase) -> None:
        # In one copy: `pack_into` clears the bytes first, and a reader could see the cleared bytes.
        header = HEADER.pack(self.executions, time.monotonic(), length, PHASES.index(phase))
        self._map[: HEADER.size] = header

    def state(self) -> InputState:
        """Return the state of the fuzzing process; every process that shares the map may call this."""
        executions, since, length, phase = HEADER.unpack_from(self._map)
        data = self._map[HEADER.size : HEADER.size + length]
        return InputState(executions, time.monotonic() - since, PHASES[phase], data)


# --- when it hangs ---

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
