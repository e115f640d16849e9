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
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Final

from wireproof.kafka import entry
from wireproof.kafka.size_and_magic import (
    HEADER_SIZE_UP_TO_MAGIC,
    LOG_OVERHEAD,
    MAGIC_AT,
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
        sizes.append(rb"\0[\x01-%b].{2}" % _escaped(0xFF if first else second))
    if first > 1:
        sizes.append(rb"[\x01-%b].{3}" % _escaped(first - 1))
    if first:
        sizes.append(rb"%b[\0-%b].{2}" % (_escaped(first), _escaped(second)))
    return re.compile(rb"(?<=(?:%b).{4})[\0-\2]" % b"|".join(sizes), re.DOTALL)


def _escaped(byte: int) -> bytes:
    return rb"\x%02x" % byte


SIZE_AND_MAGIC: Final = size_and_magic()


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
    start = source.at
    position = 1
    while True:
        found = SIZE_AND_MAGIC.search(source.data, position + MAGIC_AT)
        if found is None:
            source.drop(max(len(source.data) - MAGIC_AT, position))
            position = 0
            if not source.need(HEADER_SIZE_UP_TO_MAGIC):
                source.drop(len(source.data))
                return
            continue
        position = found.start() - MAGIC_AT
        if (size := _size(source.data, position)) <= max_size:
            at = source.at + position
            yield at - start, size + LOG_OVERHEAD
            position = at - source.at
        position += 1


def _size(data: bytearray, position: int) -> int:
    return int.from_bytes(data[position + SIZE_AT : position + LOG_OVERHEAD], "big")
