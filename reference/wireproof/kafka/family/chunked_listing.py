"""List a Kafka log chunk by chunk: whole sound entries by a quick reader, all else by the reference."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from attrs import frozen

from wireproof.cases.byte_source import ByteSource, ShrunkError
from wireproof.cases.log_survey import FREE_BYTES, WORK_FACTOR, survey_items
from wireproof.family import EntryRows
from wireproof.formats import FORMATS
from wireproof.wire.options import Options
from wireproof.wire.scan_items import Item

LOG: Final = FORMATS["kafka.log/mixed"]

Chunk = bytes | memoryview


@frozen
class ReadChunk:
    """What a quick reader found in a chunk.

    Attributes:
        at: where it stopped: at the end, at an entry that the end cuts, and where the reference must look.
        is_broken: whether it stopped because there is no whole entry.
        rows: returns the whole entries before; it may wait for a thread that reads them.
    """

    at: int
    is_broken: bool
    rows: Callable[[], Iterable[EntryRows | Item]]


ChunkReader = Callable[[Chunk, int], ReadChunk]
"""Reads the whole entries at the beginning of a chunk, given its position."""


@frozen
class LogChunks:
    """The bytes of a log in chunks.

    Attributes:
        source: the bytes.
        first, most: bytes of the first chunk and of the largest; a larger entry gets one of its size.
        keeps: whether what is listed refers to the bytes, so that their memory is not used again.
        ahead: chunks that are read before the rows of the one before them are taken.
    """

    source: ByteSource
    first: int
    most: int
    keeps: bool = False
    ahead: int = 0

    def read(self, at: int, size: int, number: int) -> Chunk:
        """Return the chunk of a number, which counts from 0."""
        return (
            self.source.read(at, size)
            if self.keeps
            else self.source.view(at, size, number % (self.ahead + 1))
        )


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
    at, reread, number = begin, 0, 0
    waiting: deque[ReadChunk] = deque()
    while at < source.size:
        base = at
        try:
            chunk = chunks.read(at, size, number)
        except ShrunkError:
            yield from _rows(waiting)
            raise
        waiting.append(found := read(chunk, base))
        at, number = base + found.at, number + 1
        is_last = base + len(chunk) >= source.size
        size = min(2 * size, chunks.most) if at > base else 2 * max(size, len(chunk))
        is_odd = at < source.size and (found.is_broken or is_last)
        while len(waiting) > (0 if is_odd else chunks.ahead):
            yield from waiting.popleft().rows()
        if is_odd:
            size, reread = chunks.first, reread + len(chunk)
            alone = reread > FREE_BYTES + WORK_FACTOR * at
            if found.is_broken and not alone and (skipped := garbage(at)) is not None:
                yield skipped
                at += skipped.length
                continue
            for item in survey_items(LOG, source, options, at):
                at = item.at + item.length
                yield item
                if item.kind == "frame" and not alone:
                    break
    yield from _rows(waiting)


def _rows(waiting: Iterable[ReadChunk]) -> Iterator[EntryRows | Item]:
    for one in waiting:
        yield from one.rows()
