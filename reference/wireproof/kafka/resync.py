"""Where sound entries go on inside bytes that a damaged size claims. kafka.md §1.4.

No checksum covers the size of an entry. A scan believes it: an entry whose size became larger swallows the
entries behind it, or looks as if the end of the file had cut it. Here the size is doubted, and believed only
if another entry, or the end of the bytes, follows where it says.
"""

from collections.abc import Callable, Iterator
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


def certain(read: Callable[[int, int], bytes], at: int, options: Options) -> bool:
    """Whether two whole entries with right checksums and rising offsets stand at `at`, back to back.

    Args:
        read: gives the bytes at a position, as many as there are.
        at: where a scan ended a run of garbage.
        options: as for `resumed`.
    """
    most = ENTRY_MOST if options.max_message is None else options.max_message
    total = _total(read(at, THROUGH_MAGIC), 0, most)
    behind = _total(read(at + total, THROUGH_MAGIC), 0, most) if total else 0
    if not behind:
        return False
    data = read(at, total + behind)
    ends = len(data) == total + behind and _later(data, 0, total)
    return ends and _sealed(data, 0, total) and _sealed(data, total, total + behind)


def _followed(data: bytes, length: int, most: int) -> Iterator[int]:
    """The places before `length` where an entry with a right checksum stands that belongs to the log.

    A batch may also stand in a value, which is cut: what belongs to the log has the offset behind that of the
    damaged entry, or a later one and another whole entry behind it.
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
    """Whether an entry of the log stands at `at`, by its offset and by what follows `behind` it."""
    total = _total(data, behind, most)
    if _offset(data, at) == _last(data) + 1:
        return total > 0 or behind + THROUGH_MAGIC > len(data)
    later = _later(data, at, behind) if total else False
    return later and behind + total <= len(data) and _sealed(data, behind, behind + total)


def _offset(data: bytes, at: int) -> int:
    return int.from_bytes(data[at : at + 8], "big", signed=True)


def _last(data: bytes) -> int:
    """The last offset that the damaged entry stands for."""
    delta = int.from_bytes(data[23:27], "big", signed=True) if data[MAGIC_AT] == 2 else 0
    return _offset(data, 0) + delta


def _later(data: bytes, at: int, other: int) -> bool:
    """Whether the offset of the entry at `other` comes after that of the one at `at`, and not long after."""
    return 0 < _offset(data, other) - _offset(data, at) < FAR


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
