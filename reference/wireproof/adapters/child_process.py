"""Small operations on a child process: the size of its pipe, and a description of how it ended."""

import os
import signal
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import subprocess

PIPE: Final = 1024 * 1024
"""Size of the pipe for requests, if the system can set it: the size that every user may set."""


def how_it_ended(code: int | None) -> str:
    """Return the exit code or the name of the signal of a process."""
    if code is None:
        return "no exit code"
    if code >= 0:
        return f"exit code {code}"
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"signal {-code}"


def has_ended(child: "subprocess.Popen[Any]") -> bool:
    """Return True if it has ended; do not reap it if the system allows, so that its number is not reused."""
    if child.returncode is not None:
        return True
    if not hasattr(os, "waitid"):
        return child.poll() is not None
    try:
        return os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    except ChildProcessError:
        return child.poll() is not None


def widen(pipe: int) -> None:
    """Enlarge a pipe if the system can, so that the child has requests while no thread serves its pipes."""
    try:
        import fcntl  # noqa: PLC0415 - not on every system

        fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, PIPE)
    except (ImportError, AttributeError, OSError):
        return
