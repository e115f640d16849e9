"""Small operations on a child process: the size of its pipe, and a description of how it ended."""

import signal
from typing import Final

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


def widen(pipe: int) -> None:
    """Enlarge a pipe if the system can, so that the child has requests while no thread serves its pipes."""
    try:
        import fcntl  # noqa: PLC0415 - not on every system

        fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, PIPE)
    except (ImportError, AttributeError, OSError):
        return
