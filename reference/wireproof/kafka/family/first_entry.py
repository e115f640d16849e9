"""Where the entries of a log are, as its offset index shows: kafka.md §12."""

from bisect import bisect_right
from pathlib import Path
from typing import Final

from wireproof.kafka import offset_index

NAME_DIGITS: Final = 20
MAX_INDEX_BYTES: Final = 256 * 1024 * 1024


def indexed(log: Path, number: int, *, is_position: bool) -> tuple[int, int] | None:
    """Return the last offset and the position of the last indexed entry that is not after a place."""
    path = log.with_name(log.name.replace(".log", ".index", 1))
    base = log.name[:NAME_DIGITS]
    if not (base.isdecimal() and len(base) == NAME_DIGITS and path != log and path.is_file()):
        return None
    if path.stat().st_size > MAX_INDEX_BYTES:
        return None
    entries = offset_index.read(path.read_bytes(), int(base)).entries
    keys = [one.position if is_position else one.offset for one in entries]
    place = bisect_right(keys, number) - 1
    return (entries[place].offset, entries[place].position) if place >= 0 else None
