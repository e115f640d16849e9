"""Run numbered tasks in parallel worker processes, and yield the messages that they send, as they arrive.

A worker takes the next task that nobody has started. A worker without a task does idle work until all tasks
are done. The parent holds the other end of a pipe for each worker. Ending the parent, or leaving the loop
over the messages, ends the workers, which close their adapters first.
"""

import contextlib
import gc
import multiprocessing
import os
import pickle
import signal
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from types import FrameType
from typing import TYPE_CHECKING, Any, Final, NoReturn, TypeAlias, cast

from attrs import define, frozen

from wireproof.adapters.object_worker import end_with_parent

if TYPE_CHECKING:  # the first one exists only where there is a fork
    from multiprocessing.context import ForkContext, SpawnContext

END_SECONDS: Final = 8.0
"""Seconds that a worker has to close its adapter before it is killed."""

IDLE_SECONDS: Final = 0.005
"""Pause of a worker that has neither a task nor idle work."""

COLLECT_AFTER: Final = 50_000
"""New objects after which the garbage collector runs; Python's own default is 700."""

Task: TypeAlias = Callable[[int], Iterator[Any]]
"""Runs the task of a number and yields messages: any objects that can be pickled."""


@frozen
class TaskEnded:
    """The last message of a task: the error that it ended with, or None."""

    error: BaseException | None = None


@frozen
class _Begun:
    """The first message of a task; only the parent reads it."""


class WorkerDiedError(Exception):
    """The process of a task ended without a message: it was killed."""


@define
class _Worker:
    """A worker as the parent sees it, and the number of its current task; -1 between tasks."""

    process: BaseProcess
    pipe: Connection
    task: int = -1


def core_count() -> int:
    """Return the number of processor cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def collect_rarely() -> None:
    """Exclude loaded objects from the garbage collector of this process, and run it less often.

    A run keeps hundreds of thousands of small objects that form no cycles: looking through them again and
    again takes a tenth of its processor time.
    """
    gc.freeze()
    gc.set_threshold(COLLECT_AFTER, 20, 100)


def no_idle_work() -> bool:
    """Do nothing; the default idle work."""
    return False


def run_serial(count: int, work: Task) -> Iterator[tuple[int, Any]]:
    """Run the tasks in this process, and yield the same messages as `run_parallel`."""
    for number in range(count):
        error = None
        try:
            yield from ((number, message) for message in work(number))
        except Exception as raised:  # noqa: BLE001 - the caller reports it
            error = raised
        yield number, TaskEnded(error)


def run_parallel(
    count: int, workers: int, work: Task, idle: Callable[[], bool] = no_idle_work
) -> Iterator[tuple[int, Any]]:
    """Run the tasks 0 to `count` - 1 and yield each message with the number of its task, `TaskEnded` last.

    Args:
        count: the number of tasks.
        workers: the maximum number of processes.
        work: runs one task; its exception comes as `TaskEnded`.
        idle: does a small part of work for the others, and returns whether there was any.
    """
    context = _context()
    following = context.Value("i", 0)
    finished = context.Value("i", 0)
    started: list[_Worker] = []
    try:
        for _ in range(workers):
            here, there = context.Pipe(duplex=False)
            body = _Body(there, count, following, finished, work, idle)
            process = context.Process(target=body.run, daemon=True)
            with _sigterm_blocked():
                process.start()
            there.close()
            started.append(_Worker(process, here))
        yield from _messages(started, count, finished)
    finally:
        _end(started)


def _context() -> "ForkContext | SpawnContext":
    """Choose how to start processes: a fork shares loaded modules, but is unsafe with other threads."""
    alone = threading.active_count() == 1 and "fork" in multiprocessing.get_all_start_methods()
    return multiprocessing.get_context("fork") if alone else multiprocessing.get_context("spawn")


def _messages(started: list[_Worker], count: int, finished: Any) -> Iterator[tuple[int, Any]]:  # noqa: ANN401 - a shared number
    pipes = {worker.pipe: worker for worker in started}
    left = set(range(count))
    while pipes and left:
        for pipe in wait(list(pipes)):
            pipe = cast("Connection", pipe)
            worker = pipes[pipe]
            try:
                worker.task, message = pickle.loads(pipe.recv_bytes())  # noqa: S301 - from a process of ours
            except EOFError:
                del pipes[pipe]
                message = _died(worker, finished)
            if isinstance(message, TaskEnded):
                left.discard(worker.task)
            if worker.task >= 0 and not isinstance(message, _Begun):
                yield worker.task, message
            if isinstance(message, TaskEnded):
                worker.task = -1
    yield from (
        (task, TaskEnded(WorkerDiedError("no process was left to judge it"))) for task in sorted(left)
    )


def _died(worker: _Worker, finished: Any) -> TaskEnded:  # noqa: ANN401 - a shared number
    """Count the task of a dead worker as ended, so that the others do not wait for it."""
    worker.process.join()
    if worker.task >= 0:
        with finished.get_lock():
            finished.value += 1
    code = worker.process.exitcode
    return TaskEnded(WorkerDiedError(f"the process that judged it ended with exit code {code}"))


def _end(started: list[_Worker]) -> None:
    for worker in started:
        worker.pipe.close()
        if worker.process.is_alive():
            worker.process.terminate()
    deadline = time.monotonic() + END_SECONDS
    for worker in started:
        worker.process.join(max(0.0, deadline - time.monotonic()))
        if worker.process.is_alive():
            worker.process.kill()
            worker.process.join()


@frozen
class _Body:
    """The main function of a worker and its data."""

    pipe: Connection
    count: int
    following: Any
    finished: Any
    work: Task
    idle: Callable[[], bool]

    def run(self) -> None:
        """Run tasks while there are any, then idle work until all are done."""
        collect_rarely()
        end_with_parent()  # even if the parent is killed while a case hangs
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the parent too, which ends this process
        signal.signal(signal.SIGTERM, _exit_on_signal)
        _mask("SIG_UNBLOCK")
        with contextlib.suppress(BrokenPipeError):  # the parent is gone
            while (number := self._next()) < self.count:
                self._do(number)
            self._help()

    def _help(self) -> None:
        """Do idle work until all tasks are done; the process that needs its result meets an error again."""
        parent = multiprocessing.parent_process()
        assert parent is not None, "this runs in a worker"
        with contextlib.suppress(Exception):
            while self.finished.value < self.count and parent.is_alive():
                if not self.idle():
                    time.sleep(IDLE_SECONDS)

    def _next(self) -> int:
        with self.following.get_lock():
            self.following.value += 1
            return int(self.following.value) - 1

    def _do(self, number: int) -> None:
        error: BaseException | None = None
        self._send(number, _Begun())
        try:
            for message in self.work(number):
                self._send(number, message)
        except BrokenPipeError:
            raise
        except Exception as raised:  # noqa: BLE001 - the parent reports it
            error = _sendable(raised)
        with self.finished.get_lock():
            self.finished.value += 1
        self._send(number, TaskEnded(error))

    def _send(self, number: int, message: Any) -> None:  # noqa: ANN401 - the task's own
        self.pipe.send_bytes(pickle.dumps((number, message), protocol=pickle.HIGHEST_PROTOCOL))


def _sendable(error: Exception) -> Exception:
    """Add the traceback to an error as a note; an error that cannot be pickled becomes a `RuntimeError`."""
    error.add_note("".join(traceback.format_exception(error)))
    try:
        same: Exception = pickle.loads(pickle.dumps(error))  # noqa: S301 - dumped in the same expression
    except Exception:  # noqa: BLE001 - an error's class may raise anything when it is copied
        return RuntimeError("".join(traceback.format_exception(error)))
    return same


@contextlib.contextmanager
def _sigterm_blocked() -> Iterator[None]:
    """Block SIGTERM while a worker starts, because it has the parent's handler until it sets its own."""
    _mask("SIG_BLOCK")
    try:
        yield
    finally:
        _mask("SIG_UNBLOCK")


def _mask(how: str) -> None:
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(getattr(signal, how), {signal.SIGTERM})


def _exit_on_signal(number: int, frame: FrameType | None) -> NoReturn:  # noqa: ARG001 - a handler's signature
    """Exit through the `with` blocks, which close the adapter."""
    raise SystemExit(128 + number)
