"""Where sound entries go on inside bytes that a damaged size claims. kafka.md §1.4.

No checksum covers the size of an entry. A scan believes it: an entry whose size became larger swallows the
entries behind it, or looks as if the end of the file had cut it. Here the size is doubted, and believed only
if another entry, or the end of the bytes, follows where it says.
"""

from collections.abc import Iterator
from typing import Final

from wireproof.kafka.frame import LEAST, OVERHEAD, THROUGH_MAGIC, announced
from wireproof.kafka.scan import CRC_WORK, ENTRY_MOST, MAGIC, MAGIC_AT
from wireproof.wire.checksums import crc32, crc32c
from wireproof.wire.options import Options
from wireproof.wire.reader import Reader
from wireproof.wire.rejected import Rejected

FAR: Final = 1 << 32
"""Offsets from one entry of a segment to another, at most: an index has 32 bits for them."""

NEXT: Final = 1 << 20
"""Bytes behind an entry that `resumed` looks at: where another one is whole, its checksum is seen."""


def resumed(data: bytes, length: int, options: Options) -> int:
    """How many bytes at the beginning of `data` the damage has; 0 where the size may be right.

    Args:
        data: begins with the entry that is refused or cut, and goes on `NEXT` bytes behind it if they exist.
        length: the bytes that the scan gave it.
        options: `max_message` bounds a size.
    """
    most = ENTRY_MOST if options.max_message is None else options.max_message
    total = _total(data, 0, most)
    if total == 0:  # the scan has already looked for the next entry
        return 0
    if total == len(data) or (total < len(data) and _later(data, 0, total) and _total(data, total, most)):
        return 0
    if total > len(data) > THROUGH_MAGIC and _sealed(data, 0, len(data)):
        return len(data)
    return next(_followed(data, length, most), 0)


def _followed(data: bytes, length: int, most: int) -> Iterator[int]:
    """The places before `length` where an entry with a right checksum stands that belongs to the log.

    A batch may also stand in a value, which is cut: what belongs to the log has a later offset and the
    beginning of an entry behind it, or a whole entry of a later offset.
    """
    spent = 0
    for found in MAGIC.finditer(data, 1 + MAGIC_AT, min(len(data), length + MAGIC_AT)):
        at = found.start() - MAGIC_AT
        total = _total(data, at, most)
        if not total or at + total > len(data) or spent + total > most + CRC_WORK * at:
            continue
        spent += total
        if _sealed(data, at, at + total) and _belongs(data, at, at + total, most):
            yield at


def _belongs(data: bytes, at: int, behind: int, most: int) -> bool:
    """Whether an entry of the log stands at `at`, by what follows `behind` it."""
    if behind + THROUGH_MAGIC > len(data):
        return _later(data, 0, at)
    total = _total(data, behind, most)
    if not total or not _later(data, at, behind):
        return False
    return _later(data, 0, at) or (behind + total <= len(data) and _sealed(data, behind, behind + total))


def _later(data: bytes, at: int, other: int) -> bool:
    """Whether the offset of the entry at `other` comes after that of the one at `at`, and not long after."""
    first, second = (int.from_bytes(data[place : place + 8], "big", signed=True) for place in (at, other))
    return 0 < second - first < FAR


def _total(data: bytes, at: int, most: int) -> int:
    """The bytes that the entry at `at` claims; 0 if none can begin there."""
    try:
        frame = announced(Reader(data, pos=at), most)
    except Rejected:
        return 0
    fits = frame is not None and frame.total - OVERHEAD >= LEAST[frame.magic]
    return frame.total if frame is not None and fits else 0


def _sealed(data: bytes, at: int, end: int) -> bool:
    """Whether the checksum of the entry from `at` to `end` is right: kafka.md §1.1, §2.1."""
    batch = data[at + MAGIC_AT] == 2
    place, first = (at + 17, at + 21) if batch else (at + 12, at + 16)
    if first >= end:
        return False
    stored = int.from_bytes(data[place : place + 4], "big")
    covered = data[first:end]
    return stored == (crc32c(covered) if batch else crc32(covered))
