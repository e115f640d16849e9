"""List a Kafka log chunk by chunk: whole sound entries by a quick reader, all else by the reference."""

from collections.abc import Callable, Generator, Iterator
from typing import Final

from attrs import frozen

from wireproof.cases.byte_source import ByteSource
from wireproof.cases.log_survey import FREE_BYTES, WORK_FACTOR, survey_items
from wireproof.family import EntryRows
from wireproof.formats import FORMATS
from wireproof.wire.options import Options
from wireproof.wire.scan_items import Item

LOG: Final = FORMATS["kafka.log/mixed"]

Chunk = bytes | memoryview


@frozen
class ChunkEnd:
    """Where the quick reader stopped in a chunk, and whether it is because there is no whole entry."""

    at: int
    is_broken: bool


ChunkReader = Callable[[Chunk, int], Generator[EntryRows | Item, None, ChunkEnd]]
"""Yields the whole entries at the beginning of a chunk, given its position; returns where it stopped.

It stops at the end, at an entry that the end cuts, and where the reference must look.
"""


@frozen
class LogChunks:
    """The bytes of a log in chunks.

    Attributes:
        source: the bytes.
        first, most: bytes of the first chunk and of the largest; a larger entry gets one of its size.
        keeps: whether what is listed refers to the bytes, so that their memory is not used again.
    """

    source: ByteSource
    first: int
    most: int
    keeps: bool = False

    def read(self, at: int, size: int) -> Chunk:
        """Return a chunk."""
        return self.source.read(at, size) if self.keeps else self.source.view(at, size)


GarbageReader = Callable[[int], Item | None]
"""Returns the garbage at a position, as the reference does, but quickly; None if the reference must look."""


def list_chunks(
    chunks: LogChunks,
    options: Options,
    begin: int,
    read: ChunkReader,
    garbage: GarbageReader = lambda _: None,
) -> Iterator[EntryRows | Item]:
    """Yield the entries from a position on; the reference searches for the next one where there is none."""
    source, size = chunks.source, chunks.first
    at, reread = begin, 0
    while at < source.size:
        base, chunk = at, chunks.read(at, size)
        end = yield from read(chunk, base)
        at = base + end.at
        is_last = base + len(chunk) >= source.size
        size = min(2 * size, chunks.most) if at > base else 2 * max(size, len(chunk))
        if at < source.size and (end.is_broken or is_last):
            size, reread = chunks.first, reread + len(chunk)
            alone = reread > FREE_BYTES + WORK_FACTOR * at
            if end.is_broken and not alone and (found := garbage(at)) is not None:
                yield found
                at += found.length
                continue
            for item in survey_items(LOG, source, options, at):
                at = item.at + item.length
                yield item
                if item.kind == "frame" and not alone:
                    break
