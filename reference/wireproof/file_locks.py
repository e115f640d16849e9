"""Locks on open files: `flock` where the system has it, else a lock on one byte far behind the end (Windows).

A lock ends when its file is closed, also by the end of the process.
"""

import os
import time
from typing import Final

try:
    import fcntl
except ImportError:
    fcntl = None  # type: ignore[assignment] # Windows, which has msvcrt

LOCKED_BYTE: Final = 0x7FFF_FFFF
"""Position of the byte that is locked on Windows, where a locked byte cannot be read or written."""

RETRY_SECONDS: Final = 0.05

MAY_REPLACE_OPEN: Final = fcntl is not None
"""True if an open file can be renamed, and another file be renamed to its name."""


def lock_file(file: int) -> None:
    """Lock an open file; wait while another process has the lock."""
    while not try_lock_file(file, wait=True):
        time.sleep(RETRY_SECONDS)


def try_lock_file(file: int, *, wait: bool = False) -> bool:
    """Lock an open file; return False if another process has the lock.

    Args:
        file: the descriptor.
        wait: whether the system may wait for the lock first.
    """
    try:
        if fcntl is not None:
            fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        else:
            _lock_byte(file)
    except (BlockingIOError, PermissionError):
        return False
    return True


def _lock_byte(file: int) -> None:
    """Lock the byte and keep the position; raise PermissionError if another process has the lock."""
    import msvcrt  # noqa: PLC0415 - only on Windows

    position = os.lseek(file, 0, os.SEEK_CUR)
    os.lseek(file, LOCKED_BYTE, os.SEEK_SET)
    try:
        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore] # on Windows
    finally:
        os.lseek(file, position, os.SEEK_SET)
