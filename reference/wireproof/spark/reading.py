"""Spans read into Arrow batches, with an account of every byte."""

import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Final, TypeAlias

import pyarrow as pa
from attrs import frozen

from wireproof.spark import fast, fast_records
from wireproof.spark.columns import BYTES_MOST, HEAD, Column, Line, Table, batches
from wireproof.spark.errors import SourceError
from wireproof.spark.fast_records import Records
from wireproof.spark.framing import Framing
from wireproof.spark.places import Place, filesystem
from wireproof.spark.salvage import salvaged
from wireproof.spark.spans import Span
from wireproof.spark.stored import FAR, Stored
from wireproof.wire.classes import RejectClass
from wireproof.wire.items import Item
from wireproof.wire.options import Options

PIECE: Final = 1024 * 1024
FAST_ROWS: Final = 65536
"""Rows without bytes are small."""

Part: TypeAlias = "fast.Rows | Records"
"""What comes next in a span: entries in columns, records in columns, or one item."""


class AccountError(SourceError):
    """The items of a span do not cover it: a fault of this program, and not of the bytes."""


@frozen
class Wanted:
    """What rows to make of the items.

    Attributes:
        framing, options: how the bytes are read.
        table, columns, schema: what a row stands for and shows; the columns are in the schema's order.
        max_unpacked: bytes that a compressed object may unpack to.
    """

    framing: Framing
    options: Options
    table: Table
    columns: tuple[Column, ...]
    schema: pa.Schema
    max_unpacked: int


def read(spans: Iterable[Span], wanted: Wanted) -> Iterator[pa.RecordBatch]:
    """The rows of all spans, in order.

    Raises:
        SourceError: an object is gone, or shorter than it was when the spans were cut.
        AccountError: the bytes of the items are not those of a span.
    """
    return batches(_lines(spans, wanted), wanted.columns, wanted.schema)


def _lines(spans: Iterable[Span], wanted: Wanted) -> Iterator[Line | pa.RecordBatch]:
    row = wanted.framing.row
    revision = None if row.revision == "mixed" else row.revision
    for span in spans:
        with opened(span, wanted.max_unpacked) as (stored, start, end, fault):
            for part in accounted(_parts(stored, start, end, wanted), stored, start, end):
                match part:
                    case Item():
                        yield from wanted.table.lines(Line(stored, part, _head(stored, part), revision))
                    case Records():
                        yield from _slices(fast_records.shown(part, stored, wanted.schema))
                    case _:
                        yield from _slices(fast.shown(part, stored, wanted.schema))
            if fault is not None:
                yield Line(stored, Item("garbage", end, 0, cls=fault), b"", revision)


def _parts(stored: Stored, start: int, end: int, wanted: Wanted) -> Iterator[Part]:
    """Kafka logs go the fast way, with or without their records."""
    match wanted.table.fast:
        case "heads":
            return fast.rows(stored, start, end, wanted.options)
        case "records":
            return fast_records.parts(stored, start, end, wanted.options)
        case None:
            return wanted.framing.items(wanted.framing, stored, start, end, wanted.options)


def _head(stored: Stored, item: Item) -> bytes:
    length = min(HEAD, item.length)
    data, at = stored.at(item.at, length)
    return data[at : at + length]


def _slices(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """The batch in pieces of bounded size; they share its memory."""
    step = max(1, min(FAST_ROWS, batch.num_rows * BYTES_MOST // max(batch.nbytes, 1)))
    return (batch.slice(at, step) for at in range(0, batch.num_rows, step))


def accounted(parts: Iterable[Part], stored: Stored, start: int, end: int) -> Iterator[Part]:
    """The parts of a span, held to cover it: each begins where the one before ended, the last at `end`."""
    at = start
    for part in parts:
        first, last = _extent(part)
        if first != at or last <= first:
            raise AccountError(f"{stored.shown}: what is read at {first} ends at {last}, wanted at {at}")
        at = last
        yield part
    if at != end:
        raise AccountError(f"{stored.shown}: what is read of {start} to {end} ends at {at}")


def _extent(part: Part) -> tuple[int, int]:
    """The first byte, and the one behind the last; no last byte where rows leave a gap."""
    if isinstance(part, Item | Records):
        return part.at, part.at + part.length
    position = part.column("position").to_numpy()
    length = part.column("length").to_numpy()
    gap = (position[1:] != (position + length)[:-1]).any() or (length <= 0).any()
    return int(position[0]), -1 if gap else int(position[-1] + length[-1])


@contextmanager
def opened(span: Span, max_unpacked: int) -> Iterator[tuple[Stored, int, int, RejectClass | None]]:
    """The bytes of the span, where it lies in them, and what became of the compression around them."""
    if span.place.compression is None:
        stored = Stored.of(span.place)
        stored.window = FAR
        try:
            yield stored, span.start, span.end, None
        finally:
            stored.close()
        return
    with tempfile.TemporaryFile() as room:
        size, fault = _unpack(span.place, room, max_unpacked)
        yield Stored(_Room(room), span.place.shown, size, FAR), 0, size, fault


def _unpack(place: Place, room: Any, most: int) -> tuple[int, RejectClass | None]:  # noqa: ANN401 - a file
    """Unpack the object into `room`: as much as comes out of it, and why that is not all."""
    size = 0
    stream = filesystem(place.store).open_input_stream(place.path, compression=place.compression)
    while True:
        try:
            piece = stream.read(PIECE)
        except OSError:  # the compressed bytes are damaged or cut; what came before is read all the same
            return size + _salvage(place, room, size, most), "decompress-failed"
        if not piece:
            return size, None
        room.write(piece)
        size += len(piece)
        if size > most:
            return size, "limit-exceeded"


def _salvage(place: Place, room: Any, known: int, most: int) -> int:  # noqa: ANN401 - a file
    """Add to `room` what comes out behind the `known` bytes; gives how many bytes that are."""
    assert place.compression is not None, "it was unpacked"
    size = 0
    with filesystem(place.store).open_input_stream(place.path, compression=None) as stream:
        for piece in salvaged(iter(lambda: stream.read(PIECE), b""), place.compression):
            size += len(piece)
            room.write(piece[max(known - size, -len(piece)) :] if size > known else b"")
            if size > most:
                break
    return max(size - known, 0)


@frozen
class _Room:
    """A temporary file, with the one method that `Stored` needs."""

    file: Any

    def read_at(self, length: int, position: int) -> bytes:
        self.file.seek(position)
        data: bytes = self.file.read(length)
        return data
