"""Memory use of the current process."""

import os
import resource
from pathlib import Path


def resident_bytes() -> int:
    """Return the resident memory of this process in bytes; 0 if the system does not report it."""
    return _statm(1)


def address_space_bytes() -> int:
    """Return the mapped address space of this process in bytes; 0 if the system does not report it."""
    return _statm(0)


def peak_mib() -> int:
    """Return the largest resident memory of this process so far, in MiB.

    The value never falls, so each growth shows only once.
    """
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10


def _statm(field: int) -> int:
    """Return a field of /proc/self/statm in bytes; 0 if there is no such file."""
    try:
        pages = int(Path("/proc/self/statm").read_text("ascii").split()[field])
    except (OSError, IndexError, ValueError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")
