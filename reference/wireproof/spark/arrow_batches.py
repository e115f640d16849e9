"""Make the Arrow batches of a table from the parts of a span, whichever decoder returned them."""

from collections.abc import Iterable, Iterator
from typing import Any, Final

import pyarrow as pa
from attrs import define, field

from wireproof.spark.columns import EntryColumns, RowData, SourceColumn, SourceTable

MAX_BATCH_ROWS: Final = 8192
MAX_BATCH_BYTES: Final = 4 * 1024 * 1024
"""The limits of one Arrow batch: rows and bytes. The row that reaches a limit is the last one."""

MAX_COLUMNAR_ROWS: Final = 65536
"""Rows of a batch that a fast decoder made."""


def make_batches(
    parts: Iterable[RowData | EntryColumns],
    table: SourceTable,
    columns: tuple[SourceColumn, ...],
    schema: pa.Schema,
) -> Iterator[pa.RecordBatch]:
    """Yield Arrow batches of limited size.

    `parts` are items of the reference, and entries of a fast decoder. `schema` has the same columns as
    `columns`, with types that may be nullable or not.
    """
    collector = _RowCollector(columns, schema)
    for part in parts:
        if isinstance(part, EntryColumns):
            yield from collector.rest()
            yield from _slices(_columnar_batch(part, columns, schema))
            continue
        for row in table.rows(part):
            yield from collector.add(row)
    yield from collector.rest()


def _columnar_batch(
    rows: EntryColumns, columns: tuple[SourceColumn, ...], schema: pa.Schema
) -> pa.RecordBatch:
    arrays = [column.values(rows).cast(field.type) for column, field in zip(columns, schema, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _slices(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """Yield slices of limited size, which share the memory of the batch."""
    step = max(1, min(MAX_COLUMNAR_ROWS, batch.num_rows * MAX_BATCH_BYTES // max(batch.nbytes, 1)))
    return (batch.slice(at, step) for at in range(0, batch.num_rows, step))


@define
class _RowCollector:
    """Collects rows of the reference for a batch.

    Only the values of the columns are kept in memory, because a small entry may decompress to very much.
    """

    columns: tuple[SourceColumn, ...]
    schema: pa.Schema
    rows: list[list[Any]] = field(factory=list)
    size: int = 0

    def add(self, row: RowData) -> Iterator[pa.RecordBatch]:
        """Add a row; yield a batch if it is full."""
        values = [column.read(row) for column in self.columns]
        self.rows.append(values)
        self.size += _weight(values)
        if len(self.rows) >= MAX_BATCH_ROWS or self.size >= MAX_BATCH_BYTES:
            yield from self.rest()

    def rest(self) -> Iterator[pa.RecordBatch]:
        """Yield the batch of the rows that are waiting."""
        if self.rows:
            arrays = [
                pa.array(values, type=column.type)
                for values, column in zip(zip(*self.rows, strict=True), self.schema, strict=True)
            ]
            yield pa.RecordBatch.from_arrays(arrays, schema=self.schema)
        self.rows, self.size = [], 0


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
