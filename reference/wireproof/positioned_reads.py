"""Reads of a file at a position: by the call of the system if it has one, else by a seek before the read."""

import errno
import os
from collections.abc import Callable
from threading import Lock
from typing import Final

_SEEKING: Final = Lock()
"""Held from a seek to its read, because two threads share the position of a descriptor."""


def _seek_and_read(file: int, length: int, at: int, /) -> bytes:
    with _SEEKING:
        os.lseek(file, at, os.SEEK_SET)
        return os.read(file, length)


def _seek_and_fill(file: int, room: memoryview, at: int, /) -> int:
    data = _seek_and_read(file, len(room), at)
    room[: len(data)] = data
    return len(data)


def _read(file: int, length: int, at: int, /) -> bytes:
    return os.pread(file, length, at)


def _fill(file: int, room: memoryview, at: int, /) -> int:
    return os.preadv(file, [room], at)


read_at: Final[Callable[[int, int, int], bytes]] = _read if hasattr(os, "pread") else _seek_and_read
"""Return up to a number of bytes of a descriptor from a position on; empty at its end."""

read_into: Final[Callable[[int, memoryview, int], int]] = _fill if hasattr(os, "preadv") else _seek_and_fill
"""Read bytes of a descriptor from a position on into memory; return their number, 0 at its end."""


def hole_end(file: int, at: int, size: int) -> int:
    """Return the end of the hole that a sparse file has at a position; the position itself if it has none.

    A hole reads as zeros and takes no blocks of the disk. Systems that cannot tell report no holes.
    """
    if not hasattr(os, "SEEK_DATA"):
        return at
    try:
        return min(os.lseek(file, at, os.SEEK_DATA), size)
    except OSError as error:
        return size if error.errno == errno.ENXIO else at  # there is no data up to the end
