"""Scanned items as Arrow columns: the parts that all formats share.

A table is a list of columns. A column has a name, an Arrow type and two functions that make the same values:
one from an item of the reference, one from the columns of the fast decoder. `make_batches` uses them to make
the rows of a span. The caller requests a schema with some of the columns, in any order.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any, Final, TypeAlias

import numpy as np
import pyarrow as pa
from attrs import field, frozen

from wireproof.spark.errors import SourceError
from wireproof.spark.logs.objects import ObjectReader
from wireproof.wire.options import Options
from wireproof.wire.scan_items import Item

MAX_RAW_BYTES: Final = 256 * 1024 * 1024
"""The greatest length of a value in the column `raw`: an Arrow column holds less than 2 GiB."""

HEADER_BYTES: Final = 61
"""Bytes of an item from which header columns are read: a v2 batch has the longest header, kafka.md §1.1."""

FRAME_COLUMNS: Final = ("position", "length", "kind", "fault", "remarks", "magic")
"""The columns of `columnar.HEADER_COLUMNS` that the table `frames` of a scan needs."""

TEXT_LIST: Final = pa.list_(pa.string())


@frozen
class RowData:
    """The data of one row.

    Attributes:
        stored, item: the object, and the item that was found in it.
        head: the first bytes of the item, at most `HEADER_BYTES`.
        revision: of the format, if the object has only one revision.
        index, record: the number of the record in its frame, and the record; None if a row is an item.
    """

    stored: ObjectReader
    item: Item
    head: bytes
    revision: str | None = None
    index: int | None = None
    record: Any = None


@frozen
class EntryColumns:
    """Consecutive entries that a fast decoder returned as columns. Rows are the entries, or their records.

    Attributes:
        stored: the object.
        entries: the entries, rows of `columnar.HEADER_COLUMNS`, at positions in the object.
        records: their records, rows of `columnar.RECORD_COLUMNS`, or None if the rows are the entries. With
            records, all entries are clean, so `entries` needs no columns for kind, fault and remarks.
        entry_index: for each record, the index of its entry.
    """

    stored: ObjectReader
    entries: pa.RecordBatch
    records: pa.RecordBatch | None = None
    entry_index: Any = None

    @property
    def num_rows(self) -> int:
        """Return the number of rows."""
        rows: int = (self.entries if self.records is None else self.records).num_rows
        return rows

    def column(self, name: str) -> pa.Array:
        """Return a column of the decoder: of the records if they have it, else of the entries."""
        if self.records is not None and name in self.records.schema.names:
            return self.records.column(name)
        return self.per_row(self.entries.column(name))

    def per_row(self, array: pa.Array) -> pa.Array:
        """Return the value of each row's entry from an array with one value for each entry."""
        if self.entry_index is None:
            return array
        if not pa.types.is_integer(array.type) and len(array.unique()) == 1:  # faster, and nearly always so
            return pa.repeat(array[0], self.num_rows)
        return array.take(pa.array(self.entry_index))

    @property
    def index(self) -> pa.Array:
        """Return the number of each record in its entry."""
        numbers = np.arange(self.entry_index.size)
        starts = np.flatnonzero(np.diff(self.entry_index, prepend=-1))
        return pa.array(numbers - np.repeat(starts, np.diff(starts, append=self.entry_index.size)))


@frozen
class SourceColumn:
    """A column.

    Attributes:
        name, type: in the schema.
        read: returns the value of a row of the reference; `type` can hold it, or it is None.
        array: returns the values of all rows of a fast decoder; None takes its column of the same name.
    """

    name: str
    type: pa.DataType
    read: Callable[[RowData], Any]
    array: Callable[[EntryColumns], pa.Array] | None = None

    def values(self, rows: EntryColumns) -> pa.Array:
        """Return the values of all rows of a fast decoder."""
        return rows.column(self.name) if self.array is None else self.array(rows)


ColumnsOrItem: TypeAlias = EntryColumns | Item
"""Consecutive entries as columns; or one item."""

SpanDecoder: TypeAlias = Callable[[ObjectReader, int, int, Options], Iterator[ColumnsOrItem]]
"""Decodes an object from one split point to another, in order and without gaps."""


@frozen
class SourceTable:
    """A table of a source.

    Attributes:
        columns: all columns.
        rows: yields the rows of an item, by default one.
        on_request: the names of the columns that are included only on request.
        decode: the fast decoder; None if only the reference decodes the format.
    """

    columns: tuple[SourceColumn, ...]
    rows: Callable[[RowData], Iterable[RowData]] = lambda row: (row,)
    on_request: frozenset[str] = field(default=frozenset({"raw"}))
    decode: SpanDecoder | None = None

    def schema(self, *, everything: bool = False) -> pa.Schema:
        """Return the schema of all columns, without those on request unless `everything` is true."""
        columns = (column for column in self.columns if everything or column.name not in self.on_request)
        return pa.schema([(column.name, column.type) for column in columns])

    def chosen(self, names: Iterable[str]) -> tuple[SourceColumn, ...]:
        """Return the columns with these names; raises `SourceError` for an unknown one."""
        known = {column.name: column for column in self.columns}
        if unknown := [name for name in names if name not in known]:
            raise SourceError(f"unknown column {', '.join(unknown)}; the columns are {', '.join(known)}")
        return tuple(known[name] for name in names)


def read_part(read: Callable[[Any], Any], of: Callable[[RowData], object]) -> Callable[[RowData], Any]:
    """Return a function that applies `read` to the result of `of`; None if that is None."""

    def column(row: RowData) -> Any:  # noqa: ANN401 - whatever the column holds
        part = of(row)
        return None if part is None else read(part)

    return column


def decode_text(data: bytes | None) -> str | None:
    r"""Return text that a column can hold: bytes that are not UTF-8 become `\\xff`."""
    return None if data is None else data.decode(errors="backslashreplace")


def _clean_value(name: str, value: Any) -> Callable[[EntryColumns], pa.Array]:  # noqa: ANN401 - any scalar
    """Return the array of a column that has the same value for all records: their entries are clean."""
    return lambda rows: rows.entries.column(name) if rows.records is None else pa.repeat(value, rows.num_rows)


def _remarks(rows: EntryColumns) -> pa.Array:
    """Return the remarks of entries; records have none, because their entries are clean."""
    if rows.records is None:
        return rows.entries.column("remarks")
    return empty_lists(rows.num_rows, TEXT_LIST)


def empty_lists(count: int, kind: pa.DataType) -> pa.Array:
    """Return `count` lists without an element."""
    return pa.ListArray.from_arrays(pa.array(np.zeros(count + 1, np.int32)), _no_values(kind), type=kind)


@cache
def _no_values(kind: pa.DataType) -> pa.Array:  # pyarrow takes half a millisecond for those of a structure
    return pa.array([], kind.value_type)


SHARED: Final = (
    SourceColumn(
        "path",
        pa.string(),
        lambda row: row.stored.display_name,
        lambda rows: pa.repeat(rows.stored.display_name, rows.num_rows),
    ),
    SourceColumn("position", pa.int64(), lambda row: row.item.at),
    SourceColumn("length", pa.int64(), lambda row: row.item.length),
    SourceColumn("kind", pa.string(), lambda row: row.item.kind, _clean_value("kind", "frame")),
    SourceColumn(
        "fault", pa.string(), lambda row: row.item.cls, _clean_value("fault", pa.scalar(None, pa.string()))
    ),
    SourceColumn("remarks", TEXT_LIST, lambda row: [remark.cls for remark in row.item.remarks], _remarks),
)
"""The first columns of every table.

* `position`, `length`: in bytes, in the decompressed object.
* `kind`: `frame`, `garbage` or `tail`; `fault`: the class of the error, null for a frame.
* `remarks`: the classes of remarks, where the format leaves the meaning of the frame open.
"""


def _raw_bytes(rows: EntryColumns) -> pa.Array:
    """Return the bytes of consecutive entries: they are one run of bytes, so only their ends are computed."""
    entries = rows.entries
    ends = np.zeros(entries.num_rows + 1, np.int32)
    np.cumsum(entries.column("length").to_numpy(), out=ends[1:])
    data = rows.stored.read(entries.column("position")[0].as_py(), int(ends[-1]))
    return pa.Array.from_buffers(
        pa.binary(), entries.num_rows, [None, pa.py_buffer(ends), pa.py_buffer(data)]
    )


RAW: Final = SourceColumn(
    "raw",
    pa.binary(),
    lambda row: row.stored.read(row.item.at, min(row.item.length, MAX_RAW_BYTES)),
    _raw_bytes,
)
"""The bytes of the item, at most `MAX_RAW_BYTES`."""

# --- Arrow batches ---

MAX_BATCH_ROWS: Final = 8192
MAX_BATCH_BYTES: Final = 4 * 1024 * 1024
"""The limits of one Arrow batch: rows and bytes. The row that reaches a limit is the last one."""


def make_batches(
    parts: Iterable[RowData | EntryColumns],
    table: SourceTable,
    columns: tuple[SourceColumn, ...],
    schema: pa.Schema,
) -> Iterator[pa.RecordBatch]:
    """Yield Arrow batches of limited size, of items of the reference and entries of a fast decoder.

    `schema` has the same columns as `columns`, with types that may be nullable or not. Of items only the
    values are kept in memory, because a small entry may decompress to very much.
    """
    waiting, size = list[list[Any]](), 0

    def rest() -> Iterator[pa.RecordBatch]:
        nonlocal size
        if waiting:
            values = zip(*waiting, strict=True)
            arrays = [pa.array(each, type=column.type) for each, column in zip(values, schema, strict=True)]
            yield pa.RecordBatch.from_arrays(arrays, schema=schema)
        waiting.clear()
        size = 0

    for part in parts:
        if isinstance(part, EntryColumns):
            yield from rest()
            arrays = [
                column.values(part).cast(field.type) for column, field in zip(columns, schema, strict=True)
            ]
            batch = pa.RecordBatch.from_arrays(arrays, schema=schema)
            rows = batch.num_rows * MAX_BATCH_BYTES // max(batch.nbytes, 1)
            step = max(1, min(8 * MAX_BATCH_ROWS, rows))
            yield from (batch.slice(at, step) for at in range(0, batch.num_rows, step))
            continue
        for row in table.rows(part):
            waiting.append([column.read(row) for column in columns])
            size += _weight(waiting[-1])
            if len(waiting) >= MAX_BATCH_ROWS or size >= MAX_BATCH_BYTES:
                yield from rest()
    yield from rest()


def _weight(value: object) -> int:
    """Return approximately the bytes that a value takes in a column."""
    match value:
        case bytes() | str():
            return len(value)
        case list():
            return 8 + sum(map(_weight, value))
        case dict():
            return sum(map(_weight, value.values()))
        case _:
            return 8
