"""The scan of format `kafka.log`: it divides a stream into frames, garbage and a tail.

* An entry that decodes is a frame. An entry that is rejected is garbage of the same size, with its class.
* An invalid size or magic (kafka.md §1.4 steps 2, 3 and 5, §1.5 first row) does not show where the next entry
  begins. The garbage then ends at the next position of a whole entry with a valid CRC, or at the end.
* An entry that is cut by the end of the stream is the tail. There is at most one, and it is the last item.

Memory: one entry and one chunk at most, because a size above `MAX_ENTRY` (or the option `max_message`) is
invalid. Time: linear. During the search for the next entry each byte is read once, and the checksums of
candidates read no more than `next_valid` allows.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Final

from wireproof.kafka import entry
from wireproof.kafka.batch import BATCH
from wireproof.kafka.size_and_magic import (
    HEADER_SIZE_UP_TO_MAGIC,
    LOG_OVERHEAD,
    MAGIC_AT,
    MIN_SIZE_BY_MAGIC,
    SIZE_AT,
    has_valid_crc,
    peek_size_and_magic,
    peek_whole_entry,
)
from wireproof.wire.options import Options
from wireproof.wire.reader import Budget, Reader
from wireproof.wire.rejection import RejectClass, Rejected
from wireproof.wire.scan_items import Item, StreamBuffer, next_valid, scan_items

MAX_ENTRY: Final = 64 * 1024 * 1024
"""Default limit for the size of an entry in bytes."""


@lru_cache(maxsize=64)
def size_and_magic(highest: int = 0x7FFF) -> re.Pattern[bytes]:
    """Return the pattern of a magic of 0 to 2, 4 bytes after a size of 14 or more.

    `highest` limits the upper 16 bits of the size.
    """
    first, second = divmod(min(highest, 0x7FFF), 256)
    sizes = [rb"\0\0\0[\x0e-\xff]", rb"\0\0[^\0]."]
    if first or second:
        sizes.append(rb"\0[\x01-\x%02x].{2}" % (0xFF if first else second))
    if first > 1:
        sizes.append(rb"[\x01-\x%02x].{3}" % (first - 1))
    if first:
        sizes.append(rb"\x%02x[\0-\x%02x].{2}" % (first, second))
    return re.compile(rb"(?<=(?:%b).{4})[\0-\2]" % b"|".join(sizes), re.DOTALL)


def scan(chunks: Iterable[bytes], options: Options) -> Iterator[Item]:
    """Yield the items of a stream in order; positions in remarks are relative to the start of the frame."""
    max_size = MAX_ENTRY if options.max_message is None else options.max_message
    return scan_items(chunks, lambda source: _next(source, max_size, options))


def _next(source: StreamBuffer, max_size: int, options: Options) -> Item:
    source.need(HEADER_SIZE_UP_TO_MAGIC)
    try:
        prefix = peek_size_and_magic(Reader(bytes(source.data[:HEADER_SIZE_UP_TO_MAGIC])), max_size)
        if prefix is None or not source.need(prefix.total):
            return source.take(Item("tail", source.at, len(source.data)))
        reader = Reader(bytes(source.data[: prefix.total]), budget=Budget(options.max_output))
        peek_whole_entry(reader, max_size)
    except Rejected as rejected:
        return _garbage(source, max_size, rejected.cls)
    try:
        value = entry.read(reader, prefix, options)
    except Rejected as rejected:
        return source.take(Item("garbage", source.at, prefix.total, cls=rejected.cls))
    return source.take(Item("frame", source.at, prefix.total, value, remarks=tuple(reader.remarks)))


def _garbage(source: StreamBuffer, max_size: int, cls: RejectClass) -> Item:
    """Return the garbage up to the next entry, at least one byte, and remove it from `source`."""
    start = source.at

    def is_valid(at: int, end: int) -> bool | None:
        source.drop(start + at - source.at)
        return has_valid_crc(source.data, 0, end - at) if source.need(end - at) else None

    next_valid(_candidates(source, max_size), is_valid, max_size)
    return Item("garbage", start, source.at - start, cls=cls)


def _candidates(source: StreamBuffer, max_size: int) -> Iterator[tuple[int, int]]:
    """Yield position and size of what may be entries, the position counted from here.

    At the end of the stream all bytes are removed from `source`.
    """
    start, pattern = source.at, size_and_magic()
    position = 1
    while True:
        found = pattern.search(source.data, position + MAGIC_AT)
        if found is None:
            source.drop(max(len(source.data) - MAGIC_AT, position))
            position = 0
            if not source.need(HEADER_SIZE_UP_TO_MAGIC):
                source.drop(len(source.data))
                return
            continue
        position = found.start() - MAGIC_AT
        size = int.from_bytes(source.data[position + SIZE_AT : position + LOG_OVERHEAD])
        if size <= max_size:
            at = source.at + position
            yield at - start, size + LOG_OVERHEAD
            position = at - source.at
        position += 1


# --- the search for valid entries inside the bytes that a damaged size claims: kafka.md §1.4 ---
#
# No checksum covers the size of an entry, and a scan trusts it. If damage makes it larger, the entry swallows
# the entries after it, or it looks like an entry that the end of the file cuts. The search trusts a size only
# if another entry, or the end of the bytes, follows at the position that it gives.


MAX_OFFSET_GAP: Final = 1 << 32
"""Upper bound of the difference of two offsets in one segment: its indexes store 32 bits."""

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
    # A size that leads to a later entry is trusted, whatever lies between: entries there may be a value of
    # this one, offsets of a compacted log have gaps, and a scan, which trusts sizes, names the same bytes.
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
    step = 1 << 16  # bytes that are searched with the same limit of a size
    for begin in range(1 + MAGIC_AT, stop, step):
        most = min(max_size, len(data) - begin + MAGIC_AT - LOG_OVERHEAD)
        for found in size_and_magic(most >> 16).finditer(data, begin, min(begin + step, stop)):
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
    delta_at = BATCH.offset("lastOffsetDelta")
    delta = int.from_bytes(data[delta_at : delta_at + 4], signed=True) if data[MAGIC_AT] == 2 else 0
    if _offset(data, at) == _offset(data, 0) + delta + 1:
        return total > 0 or end + HEADER_SIZE_UP_TO_MAGIC > len(data)
    later = _later(data, at, end) if total else False
    return later and end + total <= len(data) and has_valid_crc(data, end, end + total)


def _offset(data: bytes, at: int) -> int:
    return int.from_bytes(data[at : at + SIZE_AT], "big", signed=True)


def _later(data: bytes, at: int, other: int) -> bool:
    """Return True if the offset at `other` is after the one at `at`, by less than `MAX_OFFSET_GAP`."""
    return 0 < _offset(data, other) - _offset(data, at) < MAX_OFFSET_GAP


def _total(data: bytes, at: int, max_size: int) -> int:
    """Return the size in bytes that the entry at `at` claims; 0 if no entry can begin there."""
    try:
        prefix = peek_size_and_magic(Reader(data, pos=at), max_size)
    except Rejected:
        return 0
    if prefix is None or prefix.total - LOG_OVERHEAD < MIN_SIZE_BY_MAGIC[prefix.magic]:
        return 0
    return prefix.total
