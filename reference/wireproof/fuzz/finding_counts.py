"""How often each finding occurred: counters in a mapped file, so that `kill -9` loses none of them.

Each worker has its own file, and the files are never merged: the count of a finding is the sum over the
files, whichever worker was killed at whatever time.
"""

import mmap
import struct
from collections import Counter
from pathlib import Path
from typing import Final

COUNTER: Final = struct.Struct("<16sQ")
"""One counter: the name of the finding in hexadecimal, and the count."""

MAX_COUNTERS: Final = 8192
"""Number of counters in a file. A finding beyond that number is kept, but not counted."""


class FindingCounts:
    """The counters of one worker."""

    def __init__(self, path: Path) -> None:
        """Open the file `path`, or create it."""
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a+b") as file:
            # All blocks now: if the disk is full, a write to a mapped page without a block ends the process.
            file.write(bytes(max(0, COUNTER.size * MAX_COUNTERS - file.tell())))
        with path.open("r+b") as file:
            self._map = mmap.mmap(file.fileno(), COUNTER.size * MAX_COUNTERS)
        self._places = {name: place for place, (name, _) in enumerate(_counters(self._map))}

    def add(self, name: str) -> None:
        """Add one to the count of the finding `name`."""
        place = self._places.setdefault(name, len(self._places))
        if place < MAX_COUNTERS:
            at = place * COUNTER.size
            _, count = COUNTER.unpack_from(self._map, at)
            # In one copy: `pack_into` clears the bytes first, and a kill in between would lose the count.
            self._map[at : at + COUNTER.size] = COUNTER.pack(name.encode(), count + 1)

    def close(self) -> None:
        """Unmap the file."""
        self._map.close()


def _counters(data: bytes | mmap.mmap) -> list[tuple[str, int]]:
    rows = (COUNTER.unpack_from(data, place * COUNTER.size) for place in range(len(data) // COUNTER.size))
    return [(name.decode(), count) for name, count in rows if count]


def total_counts(folder: Path) -> Counter[str]:
    """Return the count of each finding, summed over the files in `folder`."""
    counts: Counter[str] = Counter()
    for path in sorted(folder.glob("*.tally")):
        for name, count in _counters(path.read_bytes()):
            counts[name] += count
    return counts
