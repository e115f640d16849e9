"""The parts of a fuzzing process: its adapter, the time of a call, and the input that outlives the process.

An adapter is an object of this process, which coverage sees, or runs in a process of its own. That one gets
its cases in batches, because one round trip for each case is slow. If it dies, the engine finds the case of
the batch that is the cause.
"""

import mmap
import signal
import struct
import time
from collections.abc import Callable, Iterable, Iterator
from math import inf
from pathlib import Path
from types import FrameType
from typing import Final, TypeAlias, TypeVar

from attrs import evolve, frozen

from wireproof.adapters.process.stats import own_peak_mib
from wireproof.adapters.python_object import Caller
from wireproof.adapters.requests import prepare_case, request_for
from wireproof.cases.case import Case
from wireproof.cases.outcome import Exhausted, NotRun, Outcome, TimedOut
from wireproof.run.engine import Engine

T = TypeVar("T")

TICK_SECONDS: Final = 0.2
"""Seconds of processor time between two checks."""


class CpuTimeExceeded(BaseException):
    """The call has used up its processor time."""


class CpuTimer:
    """A limit on the processor time of one call at a time; other load on the machine does not count.

    A system timer raises an exception in the middle of the Python code that runs. It does not interrupt a
    loop in C: for that, the worker ends the process from outside.
    """

    def __init__(self, seconds: float) -> None:
        """Allow each call `seconds` of processor time, and at most a tick more."""
        self._most = seconds / TICK_SECONDS
        self._ticks: int | None = None
        self._expired = False

    def start(self) -> None:
        """Start the system timer; call it in the main thread only."""
        signal.signal(signal.SIGPROF, self._tick)
        signal.setitimer(signal.ITIMER_PROF, TICK_SECONDS, TICK_SECONDS)

    def stop(self) -> None:
        signal.setitimer(signal.ITIMER_PROF, 0)

    def run(self, call: Callable[[], T], on_timeout: Callable[[], T]) -> T:
        """Return the result of `call`, or of `on_timeout` if the call used up its time.

        The exception may be raised at any instruction, also at those that stop the count. So it is caught
        outside of them, and they are repeated. The call may have swallowed it.
        """
        self._expired = False
        try:
            try:
                self._ticks = 0
                result = call()
            finally:
                self._ticks = None
        except CpuTimeExceeded:
            self._ticks = None
            self._expired = True
        return on_timeout() if self._expired else result

    def _tick(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002 - the signature that `signal` calls
        if self._ticks is not None:
            self._ticks += 1
            if self._ticks > self._most:
                self._expired = True
                raise CpuTimeExceeded


BATCH_SIZE: Final = 64
"""Cases that are sent to a process at once."""

Answer: TypeAlias = tuple[Case, bytes, Case, Outcome]
"""A case, the input that it was made from, the case as it was sent (perhaps as a stream), the outcome."""


class InProcessExecutor:
    """Calls a Python object in this process, with a limit on its processor time."""

    def __init__(self, caller: Caller, timer: CpuTimer) -> None:
        """Call through `caller`; a call that exceeds the time of `timer` counts as a timeout."""
        self.hello = caller.hello
        self._caller = caller
        self._timer = timer
        self._peak, self._left = 0, -inf

    def run(self, cases: Iterable[Case], data: bytes) -> Iterator[Answer]:
        for case in cases:
            sent = prepare_case(case, self.hello)
            yield case, data, *(self._answer(sent) if isinstance(sent, Case) else (case, sent))

    def _answer(self, case: Case) -> tuple[Case, Outcome]:
        """Return the outcome; if the call took too much memory, of the case with a memory limit.

        With the limit in the case, every other run of it comes to the same verdict. It is eight times the
        output limit: who allocates more has trusted a length or a count. The system call for the largest
        memory so far takes longer than everything else about a small input, so a call is not measured that
        was quicker than any machine gives out so many MiB.
        """
        request, limit = request_for(case, "0"), case.options.max_output * 8 >> 20
        quick, begin = limit * 20e-6, time.monotonic()
        if begin - self._left >= quick:  # the reference may have taken as much
            self._peak = own_peak_mib()
        outcome = self._timer.run(
            lambda: self._caller.answer(request), lambda: TimedOut(case.limits.ms, "by its processor time")
        )
        self._left = time.monotonic()
        if self._left - begin < quick:
            return case, outcome
        before, self._peak = self._peak, own_peak_mib()
        if self._peak - before <= limit:
            return case, outcome
        limited = evolve(case, limits=evolve(case.limits, rss_mb=limit))
        return limited, Exhausted("memory", f"over {limit} MiB")

    def flush(self) -> Iterator[Answer]:
        """Yield nothing: each call has answered at once."""
        yield from ()


class SubprocessExecutor:
    """Runs an adapter in a process of its own."""

    def __init__(self, spec: str) -> None:
        self._spec = spec
        self._engine = Engine(spec).__enter__()
        self.hello = self._engine.hello
        self._waiting: dict[str, tuple[Case, bytes]] = {}  # by id: a batch may have an input twice

    def run(self, cases: Iterable[Case], data: bytes) -> Iterator[Answer]:
        """Collect the cases; when a batch is complete, send it and yield its answers."""
        self._waiting.update((case.id, (case, data)) for case in cases)
        if len(self._waiting) >= BATCH_SIZE:
            yield from self.flush()

    def flush(self) -> Iterator[Answer]:
        """Send the collected cases and yield their answers."""
        batch, self._waiting = [*self._waiting.values()], {}
        stopped = False
        for (case, data), ran in zip(batch, self._engine.run([case for case, _ in batch]), strict=True):
            stopped = stopped or isinstance(ran.outcome, NotRun)
            yield case, data, ran.case, ran.outcome
        if stopped:  # The adapter died too often for one engine; a campaign continues with a new one.
            self._engine.__exit__(None, None, None)
            self._engine = Engine(self._spec).__enter__()


Executor: TypeAlias = InProcessExecutor | SubprocessExecutor
"""A way to run an adapter."""

HEADER: Final = struct.Struct("<Qdi")
"""Executions; time of the last change in seconds of the monotonic clock; length of the input, -1 for none."""


@frozen
class InputState:
    """The state of a process: inputs so far, seconds since it took or left one, and the present one."""

    executions: int
    seconds: float
    data: bytes | None


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
        self._map[HEADER.size : HEADER.size + len(data)] = data
        self._write_header(len(data))

    def end_input(self) -> None:
        """Record that the process checks no input; it may wait for the answers of another process."""
        self._write_header(-1)

    def _write_header(self, length: int) -> None:
        # In one copy: `pack_into` clears the bytes first, and a reader could see the cleared bytes.
        self._map[: HEADER.size] = HEADER.pack(self.executions, time.monotonic(), length)

    def state(self) -> InputState:
        """Return the state of the fuzzing process; every process that shares the map may call this."""
        executions, since, length = HEADER.unpack_from(self._map)
        data = self._map[HEADER.size : HEADER.size + length] if length >= 0 else None
        return InputState(executions, time.monotonic() - since, data)
