"""Scanned items as Arrow columns: the parts that all formats share.

A table is a list of columns. A column has a name, an Arrow type and a function that reads it from a row. The
caller requests a schema with some of the columns, in any order.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, Literal

import pyarrow as pa
from attrs import field, frozen

from wireproof.spark.errors import SourceError
from wireproof.spark.object_reader import ObjectReader
from wireproof.wire.scan_items import Item

MAX_BATCH_ROWS: Final = 8192
MAX_BATCH_BYTES: Final = 4 * 1024 * 1024
"""The limits of one Arrow batch: rows and bytes. The row that reaches a limit is the last one."""

MAX_RAW_BYTES: Final = 256 * 1024 * 1024
"""The greatest length of a value in the column `raw`: an Arrow column holds less than 2 GiB."""

HEADER_BYTES: Final = 61
"""Bytes of an item from which header columns are read: a v2 batch has the longest header, kafka.md §1.1."""

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
class SourceColumn:
    """A column; `read` returns a value that `type` can hold, or None."""

    name: str
    type: pa.DataType
    read: Callable[[RowData], Any]


@frozen
class SourceTable:
    """A table of a source.

    Attributes:
        columns: all columns.
        rows: yields the rows of an item.
        on_request: the names of the columns that are included only on request.
        fast: the part of `columnar` that can make all columns. It is a mark and not the identity of the
            table, because Spark's workers have copies of the table.
    """

    columns: tuple[SourceColumn, ...]
    rows: Callable[[RowData], Iterable[RowData]]
    on_request: frozenset[str] = field(default=frozenset({"raw"}))
    fast: Literal["heads", "records"] | None = None

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


def make_batches(
    rows: Iterable[RowData | pa.RecordBatch], columns: tuple[SourceColumn, ...], schema: pa.Schema
) -> Iterator[pa.RecordBatch]:
    """Yield Arrow batches of limited size.

    `schema` has the same columns, with types that may be nullable or not. Only the values of the columns are
    kept in memory, because a small entry may decompress to very much. Record batches among the rows have this
    schema already and are passed on in their place.
    """
    waiting: list[list[Any]] = []
    size = 0
    for row in rows:
        if not isinstance(row, RowData):
            if waiting:
                yield _batch(waiting, schema)
            yield row
            waiting, size = [], 0
            continue
        values = [column.read(row) for column in columns]
        waiting.append(values)
        size += _weight(values)
        if len(waiting) >= MAX_BATCH_ROWS or size >= MAX_BATCH_BYTES:
            yield _batch(waiting, schema)
            waiting, size = [], 0
    if waiting:
        yield _batch(waiting, schema)


def _batch(rows: list[list[Any]], schema: pa.Schema) -> pa.RecordBatch:
    arrays = [
        pa.array(values, type=column.type)
        for values, column in zip(zip(*rows, strict=True), schema, strict=True)
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


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


def item_row(row: RowData) -> tuple[RowData]:
    """Return the rows of an item in a table of items: one."""
    return (row,)


def read_part(read: Callable[[Any], Any], of: Callable[[RowData], object]) -> Callable[[RowData], Any]:
    """Return a function that applies `read` to the result of `of`; None if that is None."""

    def column(row: RowData) -> Any:  # noqa: ANN401 - whatever the column holds
        part = of(row)
        return None if part is None else read(part)

    return column


def decode_text(data: bytes | None) -> str | None:
    r"""Return text that a column can hold: bytes that are not UTF-8 become `\\xff`."""
    return None if data is None else data.decode(errors="backslashreplace")


SHARED: Final = (
    SourceColumn("path", pa.string(), lambda row: row.stored.display_name),
    SourceColumn("position", pa.int64(), lambda row: row.item.at),
    SourceColumn("length", pa.int64(), lambda row: row.item.length),
    SourceColumn("kind", pa.string(), lambda row: row.item.kind),
    SourceColumn("fault", pa.string(), lambda row: row.item.cls),
    SourceColumn("remarks", TEXT_LIST, lambda row: [remark.cls for remark in row.item.remarks]),
)
"""The first columns of every table.

* `position`, `length`: in bytes, in the decompressed object.
* `kind`: `frame`, `garbage` or `tail`; `fault`: the class of the error, null for a frame.
* `remarks`: the classes of remarks, where the format leaves the meaning of the frame open.
"""

RAW: Final = SourceColumn(
    "raw", pa.binary(), lambda row: row.stored.read(row.item.at, min(row.item.length, MAX_RAW_BYTES))
)
"""The bytes of the item, at most `MAX_RAW_BYTES`."""
