"""The child process of a Python object: `python -m wireproof.adapters.object_worker [--memory=MIB] SPEC`.

It exchanges frames over its original stdin and stdout. For the object, stdin is empty, and its prints go to
stderr. If the start fails, the hello contains the reason.
"""

import contextlib
import ctypes
import os
import signal
import sys
import threading
from collections.abc import Callable

from wireproof.adapters.errors import AdapterError
from wireproof.adapters.message_framing import Frames
from wireproof.adapters.process.controller import MIB
from wireproof.adapters.python_object import Caller
from wireproof.adapters.registry.registry import load_object, resolve
from wireproof.adapters.serve import converse, refuse


def main(arguments: list[str]) -> int:
    """Serve until stdin ends; return the exit code."""
    end_with_parent()
    *flags, spec = arguments
    # stdin and stdout are replaced for all other code, both in Python and as descriptors
    stdin = os.fdopen(os.dup(0), "rb", buffering=0)
    stdout = os.fdopen(os.dup(1), "wb", buffering=0)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    for flag in flags:
        limit_memory(int(flag.removeprefix("--memory=")) * MIB)
    try:
        caller = Caller(load_object(resolve(spec)))
    except AdapterError as error:
        refuse(stdout, str(error))
        return 4
    converse(caller.hello, caller.answer, Frames, stdin, stdout)
    return 0


def end_with_parent() -> None:
    """End when the thread that started this process ends.

    A codec that hangs in C never reads the end of its stdin, and would use a core for ever. On a system whose
    processes cannot ask for such a signal, a thread waits for the parent; it ends no loop in C that keeps
    the lock of the interpreter.
    """
    with contextlib.suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
        return
    with contextlib.suppress(ImportError):
        from wireproof.adapters.process.psutil_stats import wait_for_end  # noqa: PLC0415 - not on every system

        threading.Thread(target=_end_after, args=(wait_for_end, os.getppid()), daemon=True).start()


def _end_after(wait_for_end: Callable[[int], None], parent: int) -> None:
    wait_for_end(parent)
    os._exit(1)


def limit_memory(size: int) -> None:
    """Limit the address space to `size` bytes; do nothing if the system has no such limit."""
    try:
        import resource  # noqa: PLC0415 - not on every system
    except ImportError:
        return
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    if hard != resource.RLIM_INFINITY:
        size = min(size, hard)
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_AS, (size, hard))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
