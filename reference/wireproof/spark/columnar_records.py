"""Records of Kafka logs as rows, made from the columns of the kernels.

Between them are the items of the reference for entries that are not clean; `kafka_columns` makes their rows.
Both kinds of rows are equal.
"""

from collections.abc import Callable, Iterator
from typing import Any, Final, TypeAlias

import numpy as np
import pyarrow as pa
from attrs import frozen

from wireproof.columnar import clean_records
from wireproof.columnar.judged_block import JudgedBlock
from wireproof.columnar.kafka_scan import ScanStep
from wireproof.kafka.attribute_bits import CONTROL
from wireproof.spark import columnar_rows
from wireproof.spark.columns import TEXT_LIST
from wireproof.spark.object_reader import ObjectReader
from wireproof.wire.options import Options
from wireproof.wire.scan_items import Item

CHUNK: Final = 4 * 1024 * 1024
"""Bytes of entries whose records are made together; `columnar` limits their decompressed bytes."""

Numbers: TypeAlias = Any
"""A numpy array; mypy does not know its type here."""


@frozen
class CleanRecords:
    """The records of consecutive clean entries.

    Attributes:
        at, length: the position of the first entry, and the bytes of all of them.
        first: the index of the first entry in the block.
        block: the judged entries, of which these are a part.
        rows: the records, rows of `columnar.RECORD_COLUMNS`.
        entry_index: for each record, the index of its entry in the block.
    """

    at: int
    length: int
    first: int
    block: JudgedBlock
    rows: pa.RecordBatch
    entry_index: Numbers

    @property
    def position(self) -> Numbers:
        """Position of each record's entry in the object."""
        starts = self.block.entries.position.astype(np.int64)
        return starts[self.entry_index] - starts[self.first] + self.at

    @property
    def index(self) -> Numbers:
        """The number of each record in its entry."""
        numbers = np.arange(self.entry_index.size)
        starts = np.flatnonzero(np.diff(self.entry_index, prepend=-1))
        return numbers - np.repeat(starts, np.diff(starts, append=self.entry_index.size))

    @property
    def control(self) -> Numbers:
        """For each record, true if its entry is a control batch: kafka.md §1.2."""
        block = self.block
        return ((block.entries.magic == 2) & (block.entry_headers["attributes"] & CONTROL != 0))[
            self.entry_index
        ]


def read_records(
    stored: ObjectReader, start: int, end: int, options: Options
) -> Iterator[Item | CleanRecords]:
    """Yield the parts from `start` to `end`, both split points, in order and without gaps."""
    return columnar_rows.read_parts(
        stored, start, end, options, columnar_rows.EntryReading("columns", CHUNK, _parts_of)
    )


def _parts_of(step: ScanStep) -> Iterator[Item | CleanRecords]:
    """Yield the clean entries of a block and, between them, the items of the others."""
    block = step.block
    assert block is not None, "of whole entries"
    rows, entry_index = clean_records(block), np.repeat(np.arange(block.records.size), block.records)
    first = 0
    for stop in sorted({*step.answers, block.records.size}):
        if stop > first:
            yield _records_of(block, rows, entry_index, first, stop)
        if stop in step.answers:
            yield step.answers[stop]
        first = stop + 1


def _records_of(
    block: JudgedBlock, rows: pa.RecordBatch, entry_index: Numbers, first: int, stop: int
) -> CleanRecords:
    low, high = map(int, np.searchsorted(entry_index, (first, stop)))
    at, length = int(block.entries.position[first]), int(block.entries.length[first:stop].sum())
    return CleanRecords(at, length, first, block, rows.slice(low, high - low), entry_index[low:high])


# --- columns ---


def _constant(text: str) -> Callable[[CleanRecords, ObjectReader], Any]:
    return lambda records, _: _repeat(text, records)


def _repeat(text: str, records: CleanRecords) -> pa.Array:
    return pa.array([text]).take(pa.array(np.zeros(records.entry_index.size, np.int8)))


def _revision(records: CleanRecords, _: ObjectReader) -> pa.Array:
    return pa.array(["v0", "v1", "v2"]).take(pa.array(records.block.entries.magic[records.entry_index]))


_COLUMNS: Final[dict[str, Callable[[CleanRecords, ObjectReader], Any]]] = {
    "path": lambda records, stored: _repeat(stored.display_name, records),
    "position": lambda records, _: pa.array(records.position),
    "length": lambda records, _: pa.array(records.block.entries.length.astype(np.int64)[records.entry_index]),
    "kind": _constant("frame"),
    "fault": lambda records, _: pa.nulls(records.entry_index.size, pa.string()),
    "remarks": lambda records, _: pa.ListArray.from_arrays(
        np.zeros(records.entry_index.size + 1, np.int32), pa.array([], pa.string()), type=TEXT_LIST
    ),
    "revision": _revision,
    "control": lambda records, _: pa.array(records.control),
    "index": lambda records, _: pa.array(records.index.astype(np.int32)),
}
"""The columns of `kafka_columns.RECORDS` that are not in `columnar.RECORD_COLUMNS`, for clean entries."""


def record_columns(records: CleanRecords, stored: ObjectReader, schema: pa.Schema) -> pa.RecordBatch:
    """Return the columns of `kafka_columns.RECORDS` that `schema` names."""
    arrays = (
        _COLUMNS[field.name](records, stored) if field.name in _COLUMNS else records.rows.column(field.name)
        for field in schema
    )
    return pa.RecordBatch.from_arrays(
        [array.cast(field.type) for array, field in zip(arrays, schema, strict=True)], schema=schema
    )
