"""Spans read into Arrow batches, with an account of every byte."""

import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Final

import pyarrow as pa
from attrs import frozen

from wireproof.spark.columns import HEAD, Column, Line, Table, batches
from wireproof.spark.errors import SourceError
from wireproof.spark.framing import Framing
from wireproof.spark.places import Place, filesystem
from wireproof.spark.spans import Span
from wireproof.spark.stored import FAR, Stored
from wireproof.wire.classes import RejectClass
from wireproof.wire.items import Item
from wireproof.wire.options import Options

PIECE: Final = 1024 * 1024


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


def _lines(spans: Iterable[Span], wanted: Wanted) -> Iterator[Line]:
    row = wanted.framing.row
    revision = None if row.revision == "mixed" else row.revision
    for span in spans:
        with _opened(span, wanted) as (stored, start, end, fault):
            for item in accounted(stored, start, end, wanted.framing, wanted.options):
                head = stored.at(item.at, min(HEAD, item.length))
                first = head[0][head[1] : head[1] + min(HEAD, item.length)]
                yield from wanted.table.lines(Line(stored, item, first, revision))
            if fault is not None:
                yield Line(stored, Item("garbage", end, 0, cls=fault), b"", revision)


def accounted(stored: Stored, start: int, end: int, framing: Framing, options: Options) -> Iterator[Item]:
    """The items of a span, held to cover it: each begins where the one before ended, the last at `end`."""
    at = start
    for item in framing.items(framing, stored, start, end, options):
        if item.at != at or item.length <= 0:
            raise AccountError(
                f"{stored.shown}: {item.kind} at {item.at}, {item.length} bytes, wanted at {at}"
            )
        at += item.length
        yield item
    if at != end:
        raise AccountError(f"{stored.shown}: the items of {start} to {end} end at {at}")


@contextmanager
def _opened(span: Span, wanted: Wanted) -> Iterator[tuple[Stored, int, int, RejectClass | None]]:
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
        size, fault = _unpack(span.place, room, wanted.max_unpacked)
        yield Stored(_Room(room), span.place.shown, size, FAR), 0, size, fault


def _unpack(place: Place, room: Any, most: int) -> tuple[int, RejectClass | None]:  # noqa: ANN401 - a file
    """Unpack the object into `room`: as much as comes out of it, and why that is not all."""
    size = 0
    stream = filesystem(place.store).open_input_stream(place.path, compression=place.compression)
    while True:
        try:
            piece = stream.read(PIECE)
        except OSError:  # the compressed bytes are damaged or cut; what came before is read all the same
            return size, "decompress-failed"
        if not piece:
            return size, None
        room.write(piece)
        size += len(piece)
        if size > most:
            return size, "limit-exceeded"


@frozen
class _Room:
    """A temporary file, with the one method that `Stored` needs."""

    file: Any

    def read_at(self, length: int, position: int) -> bytes:
        self.file.seek(position)
        data: bytes = self.file.read(length)
        return data
