"""Facts about processes: memory of a process and all its descendants, how it ended, the size of its pipe.

The memory comes from /proc; it is unknown on a system without /proc.
"""

import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Final

MOST: Final = 256
"""Most processes of one tree that are measured: a fork bomb must not delay the runner."""

PIPE: Final = 1024 * 1024
"""Size of the pipe for requests, if the system can set it: the size that every user may set."""

_PROC: Final = Path("/proc")
_RESET_PEAK: Final = "5"
"""The text for /proc/<pid>/clear_refs that resets the peak to the current size: proc(5)."""


def tree(pid: int) -> list[int]:
    """Return `pid` and its descendants; leave out those that have ended already."""
    found = [pid]
    for parent in found:
        if len(found) > MOST:
            break
        found.extend(_children(parent))
    return found[:MOST]


def _children(pid: int) -> Iterator[int]:
    try:
        for task in (_PROC / str(pid) / "task").iterdir():
            yield from (int(child) for child in (task / "children").read_text().split())
    except OSError:
        return


def session(leader: int) -> list[int]:
    """Return the processes of the session that `leader` opened, even if `leader` has ended."""
    found = []
    for stat in _PROC.glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == leader:
            found.append(int(stat.parent.name))
    return found


def _field(pid: int, name: str) -> int | None:
    """Return a size in bytes from /proc/<pid>/status, which has it in kB."""
    try:
        status = (_PROC / str(pid) / "status").read_text()
    except OSError:
        return None
    for line in status.splitlines():
        if line.startswith(name):
            return int(line.split()[1]) * 1024
    return None


def resident(pid: int) -> int | None:
    """Return the resident bytes of the whole tree; None if they are unknown."""
    return _summed(pid, "VmRSS:")


def peak(pid: int) -> int | None:
    """Return the peak resident bytes since `reset_peak`, summed over the tree; None if they are unknown."""
    return _summed(pid, "VmHWM:")


def _summed(pid: int, name: str) -> int | None:
    sizes = [size for one in tree(pid) if (size := _field(one, name)) is not None]
    return sum(sizes) if sizes else None


def reset_peak(pid: int) -> None:
    """Reset the peak that `peak` returns; do nothing if the system does not allow it."""
    for one in tree(pid):
        try:
            (_PROC / str(one) / "clear_refs").write_text(_RESET_PEAK)
        except OSError:
            continue


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
