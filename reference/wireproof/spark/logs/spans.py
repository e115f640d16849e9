"""Spans of objects: cut at split points, grouped into tasks of about equal size, read into Arrow batches."""

import bz2
import tempfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from functools import partial
from itertools import chain, pairwise
from typing import Any, Final, TypeVar

import pyarrow as pa
import zstandard
from attrs import frozen
from pyarrow import fs

from wireproof.spark.errors import LostObjectError, SourceError
from wireproof.spark.logs.columns import (
    HEADER_BYTES,
    EntryColumns,
    RowData,
    SourceColumn,
    make_batches,
)
from wireproof.spark.logs.objects import (
    REMOTE_WINDOW,
    LocalFile,
    ObjectPlace,
    ObjectReader,
    filesystem,
    lost,
)
from wireproof.spark.logs.sources import MAX_PARTITION_BYTES, SourceSettings
from wireproof.spark.logs.split_points import StreamFraming, find_split_points, scan_items
from wireproof.wire.options import Options
from wireproof.wire.rejection import RejectClass
from wireproof.wire.scan_items import Item

SLACK_FRACTION: Final = 8
"""A span or a task may exceed the grain by this fraction of it, because so small a rest is not worth one."""

LONG_GARBAGE: Final = 4 * 1024 * 1024
"""Bytes of garbage that are a span of their own: its end is known, so that no task searches it again."""


@frozen
class ObjectSpan:
    """The bytes of an object that one task reads.

    Attributes:
        place: the object, with the size that it had when the spans were made.
        start, end: split points. A compressed object has one span, from 0 to its stored size.
        garbage: the class of the garbage that it is, which is not searched again; None if it is to be read.
    """

    place: ObjectPlace
    start: int
    end: int
    garbage: RejectClass | None = None

    @property
    def known(self) -> tuple[Item, ...]:
        """Return the items of the span if they are known without reading it; else none."""
        if self.garbage is None:
            return ()
        return (Item("garbage", self.start, self.size, cls=self.garbage),)

    @property
    def size(self) -> int:
        """Return the number of bytes."""
        return self.end - self.start

    @property
    def weight(self) -> int:
        """Return the cost, in bytes to read; a compressed byte must be decompressed too."""
        if self.garbage is not None:
            return 1
        return self.size * (3 if self.place.compression else 1)


def whole_objects(places: Iterable[ObjectPlace]) -> list[ObjectSpan]:
    """Return a span of each whole object, to be cut."""
    return [ObjectSpan(place, 0, place.size) for place in places]


def part_of_object(
    framing: StreamFraming, options: Options, first: int, end: int, place: ObjectPlace
) -> ObjectSpan:
    """Return the part of an object whose items begin from `first` to before `end`.

    Raises:
        SourceError: the object is compressed.
    """
    if place.compression:
        raise SourceError(
            f"option positions: {place.display_name} is compressed: decompress it, or leave it out"
        )
    start, bounds = 0, list[int]()
    with closing(ObjectReader.of(place)) as stored:
        for goal in (first, end):
            if goal > start:
                points = find_split_points(framing, stored, options, start, goal - start)
                start = next((point.at for point in points if point.at >= goal), place.size)
            bounds.append(start)
    return ObjectSpan(place, bounds[0], bounds[1])


def plan_tasks(
    framing: StreamFraming,
    options: Options,
    spans: Iterable[ObjectSpan],
    tasks: int,
    most: int = MAX_PARTITION_BYTES,
) -> list[tuple[ObjectSpan, ...]]:
    """Cut spans, and group them into about `tasks` tasks, or more if one had over `most` bytes."""
    nonempty = [span for span in spans if span.size]
    total = sum(span.size for span in nonempty)
    grain = max(1 << 20, min(most, -(-total // tasks)))  # a smaller span costs more to schedule than to read
    is_remote = any(span.place.store for span in nonempty)
    with ThreadPoolExecutor(8 if is_remote else 1) as pool:  # behind a network most of it is waiting
        cut = pool.map(partial(split_span, framing, options, grain), nonempty)
        return list(group_spans(chain.from_iterable(cut), grain))


def is_one(span: ObjectSpan, grain: int) -> bool:
    """Return whether a span is not to be cut: a compressed one, or one only a little longer than `grain`."""
    return span.place.compression is not None or span.size <= grain + grain // SLACK_FRACTION


def split_span(framing: StreamFraming, options: Options, grain: int, span: ObjectSpan) -> list[ObjectSpan]:
    """Cut a span at the first split point after each `grain` bytes.

    That of an object that is gone or got shorter stays whole: it is for the task to say so.
    """
    if is_one(span, grain):
        return [span]
    garbage, start, end = dict[int, Item](), span.start, span.end
    try:
        with closing(ObjectReader.of(span.place)) as stored:
            points = [start, *choose_split_points(framing, stored, options, start, end, grain, garbage), end]
    except LostObjectError:
        return [span]
    return [
        ObjectSpan(span.place, first, last, garbage[first].cls if first in garbage else None)
        for first, last in pairwise(points)
        if last > first
    ]


def choose_split_points(
    framing: StreamFraming, stored: ObjectReader, options: Options, start: int, end: int, grain: int,
    garbage: dict[int, Item] | None = None,
) -> Iterator[int]:  # fmt: skip
    """Yield split points in a range, at least `grain` bytes apart, and those around long garbage.

    The search ends once the rest is one span, so it looks only at the start of a short object. Long garbage
    is added to `garbage`, if that is given, by its position.
    """
    last = start
    for point in find_split_points(framing, stored, options, start, grain):
        found = point.garbage if point.at <= end else None
        if garbage is not None and found is not None and found.cls and found.length >= LONG_GARBAGE:
            garbage[found.at] = found
            if found.at > last:
                yield found.at
            last = point.at
            if point.at >= end:
                return
            yield last
            continue
        if point.at >= end:
            return
        if point.at - last >= grain:
            last = point.at
            yield last
            if end - last <= grain + grain // SLACK_FRACTION:
                return


def group_spans(spans: Iterable[ObjectSpan], grain: int) -> Iterator[tuple[ObjectSpan, ...]]:
    """Group spans into tasks of about `grain` bytes, in order, so that a task reads adjacent bytes.

    A larger span, such as a compressed object that cannot be split, is a task of its own.
    """
    task: list[ObjectSpan] = []
    weight = 0
    for span in spans:
        if task and weight + span.weight > grain + grain // SLACK_FRACTION:
            yield tuple(task)
            task, weight = [], 0
        task.append(span)
        weight += span.weight
    if task:
        yield tuple(task)


# --- decompressing what is cut or damaged ---
#
# Arrow's streams lose the whole last piece if they fail. These functions decompress small pieces, so that
# nothing is lost of an object that is cut, and little before a damaged place.

DECOMPRESSORS: Final[dict[str, Callable[[], Any]]] = {
    "gzip": lambda: zlib.decompressobj(wbits=31),
    "bz2": bz2.BZ2Decompressor,
    "zstd": lambda: zstandard.ZstdDecompressor().decompressobj(),
}


def salvage_bytes(chunks: Iterable[bytes], compression: str) -> Iterator[bytes]:
    """Yield the decompressed bytes up to the first place that cannot be decompressed; nothing for lz4."""
    if compression not in DECOMPRESSORS:
        return
    decompressor = DECOMPRESSORS[compression]()
    step = 256  # compressed bytes: up to that many may be lost before a damaged place
    try:
        for chunk in chunks:
            for at in range(0, len(chunk), step):
                rest = chunk[at : at + step]
                while rest:
                    yield decompressor.decompress(rest)
                    rest = decompressor.unused_data if decompressor.eof else b""
                    decompressor = DECOMPRESSORS[compression]() if decompressor.eof else decompressor
    except (zlib.error, zstandard.ZstdError, OSError, EOFError, RuntimeError):
        return


# --- reading ---

PIECE_BYTES: Final = 1024 * 1024

Part = TypeVar("Part", bound=Item | EntryColumns)
"""A part of a span: one item, or entries as columns."""


class CoverageError(SourceError):
    """The items of a span do not cover it: a bug of this program, not damage in the object."""


@frozen
class ReadRequest:
    """The rows to make: of a source, with some columns of its table, in the order of the schema."""

    source: SourceSettings
    columns: tuple[SourceColumn, ...]
    schema: pa.Schema


def read_spans(spans: Iterable[ObjectSpan], request: ReadRequest) -> Iterator[pa.RecordBatch]:
    """Yield the rows of all spans, in order; raises `LostObjectError` or `CoverageError`."""
    parts = _span_parts(spans, request.source)
    return make_batches(parts, request.source.table, request.columns, request.schema)


def _span_parts(spans: Iterable[ObjectSpan], source: SourceSettings) -> Iterator[RowData | EntryColumns]:
    """Yield the parts of all spans, as the fast decoder returns them if there is one, else the reference."""
    fmt = source.framing.fmt
    revision = None if fmt.revision == "mixed" else fmt.revision
    decode = source.table.decode or partial(scan_items, source.framing)
    for span in spans:
        if source.ignore_missing:
            info = filesystem(span.place.store).get_file_info(span.place.path)
            if info.type == fs.FileType.NotFound:
                continue
        with open_span(span, source.max_unpacked) as (stored, start, end, fault):
            parts = span.known or decode(stored, start, end, source.options)
            for part in check_coverage(parts, stored, start, end):
                if isinstance(part, Item):
                    held, at = stored.at(part.at, length := min(HEADER_BYTES, part.length))
                    yield RowData(stored, part, held[at : at + length], revision)
                else:
                    yield part
            if fault is not None:
                yield RowData(stored, Item("garbage", end, 0, cls=fault), b"", revision)


def check_coverage(parts: Iterable[Part], stored: ObjectReader, start: int, end: int) -> Iterator[Part]:
    """Yield the parts of a span, checking that they cover it from `start` to `end` without gaps."""
    at = start
    for part in parts:
        if isinstance(part, Item):
            first, last = part.at, part.at + part.length
        else:  # of entries that leave a gap the end is -1
            position, length = (part.entries.column(name).to_numpy() for name in ("position", "length"))
            gap = (position[1:] != (position + length)[:-1]).any() or (length <= 0).any()
            first, last = int(position[0]), -1 if gap else int(position[-1] + length[-1])
        if first != at or last <= first:
            raise CoverageError(
                f"{stored.display_name}: expected the next item at {at}, got bytes {first} to {last}"
            )
        at = last
        yield part
    if at != end:
        raise CoverageError(f"{stored.display_name}: the items of bytes {start} to {end} end at {at}")


@contextmanager
def open_span(
    span: ObjectSpan, max_unpacked: int
) -> Iterator[tuple[ObjectReader, int, int, RejectClass | None]]:
    """Open a span: give its bytes, its start and end in them, and the error of the decompression, if any.

    A compressed object is decompressed to a temporary file first.
    """
    if span.place.compression is None:
        with closing(ObjectReader.of(span.place)) as stored:
            stored.window = REMOTE_WINDOW
            yield stored, span.start, span.end, None
        return
    with tempfile.TemporaryFile() as file:
        size, fault = _unpack(span.place, file, max_unpacked)
        file.flush()
        unpacked = LocalFile(file.fileno())
        yield ObjectReader(unpacked, span.place.display_name, size, REMOTE_WINDOW), 0, size, fault


def _unpack(place: ObjectPlace, file: Any, most: int) -> tuple[int, RejectClass | None]:  # noqa: ANN401 - a file
    """Decompress the object into `file`: return the number of bytes and the error that ended it, if any."""
    size = 0
    try:
        stream = filesystem(place.store).open_input_stream(place.path, compression=place.compression)
    except OSError as error:
        raise lost(place.display_name, error) from None
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
