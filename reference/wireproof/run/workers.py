"""Run tasks in parallel worker processes, and yield the messages that they send, as they arrive.

The parent gives each worker its next task as soon as the one before has ended, so that it can choose by what
a worker keeps. It holds the other end of a pipe for each worker. Ending the parent, or leaving the loop over
the messages, ends the workers, which close their adapters first. A pool of `concurrent.futures` would show
what a task found only at its end, and the death of one process would end all others.
"""

import contextlib
import gc
import multiprocessing
import os
import pickle
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from types import FrameType
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias, cast

from attrs import define, frozen

from wireproof.adapters.object_worker import end_with_parent

if TYPE_CHECKING:  # the first one exists only where there is a fork
    from multiprocessing.context import ForkContext, SpawnContext

Next: TypeAlias = Callable[[int], Any]
"""Returns the next task for the worker of a number; None if there is none for now."""

Work: TypeAlias = Callable[[], AbstractContextManager[Callable[[Any], Iterator[Any]]]]
"""Opens what a worker keeps; its value runs one task and yields messages. All of it can be pickled."""


@frozen
class TaskEnded:
    """The last message of a task: the error that it ended with, or None."""

    error: BaseException | None = None


class WorkerDiedError(Exception):
    """The process of a task ended without a message: it was killed."""


@define
class _Worker:
    """A worker as the parent sees it, and its current task; None between tasks."""

    number: int
    process: BaseProcess
    pipe: Connection
    task: Any = None


def core_count() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def collect_rarely() -> None:
    """Exclude loaded objects from the garbage collector of this process, and run it less often.

    A run keeps hundreds of thousands of small objects that form no cycles: looking through them again and
    again takes a tenth of its processor time.
    """
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)  # new objects; Python's own default is 700


def run_serial(next_task: Next, work: Work) -> Generator[tuple[int, Any, Any], None, None]:
    """Run the tasks in this process, as worker 0, and yield the same messages as `run_parallel`."""
    with work() as run:
        while (task := next_task(0)) is not None:
            error = None
            try:
                yield from ((0, task, message) for message in run(task))
            except Exception as raised:  # noqa: BLE001 - the caller reports it
                error = raised
            yield 0, task, TaskEnded(error)


def run_parallel(next_task: Next, work: Work, workers: int) -> Generator[tuple[int, Any, Any], None, None]:
    """Run tasks until none is left or running; yield the worker, the task and each message, `TaskEnded` last.

    `next_task` chooses a task, by the messages so far. The exception of a task comes as its `TaskEnded`. Each
    of at most `workers` processes is started when there is a task for it.
    """
    # A fork shares loaded modules, but is unsafe with other threads.
    alone = threading.active_count() == 1 and "fork" in multiprocessing.get_all_start_methods()
    context: ForkContext | SpawnContext = (
        multiprocessing.get_context("fork") if alone else multiprocessing.get_context("spawn")
    )
    started: list[_Worker] = []
    alive: list[_Worker] = []
    try:
        while True:
            for worker in alive:
                if worker.task is None and (task := next_task(worker.number)) is not None:
                    _give(worker, task)
            while len(alive) < workers and all(worker.task is not None for worker in alive):
                if (task := next_task(len(started))) is None:
                    break
                worker = _start(context, len(started), work)
                started.append(worker)
                alive.append(worker)
                _give(worker, task)
            busy = {worker.pipe: worker for worker in alive if worker.task is not None}
            if not busy:
                return
            for pipe in wait(list(busy)):
                worker = busy[cast("Connection", pipe)]
                task = worker.task
                try:
                    message = pickle.loads(worker.pipe.recv_bytes())  # noqa: S301 - from a process of ours
                except (EOFError, ConnectionResetError):
                    alive.remove(worker)
                    message = _died(worker)
                if isinstance(message, TaskEnded):
                    worker.task = None
                yield worker.number, task, message
    finally:
        _end(started)


def _start(context: "ForkContext | SpawnContext", number: int, work: Work) -> _Worker:
    here, there = context.Pipe()
    process = context.Process(target=_run_worker, args=(there, work), daemon=True)
    with _sigterm_blocked():
        process.start()
    there.close()
    return _Worker(number, process, here)


def _give(worker: _Worker, task: Any) -> None:  # noqa: ANN401 - the caller's own
    worker.task = task
    with contextlib.suppress(BrokenPipeError):  # it died: reading from it says so
        worker.pipe.send(task)


def _died(worker: _Worker) -> TaskEnded:
    worker.process.join()
    code = worker.process.exitcode
    return TaskEnded(WorkerDiedError(f"the process that judged it ended with exit code {code}"))


def _end(started: list[_Worker]) -> None:
    """End the workers: one without a task is told to, any other is interrupted.

    A pipe that is closed here is not at its end there: a fork has this end of it too.
    """
    for worker in started:
        if worker.task is not None and worker.process.is_alive():
            worker.process.terminate()
        else:
            with contextlib.suppress(OSError):  # it died
                worker.pipe.send(None)
        worker.pipe.close()
    deadline = time.monotonic() + 8.0  # in which a worker closes its adapters
    for worker in started:
        worker.process.join(max(0.0, deadline - time.monotonic()))
        if worker.process.is_alive():
            worker.process.kill()
            worker.process.join()


def _run_worker(pipe: Connection, work: Work) -> None:
    """Run the tasks that the parent sends, until it sends None or closes the pipe."""

    def send(message: Any) -> None:  # noqa: ANN401 - the caller's own
        pipe.send_bytes(pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL))

    collect_rarely()
    end_with_parent()  # even if the parent is killed while a case hangs
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the parent too, which ends this process
    signal.signal(signal.SIGTERM, _exit_on_signal)
    sys.unraisablehook = _hide_exit
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
    with contextlib.suppress(BrokenPipeError, EOFError), work() as run:  # the parent is gone
        while (task := pipe.recv()) is not None:
            error: BaseException | None = None
            try:
                for message in run(task):
                    send(message)
            except BrokenPipeError:
                raise
            except Exception as raised:  # noqa: BLE001 - the parent reports it
                error = _sendable(raised)
            send(TaskEnded(error))


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
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})


def _hide_exit(unraisable: "sys.UnraisableHookArgs") -> None:
    """Print what a finalizer raised, unless it was interrupted by the signal that ends the process."""
    if not issubclass(unraisable.exc_type, SystemExit):
        sys.__unraisablehook__(unraisable)


def _exit_on_signal(number: int, frame: FrameType | None) -> NoReturn:  # noqa: ARG001 - a handler's signature
    """Exit through the `with` blocks, which close the adapters."""
    raise SystemExit(128 + number)
