"""Read spans into Arrow batches, and check that the items cover every byte."""

import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, Final, TypeVar

import pyarrow as pa
from attrs import frozen

from wireproof.spark.arrow_batches import make_batches
from wireproof.spark.columns import HEADER_BYTES, EntryColumns, RowData, SourceColumn, SourceTable
from wireproof.spark.errors import SourceError
from wireproof.spark.object_places import ObjectPlace, filesystem
from wireproof.spark.object_reader import REMOTE_WINDOW, ObjectReader
from wireproof.spark.object_spans import ObjectSpan
from wireproof.spark.salvage import salvage_bytes
from wireproof.spark.split_points import StreamFraming
from wireproof.wire.options import Options
from wireproof.wire.reject_classes import RejectClass
from wireproof.wire.scan_items import Item

PIECE_BYTES: Final = 1024 * 1024

Part = TypeVar("Part", bound=Item | EntryColumns)
"""A part of a span: one item, or entries as columns."""


class CoverageError(SourceError):
    """The items of a span do not cover it: a bug of this program, not damage in the object."""


@frozen
class ReadRequest:
    """The rows to make.

    Attributes:
        framing, options: the way to read the bytes.
        table, columns, schema: the rows and their columns, in the order of the schema.
        max_unpacked: the greatest number of decompressed bytes of a compressed object.
    """

    framing: StreamFraming
    options: Options
    table: SourceTable
    columns: tuple[SourceColumn, ...]
    schema: pa.Schema
    max_unpacked: int


def read_spans(spans: Iterable[ObjectSpan], request: ReadRequest) -> Iterator[pa.RecordBatch]:
    """Yield the rows of all spans, in order.

    Raises:
        SourceError: an object is gone, or shorter than it was when the spans were made.
        CoverageError: the items do not cover a span.
    """
    return make_batches(_span_parts(spans, request), request.table, request.columns, request.schema)


def _span_parts(spans: Iterable[ObjectSpan], request: ReadRequest) -> Iterator[RowData | EntryColumns]:
    """Yield the parts of all spans, as the fast decoder returns them if there is one, else the reference."""
    fmt, framing = request.framing.fmt, request.framing
    revision = None if fmt.revision == "mixed" else fmt.revision
    decode = request.table.decode or partial(framing.items, framing)
    for span in spans:
        with open_span(span, request.max_unpacked) as (stored, start, end, fault):
            parts = span.known or decode(stored, start, end, request.options)
            for part in check_coverage(parts, stored, start, end):
                if isinstance(part, Item):
                    yield RowData(stored, part, _head(stored, part), revision)
                else:
                    yield part
            if fault is not None:
                yield RowData(stored, Item("garbage", end, 0, cls=fault), b"", revision)


def _head(stored: ObjectReader, item: Item) -> bytes:
    length = min(HEADER_BYTES, item.length)
    data, at = stored.at(item.at, length)
    return data[at : at + length]


def check_coverage(parts: Iterable[Part], stored: ObjectReader, start: int, end: int) -> Iterator[Part]:
    """Yield the parts of a span, checking that they cover it from `start` to `end` without gaps."""
    at = start
    for part in parts:
        first, last = _extent(part)
        if first != at or last <= first:
            raise CoverageError(
                f"{stored.display_name}: expected the next item at {at}, got bytes {first} to {last}"
            )
        at = last
        yield part
    if at != end:
        raise CoverageError(f"{stored.display_name}: the items of bytes {start} to {end} end at {at}")


def _extent(part: Item | EntryColumns) -> tuple[int, int]:
    """Return the first position and the end of a part; the end is -1 if its entries leave a gap."""
    if isinstance(part, Item):
        return part.at, part.at + part.length
    position = part.entries.column("position").to_numpy()
    length = part.entries.column("length").to_numpy()
    gap = (position[1:] != (position + length)[:-1]).any() or (length <= 0).any()
    return int(position[0]), -1 if gap else int(position[-1] + length[-1])


@contextmanager
def open_span(
    span: ObjectSpan, max_unpacked: int
) -> Iterator[tuple[ObjectReader, int, int, RejectClass | None]]:
    """Open a span: give its bytes, its start and end in them, and the error of the decompression, if any.

    A compressed object is decompressed to a temporary file first.
    """
    if span.place.compression is None:
        stored = ObjectReader.of(span.place)
        stored.window = REMOTE_WINDOW
        try:
            yield stored, span.start, span.end, None
        finally:
            stored.close()
        return
    with tempfile.TemporaryFile() as file:
        size, fault = _unpack(span.place, file, max_unpacked)
        yield ObjectReader(_TemporaryFile(file), span.place.display_name, size, REMOTE_WINDOW), 0, size, fault


def _unpack(place: ObjectPlace, file: Any, most: int) -> tuple[int, RejectClass | None]:  # noqa: ANN401 - a file
    """Decompress the object into `file`: return the number of bytes and the error that ended it, if any."""
    size = 0
    stream = filesystem(place.store).open_input_stream(place.path, compression=place.compression)
    while True:
        try:
            piece = stream.read(PIECE_BYTES)
        except OSError:  # damaged or cut; the bytes before that are read all the same
            return size + _salvage(place, file, size, most), "decompress-failed"
        if not piece:
            return size, None
        file.write(piece)
        size += len(piece)
        if size > most:
            return size, "limit-exceeded"


def _salvage(place: ObjectPlace, file: Any, known: int, most: int) -> int:  # noqa: ANN401 - a file
    """Decompress the bytes after the first `known` ones into `file`; return their number."""
    assert place.compression is not None, "it was unpacked"
    size = 0
    with filesystem(place.store).open_input_stream(place.path, compression=None) as stream:
        for piece in salvage_bytes(iter(lambda: stream.read(PIECE_BYTES), b""), place.compression):
            size += len(piece)
            file.write(piece[max(known - size, -len(piece)) :] if size > known else b"")
            if size > most:
                break
    return max(size - known, 0)


@frozen
class _TemporaryFile:
    """A temporary file, with the one method that `ObjectReader` needs."""

    file: Any

    def read_at(self, length: int, position: int) -> bytes:
        self.file.seek(position)
        data: bytes = self.file.read(length)
        return data
