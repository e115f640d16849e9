"""Rows of what was scanned, as Arrow columns: the parts that all formats share.

A table is a list of columns; each says its name, its Arrow type and how it is read off a line. What is asked
for is a schema of some of them, in any order.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, Literal

import pyarrow as pa
from attrs import field, frozen

from wireproof.spark.errors import SourceError
from wireproof.spark.stored import Stored
from wireproof.wire.items import Item

ROWS_MOST: Final = 8192
BYTES_MOST: Final = 4 * 1024 * 1024
"""What one Arrow batch may hold: rows, and bytes; the row that reaches a limit is the last one."""

RAW_MOST: Final = 256 * 1024 * 1024
"""The column `raw` ends there: garbage has no bound, and an Arrow column holds less than 2 GiB."""

HEAD: Final = 61
"""Bytes of an item that its header columns are read from: a v2 batch has the longest, kafka.md §1.1."""

TEXTS: Final = pa.list_(pa.string())


@frozen
class Line:
    """What one row shows.

    Attributes:
        stored, item: the object, and what was scanned there.
        head: the first bytes of the item, at most `HEAD`.
        index, record: the number of the record in its frame, and it; None where a row stands for an item.
        revision: of the format, if the object has only one.
    """

    stored: Stored
    item: Item
    head: bytes
    revision: str | None = None
    index: int | None = None
    record: Any = None


@frozen
class Column:
    """A column: `read` gives what `type` can hold, or None."""

    name: str
    type: pa.DataType
    read: Callable[[Line], Any]


@frozen
class Table:
    """What a row stands for.

    Attributes:
        columns: all there are.
        lines: the lines of an item.
        asked: names of the columns that are there only if they are asked for.
        fast: what of `columnar` says all that a row shows. A mark, and not the table's identity: Spark's
            workers have a copy of it.
    """

    columns: tuple[Column, ...]
    lines: Callable[[Line], Iterable[Line]]
    asked: frozenset[str] = field(default=frozenset({"raw"}))
    fast: Literal["heads", "records"] | None = None

    def schema(self, *, everything: bool = False) -> pa.Schema:
        """All columns, without those that must be asked for unless `everything` is."""
        shown = (one for one in self.columns if everything or one.name not in self.asked)
        return pa.schema([(one.name, one.type) for one in shown])

    def chosen(self, names: Iterable[str]) -> tuple[Column, ...]:
        """The columns of these names; raises `SourceError` for one that there is not."""
        known = {one.name: one for one in self.columns}
        if unknown := [name for name in names if name not in known]:
            raise SourceError(f"no column {', '.join(unknown)}; there are {', '.join(known)}")
        return tuple(known[name] for name in names)


def batches(
    lines: Iterable[Line | pa.RecordBatch], columns: tuple[Column, ...], schema: pa.Schema
) -> Iterator[pa.RecordBatch]:
    """Arrow batches of bounded size; `schema` names the same columns and may make its types nullable or not.

    Only what the columns show is held: a small entry may unpack to very much more. Batches among the lines
    are of this schema already, and go by in their place.
    """
    held: list[list[Any]] = []
    size = 0
    for line in lines:
        if not isinstance(line, Line):
            if held:
                yield _batch(held, schema)
            yield line
            held, size = [], 0
            continue
        row = [column.read(line) for column in columns]
        held.append(row)
        size += _weight(row)
        if len(held) >= ROWS_MOST or size >= BYTES_MOST:
            yield _batch(held, schema)
            held, size = [], 0
    if held:
        yield _batch(held, schema)


def _batch(rows: list[list[Any]], schema: pa.Schema) -> pa.RecordBatch:
    arrays = [
        pa.array(values, type=one.type) for values, one in zip(zip(*rows, strict=True), schema, strict=True)
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _weight(value: object) -> int:
    """About the bytes that a value takes in a column."""
    match value:
        case bytes() | str():
            return len(value)
        case list():
            return 8 + sum(map(_weight, value))
        case dict():
            return sum(map(_weight, value.values()))
        case _:
            return 8


def itself(line: Line) -> tuple[Line]:
    """The lines of an item, where a row stands for one."""
    return (line,)


def of_part(read: Callable[[Any], Any], of: Callable[[Line], object]) -> Callable[[Line], Any]:
    """`read` of what `of` gives, or None where that is None."""

    def column(line: Line) -> Any:  # noqa: ANN401 - whatever the column holds
        part = of(line)
        return None if part is None else read(part)

    return column


def text(data: bytes | None) -> str | None:
    r"""Text as a column can hold it: what is not UTF-8 is shown as `\\xff`."""
    return None if data is None else data.decode(errors="backslashreplace")


SHARED: Final = (
    Column("path", pa.string(), lambda line: line.stored.shown),
    Column("position", pa.int64(), lambda line: line.item.at),
    Column("length", pa.int64(), lambda line: line.item.length),
    Column("kind", pa.string(), lambda line: line.item.kind),
    Column("fault", pa.string(), lambda line: line.item.cls),
    Column("remarks", TEXTS, lambda line: [remark.cls for remark in line.item.remarks]),
)
"""The columns that every table begins with.

* `position`, `length`: bytes, in the object as it was written, that is unpacked.
* `kind`: `frame`, `garbage` or `tail`; `fault`: the class of what is wrong, null for a frame.
* `remarks`: where the format leaves open what the frame means.
"""

RAW: Final = Column(
    "raw", pa.binary(), lambda line: line.stored.read(line.item.at, min(line.item.length, RAW_MOST))
)
"""The bytes of the item, at most `RAW_MOST`."""
