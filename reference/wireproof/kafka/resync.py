"""The search for valid entries inside the bytes that a damaged size claims. kafka.md §1.4.

No checksum covers the size of an entry, and a scan trusts it. If damage makes it larger, the entry swallows
the entries after it, or it looks like an entry that the end of the file cuts. This module trusts a size only
if another entry, or the end of the bytes, follows at the position that it gives.
"""

from collections.abc import Callable, Iterator
from typing import Final

from wireproof.kafka.layouts import BATCH
from wireproof.kafka.scan import MAX_ENTRY, size_and_magic
from wireproof.kafka.size_and_magic import (
    HEADER_SIZE_UP_TO_MAGIC,
    LOG_OVERHEAD,
    MAGIC_AT,
    MIN_SIZE_BY_MAGIC,
    SIZE_AT,
    has_valid_crc,
    peek_size_and_magic,
)
from wireproof.wire.options import Options
from wireproof.wire.reader import Reader
from wireproof.wire.rejection import Rejected
from wireproof.wire.scan_items import next_valid

MAX_OFFSET_GAP: Final = 1 << 32
"""Upper bound of the difference of two offsets in one segment: its indexes store 32 bits."""

SEARCHED: Final = 1 << 16
"""Bytes that are searched with the same limit of a size."""

LOOKAHEAD: Final = 1 << 20
"""Bytes after an entry that the caller gives to `damaged_length`; usually the next entry is whole in them."""


def damaged_length(data: bytes, length: int, options: Options) -> int:
    """Return the size of the damaged part at the beginning of `data`; 0 if the size field may be right.

    Args:
        data: the entry that was rejected or is cut, and up to `LOOKAHEAD` bytes after it.
        length: the size of the item that the scan made of it.
        options: `max_message` limits the size of an entry.
    """
    max_size = MAX_ENTRY if options.max_message is None else options.max_message
    total = _total(data, 0, max_size)
    if total == 0:  # the size is invalid, so the scan already searched for the next entry
        return 0
    if total == len(data) or (total < len(data) and _later(data, 0, total) and _total(data, total, max_size)):
        return 0
    if total > len(data) > HEADER_SIZE_UP_TO_MAGIC and has_valid_crc(data, 0, len(data)):
        return len(data)
    return (
        next_valid(
            _whole_candidates(data, min(len(data), length + MAGIC_AT), max_size),
            lambda at, end: has_valid_crc(data, at, end) and _belongs_to_log(data, at, end, max_size),
            max_size,
        )
        or 0
    )


def two_entries_begin_at(read: Callable[[int, int], bytes], at: int, options: Options) -> bool:
    """Return True if two entries with valid checksums and increasing offsets begin at `at`, back to back.

    Args:
        read: returns the bytes at a position, up to a length.
        at: the position where a scan ended a run of garbage.
        options: as for `damaged_length`.
    """
    max_size = MAX_ENTRY if options.max_message is None else options.max_message
    total = _total(read(at, HEADER_SIZE_UP_TO_MAGIC), 0, max_size)
    following = _total(read(at + total, HEADER_SIZE_UP_TO_MAGIC), 0, max_size) if total else 0
    if not following:
        return False
    data = read(at, total + following)
    whole = len(data) == total + following and _later(data, 0, total)
    return whole and has_valid_crc(data, 0, total) and has_valid_crc(data, total, total + following)


def _whole_candidates(data: bytes, stop: int, max_size: int) -> Iterator[tuple[int, int]]:
    """Yield position and length where size and magic are possible, and all bytes of an entry are there.

    The search passes over sizes that are too large for the bytes left: in bytes of any one value, every
    position may have a size.
    """
    for begin in range(1 + MAGIC_AT, stop, SEARCHED):
        most = min(max_size, len(data) - begin + MAGIC_AT - LOG_OVERHEAD)
        for found in size_and_magic(most >> 16).finditer(data, begin, min(begin + SEARCHED, stop)):
            at = found.start() - MAGIC_AT
            total = int.from_bytes(data[at + SIZE_AT : at + LOG_OVERHEAD]) + LOG_OVERHEAD
            if at + total <= len(data) and _total(data, at, max_size):
                yield at, total


def _belongs_to_log(data: bytes, at: int, end: int, max_size: int) -> bool:
    """Return True if the entry from `at` to `end` belongs to the log.

    A batch may also be part of a value of the damaged entry. An entry belongs to the log if its offset is the
    next one after the damaged entry, or if it is later and another whole entry follows.
    """
    total = _total(data, end, max_size)
    if _offset(data, at) == _last_offset(data) + 1:
        return total > 0 or end + HEADER_SIZE_UP_TO_MAGIC > len(data)
    later = _later(data, at, end) if total else False
    return later and end + total <= len(data) and has_valid_crc(data, end, end + total)


def _offset(data: bytes, at: int) -> int:
    return int.from_bytes(data[at : at + SIZE_AT], "big", signed=True)


def _last_offset(data: bytes) -> int:
    """Return the last offset in the range of the damaged entry."""
    at = BATCH.offset("lastOffsetDelta")
    delta = int.from_bytes(data[at : at + 4], "big", signed=True) if data[MAGIC_AT] == 2 else 0
    return _offset(data, 0) + delta


def _later(data: bytes, at: int, other: int) -> bool:
    """Return True if the offset at `other` is after the one at `at`, by less than `MAX_OFFSET_GAP`."""
    return 0 < _offset(data, other) - _offset(data, at) < MAX_OFFSET_GAP


def _total(data: bytes, at: int, max_size: int) -> int:
    """Return the size in bytes that the entry at `at` claims; 0 if no entry can begin there."""
    try:
        prefix = peek_size_and_magic(Reader(data, pos=at), max_size)
    except Rejected:
        return 0
    fits = prefix is not None and prefix.total - LOG_OVERHEAD >= MIN_SIZE_BY_MAGIC[prefix.magic]
    return prefix.total if prefix is not None and fits else 0
