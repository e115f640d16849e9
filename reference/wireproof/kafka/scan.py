"""`kafka.log` scanned: every byte of a stream goes to a frame, to garbage or to the tail. Design, section 3.

* An entry that decodes is a frame. One that is refused is garbage of its own size, with its class.
* Where size or magic cannot be right (kafka.md §1.4 steps 2, 3 and 5, §1.5 first row) nothing says where
  the next entry begins: garbage lasts to the next position where a whole entry with a right CRC stands,
  or to the end.
* An entry that is cut by the end of the stream is the tail. There is one at most, and it comes last.

Memory: at most one entry and one chunk are held; sizes above `ENTRY_MOST` (or the option `max_message`)
cannot be right. Time: linear. While it looks for the next entry the scan reads each byte once, and in
checksums `CRC_WORK` times as many bytes as it has passed over, besides the first `ENTRY_MOST`; candidates
beyond that are passed over, so that bytes made of nothing but beginnings of entries cost no more.
"""

import re
from collections.abc import Iterable, Iterator
from struct import Struct
from typing import Final

from wireproof.kafka import entry
from wireproof.kafka.frame import OVERHEAD, THROUGH_MAGIC, announced, measure
from wireproof.wire.checksums import crc32, crc32c
from wireproof.wire.classes import RejectClass
from wireproof.wire.items import Item
from wireproof.wire.options import Options
from wireproof.wire.reader import Budget, Reader
from wireproof.wire.rejected import Rejected

ENTRY_MOST: Final = 64 * 1024 * 1024
CRC_WORK: Final = 8
MAGIC_AT: Final = THROUGH_MAGIC - 1
NONE: Final = -1
SIZE: Final = Struct(">I")

MAGIC: Final = re.compile(
    rb"(?<=\0\0\0[\x0e-\xff].{4}|\0\0[^\0].{5}|\0[^\0].{6}|[\x01-\x7f].{7})[\0-\2]", re.DOTALL
)
"""A magic of 0 to 2 with a size of 14 or more where a size stands."""


class Source:
    """The part of a stream that is not accounted for yet.

    Attributes:
        data: its bytes, as far as they were asked for.
        at: where they begin in the stream.
    """

    __slots__ = ("_chunks", "at", "data")

    def __init__(self, chunks: Iterable[bytes]) -> None:
        """Stand at the beginning of the stream."""
        self._chunks = iter(chunks)
        self.data = bytearray()
        self.at = 0

    def need(self, length: int) -> bool:
        """Ask for `length` bytes; False if the stream ends before."""
        while len(self.data) < length:
            chunk = next(self._chunks, None)
            if chunk is None:
                return False
            self.data += chunk
        return True

    def drop(self, length: int) -> None:
        """Account for the first `length` bytes."""
        del self.data[:length]
        self.at += length


def scan(chunks: Iterable[bytes], options: Options) -> Iterator[Item]:
    """The items of a stream, in order; positions in remarks count from the beginning of their frame."""
    source = Source(chunks)
    most = ENTRY_MOST if options.max_message is None else options.max_message
    while source.need(1):
        yield _next(source, most, options)


def _next(source: Source, most: int, options: Options) -> Item:
    source.need(THROUGH_MAGIC)
    try:
        frame = announced(Reader(bytes(source.data[:THROUGH_MAGIC])), most)
        if frame is None or not source.need(frame.total):
            return _taken(source, "tail", len(source.data))
        reader = Reader(bytes(source.data[: frame.total]), budget=Budget(options.max_output))
        measure(reader, most)
    except Rejected as refused:
        return _garbage(source, most, refused.cls)
    try:
        value = entry.read(reader, frame, options)
    except Rejected as refused:
        return _taken(source, "garbage", frame.total, refused.cls)
    item = Item("frame", source.at, frame.total, value, remarks=tuple(reader.remarks))
    source.drop(frame.total)
    return item


def _taken(source: Source, kind: str, length: int, cls: RejectClass | None = None) -> Item:
    item = Item("tail" if kind == "tail" else "garbage", source.at, length, cls=cls)
    source.drop(length)
    return item


def _garbage(source: Source, most: int, cls: RejectClass) -> Item:
    """Drop bytes up to the next entry: at least one, since none begins here."""
    start, spent, position = source.at, 0, 1
    while (position := _candidate(source, position, most)) != NONE:
        total = _size(source.data, position) + OVERHEAD
        if spent + total <= most + CRC_WORK * (source.at + position - start):
            source.drop(position)
            position = 0
            if source.need(total):
                spent += total
                if _sealed(source.data, total):
                    break
        position += 1
    return Item("garbage", start, source.at - start, cls=cls)


def _candidate(source: Source, position: int, most: int) -> int:
    """The next position in `source.data` where an entry may begin; `NONE`, and all is dropped, at the end."""
    while True:
        found = MAGIC.search(source.data, position + MAGIC_AT)
        if found is None:
            source.drop(max(len(source.data) - MAGIC_AT, position))
            position = 0
            if not source.need(THROUGH_MAGIC):
                source.drop(len(source.data))
                return NONE
            continue
        position = found.start() - MAGIC_AT
        if _size(source.data, position) <= most:
            return position
        position += 1


def _size(data: bytearray, position: int) -> int:
    size: int = SIZE.unpack_from(data, position + 8)[0]
    return size


def _sealed(data: bytearray, total: int) -> bool:
    """Whether the CRC of the entry at the beginning of `data` holds: kafka.md §1.1, §2.1."""
    batch = data[MAGIC_AT] == 2
    at, first = (17, 21) if batch else (12, 16)
    stored = int.from_bytes(data[at : at + 4], "big")
    covered = bytes(memoryview(data)[first:total])
    return stored == (crc32c(covered) if batch else crc32(covered))
