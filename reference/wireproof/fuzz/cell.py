"""What a fuzzing process works on at this moment, where its death cannot take it: a mapped file.

The process writes each input there before it is looked at. Who watches it reads the guilty bytes after a
segfault, and sees by the clock that nothing moves. The pages are the system's, so they outlive kill -9.
"""

import mmap
import struct
import time
from pathlib import Path
from typing import Final, Literal

from attrs import frozen

Phase = Literal["idle", "here", "away"]
"""Nothing is looked at; an input is, in this process; answers of another process are waited for."""

PHASES: Final[tuple[Phase, ...]] = ("idle", "here", "away")

HEAD: Final = struct.Struct("<QdII")
"""Executions; when the input was put, in seconds of the system's monotonic clock; its length; the phase."""


@frozen
class Now:
    """One look: executions so far, seconds since the input was put, the phase, the input."""

    executions: int
    seconds: float
    phase: Phase
    data: bytes


class Cell:
    """One mapped file, of one process at a time."""

    def __init__(self, path: Path, size: int) -> None:
        """Map `path`, made anew, for inputs of up to `size` bytes."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(bytes(HEAD.size + size))
        with path.open("r+b") as file:
            self._map = mmap.mmap(file.fileno(), HEAD.size + size)
        self._size = size
        self.executions = 0

    def begin(self) -> None:
        """Count from none, for a process that starts."""
        self.executions = 0
        self.rest()

    def put(self, data: bytes, phase: Phase = "here") -> None:
        """Say that `data` is looked at from now on; what is over the size is cut."""
        self.executions += 1
        data = data[: self._size]
        end = HEAD.size + len(data)
        self._map[HEAD.size : end] = data
        self._head(len(data), phase)

    def rest(self, phase: Phase = "idle") -> None:
        """Say that no input is looked at."""
        self._head(0, phase)

    def _head(self, length: int, phase: Phase) -> None:
        """One copy: `pack_into` would clear the place first, and who looks meanwhile would see that."""
        head = HEAD.pack(self.executions, time.monotonic(), length, PHASES.index(phase))
        self._map[: HEAD.size] = head

    def look(self) -> Now:
        """What its process is at; from any process that shares the map."""
        executions, since, length, phase = HEAD.unpack_from(self._map)
        data = self._map[HEAD.size : HEAD.size + length]
        return Now(executions, time.monotonic() - since, PHASES[phase], data)
