"""Memory and processor time of processes on a system without /proc, from psutil.

The functions of `stats` with the same names. psutil has no peak that can be reset: `peak` is then the
memory at the moment, so a case that frees its memory before it answers stays unnoticed.
"""

from collections.abc import Callable, Iterator
from typing import Final, TypeVar

import psutil

MIB: Final = 1 << 20

T = TypeVar("T")


def tree(pid: int, most: int) -> list[int]:
    return [process.pid for process in _processes(pid)][:most]


def _processes(pid: int) -> Iterator["psutil.Process"]:
    try:
        process = psutil.Process(pid)
        yield process
        yield from process.children(recursive=True)
    except psutil.Error:
        return


def cpu_seconds(pid: int, *, ended_children: bool) -> float:
    times = _of(pid, lambda process: process.cpu_times())
    if times is None:
        return 0.0
    children = times.children_user + times.children_system if ended_children else 0.0
    return float(times.user + times.system + children)


def resident(pid: int, most: int) -> int | None:
    sizes = [size for one in tree(pid, most) if (size := _of(one, lambda process: process.memory_info().rss))]
    return sum(sizes) if sizes else None


def own_resident() -> int:
    return int(psutil.Process().memory_info().rss)


def own_address_space() -> int:
    return int(psutil.Process().memory_info().vms)


def own_peak_mib() -> int:
    memory = psutil.Process().memory_info()
    return int(getattr(memory, "peak_wset", memory.rss)) // MIB


def wait_for_end(pid: int) -> None:
    """Wait until a process has ended, which need not be a child."""
    _of(pid, lambda process: process.wait())


def _of(pid: int, read: Callable[["psutil.Process"], T]) -> T | None:
    try:
        return read(psutil.Process(pid))
    except psutil.Error:
        return None
