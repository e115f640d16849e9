"""Where the entries of a log are, as its headers and its offset index show: kafka.md §1.1, §2.1, §12."""

from bisect import bisect_right
from pathlib import Path
from typing import Final

from wireproof.family import Format
from wireproof.kafka import batch, offset_index
from wireproof.kafka.attribute_bits import wrap64
from wireproof.kafka.size_and_magic import MAGIC_AT, MIN_SIZE_BY_MAGIC, SIZE_AT

NAME_DIGITS: Final = 20
MAX_INDEX_BYTES: Final = 256 * 1024 * 1024

_numbers = batch.HEADER.select("baseOffset", "lastOffsetDelta")


def head_offsets(_: Format, head: bytes) -> tuple[int | None, int | None] | None:
    """Return the first and the last offset in a header; None if no entry has such a header.

    A message has one offset, and a wrapper that of its last message: §2.2.
    """
    if len(head) <= MAGIC_AT or not 0 <= (magic := head[MAGIC_AT]) < len(MIN_SIZE_BY_MAGIC):
        return None
    if int.from_bytes(head[SIZE_AT : SIZE_AT + 4], "big", signed=True) < MIN_SIZE_BY_MAGIC[magic]:
        return None
    if magic < 2:
        return None, int.from_bytes(head[:8], "big", signed=True)
    if len(head) < batch.HEADER.packing.size:
        return None
    base, delta = _numbers(batch.HEADER.peek(head, 0))
    return base, wrap64(base + delta)


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
