"""Locks on open files: `flock` where the system has it, else a lock on one byte far behind the end (Windows).

A lock ends when its file is closed, also by the end of the process.
"""

import os
import time
from importlib import import_module
from typing import Any, Final


def _module(name: str) -> Any:  # noqa: ANN401 - a module
    """Return a module of the standard library; None if this system does not have it."""
    try:
        return import_module(name)
    except ImportError:
        return None


_FCNTL: Final = _module("fcntl")
_MSVCRT: Final = _module("msvcrt")

LOCKED_BYTE: Final = 0x7FFF_FFFF
"""Position of the byte that is locked on Windows, where a locked byte cannot be read or written."""

RETRY_SECONDS: Final = 0.05

MAY_REPLACE_OPEN: Final = _FCNTL is not None
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
        if _FCNTL is not None:
            _FCNTL.flock(file, _FCNTL.LOCK_EX | (0 if wait else _FCNTL.LOCK_NB))
        else:
            _lock_byte(file)
    except (BlockingIOError, PermissionError):
        return False
    return True


def _lock_byte(file: int) -> None:
    """Lock the byte and keep the position; raise PermissionError if another process has the lock."""
    position = os.lseek(file, 0, os.SEEK_CUR)
    os.lseek(file, LOCKED_BYTE, os.SEEK_SET)
    try:
        _MSVCRT.locking(file, _MSVCRT.LK_NBLCK, 1)
    finally:
        os.lseek(file, position, os.SEEK_SET)
