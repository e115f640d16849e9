"""How often each finding was met: counters in a mapped file, so that kill -9 loses none.

Every worker has a file of its own and no file is ever folded into another: the count of a finding is the
sum over the files, whoever was killed when.
"""

import mmap
import struct
from collections import Counter
from pathlib import Path
from typing import Final

ROW: Final = struct.Struct("<16sQ")
"""The name of a finding in hexadecimal, and its count."""

ROWS: Final = 8192
"""Findings that one file counts; what comes later is kept, and its count not."""


class Tally:
    """The counters of one worker."""

    def __init__(self, path: Path) -> None:
        """Open the file, or make it."""
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a+b") as file:
            file.write(bytes(max(0, ROW.size * ROWS - file.tell())))  # writing to a map takes no more blocks
        with path.open("r+b") as file:
            self._map = mmap.mmap(file.fileno(), ROW.size * ROWS)
        self._places = {name: place for place, (name, _) in enumerate(_rows(self._map))}

    def add(self, name: str) -> None:
        """Count one more of the finding `name`."""
        place = self._places.setdefault(name, len(self._places))
        if place < ROWS:
            at = place * ROW.size
            _, count = ROW.unpack_from(self._map, at)
            # One copy: `pack_into` would clear the place first, and a kill in between lose the count.
            self._map[at : at + ROW.size] = ROW.pack(name.encode(), count + 1)

    def close(self) -> None:
        """Unmap."""
        self._map.close()


def _rows(data: bytes | mmap.mmap) -> list[tuple[str, int]]:
    rows = (ROW.unpack_from(data, place * ROW.size) for place in range(len(data) // ROW.size))
    return [(name.decode(), count) for name, count in rows if count]


def totals(folder: Path) -> Counter[str]:
    """The sum over the files of `folder`."""
    found: Counter[str] = Counter()
    for path in sorted(folder.glob("*.tally")):
        for name, count in _rows(path.read_bytes()):
            found[name] += count
    return found
