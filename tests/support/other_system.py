"""Takes from this process what only POSIX, or only Linux, has; then the package runs on what is left.

`hide("win32")` or `hide("darwin")` takes modules, attributes of modules, and /proc. The standard library
keeps what it holds already, so it is imported first; libraries that know these systems too.
`python -m tests.support.other_system win32 check …` runs a verb of the command line in such a process.
"""

import builtins
import fcntl
import importlib.abc
import multiprocessing.connection
import multiprocessing.context
import multiprocessing.heap
import multiprocessing.popen_spawn_posix
import multiprocessing.resource_tracker
import multiprocessing.sharedctypes
import multiprocessing.synchronize
import os
import select
import selectors  # noqa: F401 - the same
import signal
import subprocess
import sys
import tempfile  # noqa: F401 - the same
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, Final

import click  # noqa: F401 - it has its own way on each system
import psutil  # noqa: F401 - the same
import rich.progress  # noqa: F401 - the same

_NOT_ON_WINDOWS: Final[dict[ModuleType, tuple[str, ...]]] = {
    os: (
        "O_CLOEXEC", "O_NONBLOCK", "P_PID", "WEXITED", "WNOWAIT", "fork", "getuid", "killpg",
        "posix_spawnp", "pread", "preadv", "sched_getaffinity", "setsid", "sysconf", "uname",
        "wait4", "waitid",
    ),
    signal: (
        "ITIMER_PROF", "ITIMER_REAL", "SIGALRM", "SIGCHLD", "SIGHUP", "SIGKILL", "SIGPIPE", "SIGPROF",
        "SIGSTOP", "SIGUSR1", "SIGXFSZ", "pthread_kill", "pthread_sigmask", "setitimer",
    ),
    select: ("poll", "epoll"),
    multiprocessing.context: ("ForkContext", "ForkServerContext"),
}  # fmt: skip

_NOT_ON_MACOS: Final[dict[ModuleType, tuple[str, ...]]] = {
    os: ("posix_fadvise", "posix_fallocate", "sched_getaffinity", "splice"),
    select: ("epoll",),
}

HIDDEN: Final = {
    "win32": (("fcntl", "grp", "pwd", "resource", "termios", "tty", "pty"), _NOT_ON_WINDOWS),
    "darwin": (("ossaudiodev", "spwd"), _NOT_ON_MACOS),
}
"""Of each system, the modules and attributes that it does not have, as the library reference says."""


class _Refuses(importlib.abc.MetaPathFinder):
    """Finds no module of these names."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = frozenset(names)

    def find_spec(self, name: str, *_: Any) -> ModuleSpec | None:
        if name in self._names:
            raise ModuleNotFoundError(f"No module named {name!r}: not on this system", name=name)
        return None


def _lock_one_byte(file: int, mode: int, length: int) -> None:
    """`msvcrt.locking` on top of the locks of POSIX: it raises PermissionError for a byte that is locked."""
    assert mode == _MSVCRT.LK_NBLCK
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, length, os.lseek(file, 0, os.SEEK_CUR))
    except BlockingIOError:
        raise PermissionError(13, "Permission denied") from None


_MSVCRT: Final[Any] = ModuleType("msvcrt")
_MSVCRT.LK_NBLCK = 2
_MSVCRT.locking = _lock_one_byte


def hide(system: str) -> None:
    """Make this process look like one on another system to all code that is imported from now on."""
    if system == "win32":
        sys.modules["msvcrt"] = _MSVCRT
        subprocess.Popen.kill = lambda self: self.send_signal(9)  # type: ignore[method-assign]
    modules, attributes = HIDDEN[system]
    for name in modules:
        sys.modules.pop(name, None)
    sys.meta_path.insert(0, _Refuses(modules))
    for module, names in attributes.items():
        for name in names:
            vars(module).pop(name, None)
    if system == "win32":
        multiprocessing.get_all_start_methods = lambda: ["spawn"]
        multiprocessing.resource_tracker._HAVE_SIGMASK = False
    _hide_proc()
    sys.platform = system


def _hide_proc() -> None:
    """Make every file below /proc missing, but for psutil, which has other sources on other systems."""
    opened = builtins.open

    def without_proc(file: Any, *words: Any, **more: Any) -> Any:
        caller = sys._getframe(1).f_globals["__name__"]
        if str(file).startswith("/proc") and not caller.startswith("psutil"):
            raise FileNotFoundError(2, "No such file or directory", file)
        return opened(file, *words, **more)

    builtins.open = without_proc


def main() -> None:
    """Run the command line as on the system that the first argument names."""
    hide(sys.argv[1])
    from wireproof.cli import main as command  # noqa: PLC0415 - what is hidden comes first

    sys.argv = ["wireproof", *sys.argv[2:]]
    command()


if __name__ == "__main__":
    main()
