"""The memory of a process and all its descendants, from /proc; nothing where there is no /proc."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

MOST: Final = 256
"""Processes of one tree that are looked at: a fork bomb must not hold up the one who measures it."""

_PROC: Final = Path("/proc")
_RESET_PEAK: Final = "5"
"""What /proc/<pid>/clear_refs wants for setting the peak back to the present: proc(5)."""


def tree(pid: int) -> list[int]:
    """`pid` and its descendants; those that are gone already are left out."""
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
    """Return the processes of the session that `leader` opened, whether or not it is still there."""
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
    """A size in bytes from /proc/<pid>/status, which gives kB."""
    try:
        status = (_PROC / str(pid) / "status").read_text()
    except OSError:
        return None
    for line in status.splitlines():
        if line.startswith(name):
            return int(line.split()[1]) * 1024
    return None


def resident(pid: int) -> int | None:
    """Bytes resident now in the whole tree; None where that cannot be known."""
    return _summed(pid, "VmRSS:")


def peak(pid: int) -> int | None:
    """Bytes resident at most since `reset_peak`, summed over the tree; None where that cannot be known."""
    return _summed(pid, "VmHWM:")


def _summed(pid: int, name: str) -> int | None:
    sizes = [size for one in tree(pid) if (size := _field(one, name)) is not None]
    return sum(sizes) if sizes else None


def reset_peak(pid: int) -> None:
    """Let `peak` begin anew; without effect where the system does not allow it."""
    for one in tree(pid):
        try:
            (_PROC / str(one) / "clear_refs").write_text(_RESET_PEAK)
        except OSError:
            continue
