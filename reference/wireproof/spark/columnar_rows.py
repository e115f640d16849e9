"""Entries of Kafka logs as rows, made by `columnar` from chunks of the file; faster than item by item.

`columnar` hands entries that are not clean to the reference. If bytes are not an entry at all, the end of the
garbage depends on everything after it, so the reference reads on in the file itself.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, Generic, TypeAlias, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from attrs import define, evolve, field, frozen

from wireproof import formats
from wireproof.columnar import TAIL, KafkaFrames, read_header_columns
from wireproof.columnar import scan as fast_scan
from wireproof.columnar.header_columns import ALL_COLUMNS, ITEM_COLUMNS
from wireproof.columnar.item_json import json_items
from wireproof.columnar.judged_block import RecordForm
from wireproof.columnar.kafka_scan import ScanStep, scan_steps
from wireproof.kafka.attribute_bits import CONTROL, TRANSACTIONAL
from wireproof.spark.object_reader import ObjectReader
from wireproof.spark.split_points import FREE_REREAD, KAFKA, REREAD_FACTOR, recheck_item
from wireproof.wire.options import Options
from wireproof.wire.scan_items import Item

JSON_CHUNK: Final = 1024 * 1024
"""Bytes that are read at a time if adapters are asked, because each record then becomes an object."""

CHUNKS: Final = (2 * 1024 * 1024, 8 * 1024 * 1024)
"""Bytes of the first chunk and of the longest; after bytes that are not an entry, the size starts anew."""

MAX_WAITING: Final = 1 << 16
"""Rows that are collected before columns are made, if these need no bytes: each batch has a fixed cost."""

RowsOrItem: TypeAlias = pa.RecordBatch | Item
"""Entries as rows of `columnar.HEADER_COLUMNS`, at positions in the object; or one item that is no entry."""


def read_rows(
    stored: ObjectReader, start: int, end: int, options: Options, names: Sequence[str] = ALL_COLUMNS
) -> Iterator[RowsOrItem]:
    """Yield the items from `start` to `end`, both split points, in order and without gaps.

    `names` are the wanted columns.
    """
    at, size, reread = start, CHUNKS[0], 0
    collector = _RowCollector(names)
    while at < end:
        if reread > FREE_REREAD + REREAD_FACTOR * (at - start):
            yield from collector.rest()
            yield from KAFKA.items(KAFKA, stored, at, end, options)
            return
        chunk = stored.chunk(at, min(size, end - at))
        entry_bytes, frames, stopped = _entries(chunk, options, last=at + len(chunk) >= end)
        if entry_bytes:
            yield from collector.rows(chunk, at, frames)
        at += entry_bytes
        reread += len(chunk) - entry_bytes if stopped else 0
        if stopped and at < end:
            yield from collector.rest()
            item = _reference_item(stored, at, options, end)
            at += item.length
            size = CHUNKS[0]
            yield item
        else:
            size = min(2 * max(size, len(chunk)), CHUNKS[1] if entry_bytes else stored.size)
    yield from collector.rest()


@define
class _RowCollector:
    """Makes columns: of each chunk on its own if a column needs its bytes, else of many chunks together."""

    names: Sequence[str]
    waiting: list[tuple[int, KafkaFrames]] = field(factory=list)
    count: int = 0

    def rows(self, chunk: memoryview, at: int, frames: KafkaFrames) -> Iterator[pa.RecordBatch]:
        """Yield the entries of a chunk that begins at `at` in the object."""
        if not ITEM_COLUMNS.issuperset(self.names):
            yield _moved(read_header_columns(chunk, frames, self.names), at)
            return
        self.waiting.append((at, frames))
        self.count += len(frames)
        if self.count >= MAX_WAITING:
            yield from self.rest()

    def rest(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows that are waiting."""
        if self.waiting:
            yield read_header_columns(b"", KafkaFrames.joined(self.waiting), self.names)
        self.waiting, self.count = [], 0


def read_items(
    stored: ObjectReader,
    start: int,
    end: int,
    options: Options,
    make_items: Callable[[ScanStep], Iterator[Item]] = json_items,
) -> Iterator[Item]:
    """Yield the same items as `KAFKA.items`, but the value of a clean entry is its JSON.

    `make_items` makes the items of a scan step, for other values.
    """
    return read_parts(stored, start, end, options, EntryReading("slots", JSON_CHUNK, make_items))


Part = TypeVar("Part")


@frozen
class EntryReading(Generic[Part]):
    """The way to read whole entries.

    Attributes:
        keep: the form in which records are kept, as for `columnar.kafka_scan.scan_steps`.
        chunk: bytes that are read at a time.
        make_parts: makes items, or something like them, of a scan step; each has `at` (in the chunk) and
            `length`.
    """

    keep: RecordForm
    chunk: int
    make_parts: Callable[[ScanStep], Iterator[Part]]


def read_parts(
    stored: ObjectReader, start: int, end: int, options: Options, reading: EntryReading[Any]
) -> Iterator[Any]:
    """Yield the parts that `reading` makes of whole entries, and the items of all other bytes.

    Their positions are positions in the object.
    """
    at, reread, size = start, 0, CHUNKS[0]
    while at < end:
        if reread > FREE_REREAD + REREAD_FACTOR * (at - start):
            yield from KAFKA.items(KAFKA, stored, at, end, options)
            return
        # `read` and not `chunk`, because the parts keep references to these bytes
        chunk = stored.read(at, min(size, end - at))
        chunk_start, base, stopped = at, at, False
        for step in scan_steps(chunk, options, keep=reading.keep):
            if step.block is None:
                stopped = step.answers[0].kind != "tail" or base + len(chunk) >= end
                break
            for part in reading.make_parts(step):
                yield evolve(part, at=base + part.at)
                at = base + part.at + part.length
        reread += base + len(chunk) - at if stopped else 0
        if stopped and at < end:
            item = _reference_item(stored, at, options, end)
            at += item.length
            yield item
        size = reading.chunk if at > chunk_start else 4 * size


def _entries(chunk: memoryview, options: Options, *, last: bool) -> tuple[int, KafkaFrames, bool]:
    """Find the whole entries at the start of a chunk.

    Args:
        chunk: bytes of the object.
        options: of the codec.
        last: the object is not read past this chunk, so an entry that it cuts is not an entry.

    Returns:
        The bytes of the entries, their rows, and whether something else follows them in the chunk.
    """
    frames = fast_scan(chunk, options)
    stop = _first_other(frames)
    length = int(frames.length[:stop].sum())
    if stop == len(frames):
        return length, frames, False
    return length, frames.until(stop), bool(frames.kind[stop] != TAIL or last)


def _first_other(frames: KafkaFrames) -> int:
    """Return the first row that is not a whole entry."""
    others = np.flatnonzero(frames.magic < 0)
    return int(others[0]) if others.size else len(frames)


def _reference_item(stored: ObjectReader, at: int, options: Options, end: int) -> Item:
    pieces = stored.pieces(at)
    item = next(iter(formats.scan(KAFKA.fmt, pieces, options)))
    moved = Item(item.kind, at, item.length, item.value, item.cls, item.remarks)
    return recheck_item(KAFKA.fmt, pieces, moved, options, end)


def _moved(entries: pa.RecordBatch, base: int) -> pa.RecordBatch:
    return entries.set_column(0, "position", pc.add(entries.column("position"), base))


# --- columns ---

_OTHER_NAMES: Final = {"base_offset": "offset"}
"""The columns of `kafka_columns.FRAMES` that have another name in `columnar.HEADER_COLUMNS`."""

Derived = Callable[[pa.RecordBatch, ObjectReader], Any]


def _flag(bit: int) -> Derived:
    def flag(entries: pa.RecordBatch, _: ObjectReader) -> Any:  # noqa: ANN401 - pyarrow has no types
        attributes = entries.column("attributes").fill_null(0).to_numpy(zero_copy_only=False)
        batch = pc.equal(entries.column("magic"), 2)
        return pc.and_(batch, pa.array((attributes & bit) != 0))

    return flag


def _revision(entries: pa.RecordBatch, _: ObjectReader) -> Any:  # noqa: ANN401 - as above
    return pc.binary_join_element_wise("v", entries.column("magic").cast(pa.string()), "")


def _records(entries: pa.RecordBatch, _: ObjectReader) -> Any:  # noqa: ANN401 - as above
    frame = pc.equal(entries.column("kind"), "frame")
    return pc.if_else(frame, entries.column("records"), pa.scalar(None, pa.int64()))


def _raw(entries: pa.RecordBatch, stored: ObjectReader) -> Any:  # noqa: ANN401 - as above
    """Return the column `raw`: consecutive entries are one run of bytes, so only their ends are computed."""
    ends = np.zeros(entries.num_rows + 1, np.int32)
    np.cumsum(entries.column("length").to_numpy(), out=ends[1:])
    data = stored.read(entries.column("position")[0].as_py(), int(ends[-1]))
    return pa.Array.from_buffers(
        pa.binary(), entries.num_rows, [None, pa.py_buffer(ends), pa.py_buffer(data)]
    )


_DERIVED: Final[dict[str, Derived]] = {
    "path": lambda entries, stored: pa.array([stored.display_name]).take(
        pa.array(np.zeros(entries.num_rows, np.int8))
    ),
    "revision": _revision,
    "transactional": _flag(TRANSACTIONAL),
    "control": _flag(CONTROL),
    "records": _records,
    "raw": _raw,
}


def frame_columns(entries: pa.RecordBatch, stored: ObjectReader, schema: pa.Schema) -> pa.RecordBatch:
    """Convert rows of `columnar.HEADER_COLUMNS` to the columns of `kafka_columns.FRAMES` in `schema`."""
    arrays = [
        _DERIVED[field.name](entries, stored)
        if field.name in _DERIVED
        else entries.column(_OTHER_NAMES.get(field.name, field.name))
        for field in schema
    ]
    return pa.RecordBatch.from_arrays(
        [array.cast(field.type) for array, field in zip(arrays, schema, strict=True)], schema=schema
    )
