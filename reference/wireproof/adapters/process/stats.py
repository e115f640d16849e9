"""Child processes as each system has them: pipes, memory and processor time.

The figures are from /proc; on a system without /proc, from `psutil_stats`.

This is the only reader of /proc besides `supervisor`, whose walk of a tree it uses. psutil is not used where
/proc is: it finds the children of a process by reading every process of the machine, which makes the
measurements of one case many times as slow, and it has no peak that can be reset.
"""

import contextlib
import os
import shutil
import signal
import tempfile
import time
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from wireproof.adapters.process.supervisor import descendants

MOST: Final = 256
"""Most processes of one tree that are measured: a fork bomb must not delay the runner."""

MOST_WITHOUT_CORE: Final = 5
"""How many times a time limit a process may wait for a core in addition."""


@cache
def _portable() -> Any:  # noqa: ANN401 - a module
    """Return `psutil_stats` on a system without /proc; None on one with it, or without psutil."""
    if _read("self", "stat"):
        return None
    try:
        return import_module("wireproof.adapters.process.psutil_stats")
    except ImportError:
        return None


def _read(process: int | str, name: str) -> bytes:
    """Return the text of /proc/<process>/<name>; empty if there is none, or the process has ended."""
    try:
        with open(f"/proc/{process}/{name}", "rb") as file:  # noqa: PTH123 - a Path costs more than the read
            return file.read()
    except OSError:
        return b""


def tree(pid: int) -> list[int]:
    """Return `pid` and its descendants; leave out those that have ended already."""
    if portable := _portable():
        return list(portable.tree(pid, MOST))
    return [pid, *descendants(pid, MOST)][:MOST]


def session(leader: int) -> list[int]:
    """Return the processes of the session that `leader` opened, even if `leader` has ended."""
    numbers = [int(path.name) for path in Path("/proc").glob("[0-9]*")]
    return [pid for pid in numbers if (fields := _stat(pid)) and int(fields[3]) == leader]


def _stat(pid: int) -> list[bytes]:
    """Return the fields of /proc/<pid>/stat after the name; the first one is field 3 of proc(5)."""
    return _read(pid, "stat").rpartition(b")")[2].split()


def cpu_seconds(pid: int, *, ended_children: bool = False) -> float:
    """Return the processor time of a process, and if wanted that of ended children; 0 if it is unknown."""
    if portable := _portable():
        return float(portable.cpu_seconds(pid, ended_children=ended_children))
    times = _stat(pid)[11 : 15 if ended_children else 13]
    return sum(map(int, times)) / os.sysconf("SC_CLK_TCK")


def seconds_without_core(pid: int) -> float:
    """Return how long the processes of a tree could run and had no core; 0 if it is unknown.

    It is the second number of /proc/<pid>/schedstat, which Linux counts for the first thread of a process.
    """
    rows = [_read(process, "schedstat").split() for process in tree(pid)]
    return sum(int(row[1]) for row in rows if len(row) > 1) / 1e9


class TimeLimit:
    """A limit for what the processes of a tree do, without the time in which they had no core.

    On a machine with more work than cores a start or an end takes many times as long.
    """

    def __init__(self, pid: int, seconds: float) -> None:
        self._pid, self._seconds = pid, seconds
        self._end = time.monotonic() + seconds
        self._before = seconds_without_core(pid)

    def left(self) -> float:
        """Return how many seconds are left; it is over at 0."""
        left = self._end - time.monotonic()
        if left <= 0:
            left += min(seconds_without_core(self._pid) - self._before, MOST_WITHOUT_CORE * self._seconds)
        return left


# --- memory of a tree ---


def resident(pid: int) -> int | None:
    """Return the resident bytes of the whole tree; None if they are unknown."""
    if portable := _portable():
        size: int | None = portable.resident(pid, MOST)
        return size
    return _sum(pid, b"VmRSS:")


def proportional(pid: int) -> int | None:
    """Return the resident bytes of the tree, shared pages counted once; None if they are unknown.

    Reading them takes a walk over all pages, so this is for a tree whose `resident` bytes are over a limit.
    """
    sizes = [size for process in tree(pid) if (size := _size(process, b"\nPss:", "smaps_rollup")) is not None]
    return sum(sizes) if sizes else None


def peak(pid: int) -> int | None:
    """Return the peak resident bytes since `reset_peak`, summed over the tree; None if they are unknown."""
    if portable := _portable():
        size: int | None = portable.resident(pid, MOST)
        return size
    return _sum(pid, b"VmHWM:")


def _sum(pid: int, name: bytes) -> int | None:
    sizes = [size for process in tree(pid) if (size := _size(process, name)) is not None]
    return sum(sizes) if sizes else None


def _size(pid: int | str, name: bytes, file: str = "status") -> int | None:
    """Return a size in bytes from a file of /proc/<pid>, which has it in kB."""
    words = _read(pid, file).partition(name)[2].split(maxsplit=1)
    return int(words[0]) * 1024 if words else None


def reset_peak(pid: int) -> None:
    """Reset the peak that `peak` returns; do nothing if the system does not allow it."""
    for process in tree(pid):
        try:
            with open(f"/proc/{process}/clear_refs", "wb") as file:  # noqa: PTH123 - as `_read`
                file.write(b"5")  # the peak becomes the current size: proc(5)
        except OSError:
            continue


# --- memory of this process ---


def own_resident() -> int:
    """Return the resident memory of this process in bytes; 0 if it is unknown."""
    if portable := _portable():
        return int(portable.own_resident())
    return _own_pages(1)


def own_address_space() -> int:
    """Return the mapped address space of this process in bytes; 0 if it is unknown."""
    if portable := _portable():
        return int(portable.own_address_space())
    return _own_pages(0)


def own_peak_mib() -> int:
    """Return the largest resident memory of this process so far, in MiB: each growth shows only once."""
    if portable := _portable():
        return int(portable.own_peak_mib())
    of_memory = _size("self", b"VmHWM:") if _peak_is_of_parent() else None
    return (_counted_peak() if of_memory is None else of_memory) >> 20


@cache
def _peak_is_of_parent() -> bool:
    """Return True if this process was started by one with a larger peak: Linux keeps that across exec.

    Only then the peak is read from a file, which takes many times as long: a fuzzer asks around each case.
    """
    of_memory = _size("self", b"VmHWM:")
    # the system counts pages in batches, so that two readings of one peak may differ by a MiB
    return of_memory is not None and _counted_peak() - of_memory > 1 << 20


def _counted_peak() -> int:
    import resource  # noqa: PLC0415 - not on every system

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _own_pages(field: int) -> int:
    """Return the pages of a field of /proc/self/statm, in bytes; 0 if there is no such file."""
    pages = _read("self", "statm").split()
    return int(pages[field]) * os.sysconf("SC_PAGE_SIZE") if pages else 0


if TYPE_CHECKING:
    import subprocess

PIPE: Final = 1024 * 1024
"""Size of the pipe for requests, if the system can set it: the size that every user may set."""


def how_it_ended(code: int | None) -> str:
    if code is None:
        return "no exit code"
    if code >= 0:
        return f"exit code {code}"
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"signal {-code}"


def full_folders() -> str:
    """Return which folders that programs write to are full, as the end of a message; else nothing."""
    full = []
    with contextlib.suppress(OSError):  # a folder that is gone
        folders = dict.fromkeys((Path.cwd(), Path(tempfile.gettempdir())))
        full = [str(folder) for folder in folders if shutil.disk_usage(folder).free < 64 * 1024]
    return f"; no space is left in {' and '.join(full)}" if full else ""


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
