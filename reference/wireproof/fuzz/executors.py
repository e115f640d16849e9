"""How the target runs an adapter: as an object of this process, which coverage sees, or in its own process.

An adapter in a process of its own gets its cases in batches, because one round trip for each case is slow. If
the process dies, the engine finds the case of the batch that is the cause.

An adapter in this process has a limit on the processor time of a call; other load on the machine does not
count. A system timer raises an exception in the middle of the Python code that runs. It does not interrupt a
loop in C: for that, `HangDetector` ends the process from outside.
"""

import mmap
import signal
import struct
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import FrameType
from typing import Final, Literal, Protocol, TypeVar

from attrs import evolve, frozen

from wireproof.adapters.contract import Hello
from wireproof.adapters.process.stats import cpu_seconds, own_peak_mib
from wireproof.adapters.python_object import Caller
from wireproof.adapters.requests import prepare_case, request_for
from wireproof.cases.case import Case
from wireproof.cases.outcome import Exhausted, NotRun, Outcome, TimedOut
from wireproof.run.engine import Engine

# --- the processor time of a call ---

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


# --- the two ways ---

BATCH_SIZE: Final = 64
"""Cases that are sent to a process at once."""

MEMORY_FACTOR: Final = 8
"""How many times its output limit a codec may allocate. More means that it trusted a length or a count."""

CaseOutcome = tuple[Case, Outcome]
"""A case as it was sent (wrapped as a stream if necessary), and the outcome."""


class Executor(Protocol):
    """A way to run an adapter."""

    hello: Hello

    def run(self, cases: Sequence[Case]) -> Iterator[CaseOutcome]:
        """Send the cases, and yield the answers that are ready, of these cases or of earlier ones."""
        ...

    def flush(self) -> Iterator[CaseOutcome]:
        """Yield the answers that are still missing."""
        ...


class InProcessExecutor:
    """Calls a Python object in this process, with a limit on its processor time."""

    def __init__(self, caller: Caller, timer: CpuTimer) -> None:
        """Call through `caller`; a call that exceeds the time of `timer` counts as a timeout."""
        self.hello = caller.hello
        self._caller = caller
        self._timer = timer

    def run(self, cases: Sequence[Case]) -> Iterator[CaseOutcome]:
        """Call the object once for each case."""
        for case in cases:
            request = prepare_case(case, self.hello)
            yield self._answer(request) if isinstance(request, Case) else (case, request)

    def _answer(self, case: Case) -> CaseOutcome:
        """Return the outcome; if the call took too much memory, of the case with a memory limit.

        With the limit in the case, every other run of it comes to the same verdict.
        """
        before = own_peak_mib()
        outcome = self._call(case)
        limit = case.options.max_output * MEMORY_FACTOR >> 20
        if own_peak_mib() - before <= limit:
            return case, outcome
        limited = evolve(case, limits=evolve(case.limits, rss_mb=limit))
        return limited, Exhausted("memory", f"over {limit} MiB")

    def _call(self, case: Case) -> Outcome:
        def on_timeout() -> Outcome:
            return TimedOut(case.limits.ms, "by its processor time")

        return self._timer.run(lambda: self._caller.answer(request_for(case, "0")), on_timeout)

    def flush(self) -> Iterator[CaseOutcome]:
        """Yield nothing: each call has answered at once."""
        yield from ()


class SubprocessExecutor:
    """Runs an adapter in a process of its own."""

    def __init__(self, spec: str) -> None:
        """Start the adapter `spec`; raises `AdapterError`."""
        self._spec = spec
        self._engine = Engine(spec).__enter__()
        self.hello = self._engine.hello
        self._waiting: list[Case] = []

    def run(self, cases: Sequence[Case]) -> Iterator[CaseOutcome]:
        """Collect the cases, and send them when a batch is complete."""
        self._waiting += cases
        if len(self._waiting) >= BATCH_SIZE:
            yield from self.flush()

    def flush(self) -> Iterator[CaseOutcome]:
        """Send the collected cases and yield their answers."""
        batch, self._waiting = self._waiting, []
        stopped = False
        for ran in self._engine.run(batch):
            stopped = stopped or isinstance(ran.outcome, NotRun)
            yield ran.case, ran.outcome
        if stopped:  # The adapter died too often for one engine; a campaign continues with a new one.
            self.close()
            self._engine = Engine(self._spec).__enter__()

    def close(self) -> None:
        """End the process."""
        self._engine.__exit__(None, None, None)


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
