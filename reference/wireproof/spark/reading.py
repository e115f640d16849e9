"""Read spans into Arrow batches, and check that the items cover every byte."""

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
from wireproof.wire.options import Options
from wireproof.wire.reject_classes import RejectClass
from wireproof.wire.scan_items import Item

PIECE: Final = 1024 * 1024
FAST_ROWS: Final = 65536
"""Rows of a batch whose columns hold no bytes."""

Part: TypeAlias = fast.Rows | Records
"""A part of a span: entries as columns, records as columns, or one item."""


class AccountError(SourceError):
    """The items of a span do not cover it: a bug of this program, not damage in the object."""


@frozen
class Wanted:
    """The rows to make.

    Attributes:
        framing, options: the way to read the bytes.
        table, columns, schema: the rows and their columns, in the order of the schema.
        max_unpacked: the greatest number of decompressed bytes of a compressed object.
    """

    framing: Framing
    options: Options
    table: Table
    columns: tuple[Column, ...]
    schema: pa.Schema
    max_unpacked: int


def read(spans: Iterable[Span], request: Wanted) -> Iterator[pa.RecordBatch]:
    """Yield the rows of all spans, in order.

    Raises:
        SourceError: an object is gone, or shorter than it was when the spans were made.
        CoverageError: the items do not cover a span.
    """
    return batches(_rows(spans, request), request.columns, request.schema)


def _rows(spans: Iterable[Span], request: Wanted) -> Iterator[Line | pa.RecordBatch]:
    fmt = request.framing.fmt
    revision = None if fmt.revision == "mixed" else fmt.revision
    for span in spans:
        with opened(span, request.max_unpacked) as (stored, start, end, fault):
            for part in accounted(_parts(stored, start, end, request), stored, start, end):
                match part:
                    case Item():
                        yield from request.table.rows(Line(stored, part, _head(stored, part), revision))
                    case Records():
                        yield from _slices(fast_records.shown(part, stored, request.schema))
                    case _:
                        yield from _slices(fast.shown(part, stored, request.schema))
            if fault is not None:
                yield Line(stored, Item("garbage", end, 0, cls=fault), b"", revision)


def _parts(stored: Stored, start: int, end: int, request: Wanted) -> Iterator[Part]:
    """Yield the parts of a span; Kafka logs are read through `columnar`."""
    match request.table.fast:
        case "heads":
            return fast.rows(stored, start, end, request.options)
        case "records":
            return fast_records.parts(stored, start, end, request.options)
        case None:
            return request.framing.items(request.framing, stored, start, end, request.options)


def _head(stored: Stored, item: Item) -> bytes:
    length = min(HEAD, item.length)
    data, at = stored.at(item.at, length)
    return data[at : at + length]


def _slices(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """Yield slices of limited size, which share the memory of the batch."""
    step = max(1, min(FAST_ROWS, batch.num_rows * BYTES_MOST // max(batch.nbytes, 1)))
    return (batch.slice(at, step) for at in range(0, batch.num_rows, step))


def accounted(parts: Iterable[Part], stored: Stored, start: int, end: int) -> Iterator[Part]:
    """Yield the parts of a span, checking that they cover it from `start` to `end` without gaps."""
    at = start
    for part in parts:
        first, last = _extent(part)
        if first != at or last <= first:
            raise AccountError(
                f"{stored.display_name}: expected the next item at {at}, got bytes {first} to {last}"
            )
        at = last
        yield part
    if at != end:
        raise AccountError(f"{stored.display_name}: the items of bytes {start} to {end} end at {at}")


def _extent(part: Part) -> tuple[int, int]:
    """Return the first position and the end of a part; the end is -1 if its rows leave a gap."""
    if isinstance(part, Item | Records):
        return part.at, part.at + part.length
    position = part.column("position").to_numpy()
    length = part.column("length").to_numpy()
    gap = (position[1:] != (position + length)[:-1]).any() or (length <= 0).any()
    return int(position[0]), -1 if gap else int(position[-1] + length[-1])


@contextmanager
def opened(span: Span, max_unpacked: int) -> Iterator[tuple[Stored, int, int, RejectClass | None]]:
    """Open a span: give its bytes, its start and end in them, and the error of the decompression, if any.

    A compressed object is decompressed to a temporary file first.
    """
    if span.place.compression is None:
        stored = Stored.of(span.place)
        stored.window = FAR
        try:
            yield stored, span.start, span.end, None
        finally:
            stored.close()
        return
    with tempfile.TemporaryFile() as file:
        size, fault = _unpack(span.place, file, max_unpacked)
        yield Stored(_TemporaryFile(file), span.place.display_name, size, FAR), 0, size, fault


def _unpack(place: Place, file: Any, most: int) -> tuple[int, RejectClass | None]:  # noqa: ANN401 - a file
    """Decompress the object into `file`: return the number of bytes and the error that ended it, if any."""
    size = 0
    stream = filesystem(place.store).open_input_stream(place.path, compression=place.compression)
    while True:
        try:
            piece = stream.read(PIECE)
        except OSError:  # damaged or cut; the bytes before that are read all the same
            return size + _salvage(place, file, size, most), "decompress-failed"
        if not piece:
            return size, None
        file.write(piece)
        size += len(piece)
        if size > most:
            return size, "limit-exceeded"


def _salvage(place: Place, file: Any, known: int, most: int) -> int:  # noqa: ANN401 - a file
    """Decompress the bytes after the first `known` ones into `file`; return their number."""
    assert place.compression is not None, "it was unpacked"
    size = 0
    with filesystem(place.store).open_input_stream(place.path, compression=None) as stream:
        for piece in salvaged(iter(lambda: stream.read(PIECE), b""), place.compression):
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
