"""Records as Arrow columns: offset, timestamp, key, value and headers, one row for each record."""

from collections.abc import Iterator
from typing import Any, Final

import pyarrow as pa

from wireproof.columnar.array_types import Buffer
from wireproof.columnar.basic_kernels import SLACK, Array, Octets
from wireproof.columnar.optional_deps import np
from wireproof.kafka.columnar import message_kernels
from wireproof.kafka.columnar.entry_scan import ScanStep, scan_steps
from wireproof.kafka.columnar.judged_block import JudgedBlock
from wireproof.kafka.values import Message, Record
from wireproof.wire.options import DEFAULT_OPTIONS, Options
from wireproof.wire.scan_items import Item

RECORD_HEADER: Final = pa.struct(
    [pa.field("key", pa.binary(), nullable=False), pa.field("value", pa.binary())]
)

RECORD_COLUMNS: Final = pa.schema(
    [
        pa.field("frame", pa.int64(), nullable=False),
        pa.field("offset", pa.int64(), nullable=False),
        pa.field("timestamp", pa.int64(), nullable=False),
        pa.field("key", pa.binary()),
        pa.field("value", pa.binary()),
        pa.field("headers", pa.list_(pa.field("item", RECORD_HEADER, nullable=False)), nullable=False),
    ]
)
"""The columns of a record.

`frame` is the position in the buffer of the entry that holds the record. `timestamp` is in milliseconds, -1
for none. The key of a header is its bytes, which need not be UTF-8. Messages of v0 and v1 have no headers.
"""


def records(buffer: Buffer, options: Options = DEFAULT_OPTIONS) -> Iterator[pa.RecordBatch]:
    """Yield the records of every frame of `buffer`, in order, in batches of `RECORD_COLUMNS`.

    A batch holds the records of one block. Garbage and tail hold no records; `scan` reports them.
    """
    for step in scan_steps(buffer, options, keep="columns"):
        batch = step_records(step)
        if batch.num_rows:
            yield batch


def step_records(step: ScanStep) -> pa.RecordBatch:
    """Return the records of one scan step as a batch of `RECORD_COLUMNS`."""
    if step.block is None:
        return _rows(step.answers)
    clean = clean_records(step.block)
    from_reference = _rows(step.answers) if step.answers else None
    if from_reference is None or not from_reference.num_rows:
        return clean
    both = pa.Table.from_batches([clean, from_reference]).combine_chunks()
    order = np.argsort(both.column("frame").to_numpy(), kind="stable")
    return both.take(order).combine_chunks().to_batches()[0]


def clean_records(block: JudgedBlock) -> pa.RecordBatch:
    """Return the records of the clean entries of a block, which must have column buffers."""
    entries, buffers = block.entries, block.buffers
    if buffers is None:
        return _rows({})
    size, keys, values, _ = buffers.used.tolist()
    ends, absent = buffers.ends[:, : size + 1], buffers.absent
    return pa.RecordBatch.from_arrays(
        [
            pa.array(np.repeat(entries.position.astype(np.int64), block.records)),
            pa.array(buffers.numbers[0, :size]),
            pa.array(buffers.numbers[1, :size]),
            _binary(buffers.keys[:keys].copy(), ends[0], absent[0, :size]),
            _binary(buffers.values[:values], ends[1], absent[1, :size]),
            _headers(block, buffers.headers_at[:size], ends[2]),
        ],
        schema=RECORD_COLUMNS,
    )


def _binary(data: Octets, ends: Array, null: Array) -> pa.Array:
    """Return consecutive runs of bytes as a column; `null` is true for the rows that are null."""
    valid = pa.py_buffer(np.packbits(~null, bitorder="little")) if null.any() else None
    return pa.Array.from_buffers(pa.binary(), null.size, [valid, pa.py_buffer(ends), pa.py_buffer(data)])


def _headers(block: JudgedBlock, headers_at: Array, ends: Array) -> pa.Array:
    kind, size = RECORD_COLUMNS.field("headers").type, int(ends[-1])
    if not size:
        return pa.ListArray.from_arrays(pa.array(ends), pa.array([], RECORD_HEADER), type=kind)
    at, length = np.empty((2, size), np.uint64), np.empty((2, size), np.int32)
    message_kernels.locate_headers(block.entries.wire, block.arena, headers_at, np.diff(ends), at, length)
    parts = [_sized(block.entries.wire, block.arena, at[row], length[row]) for row in (0, 1)]
    pairs = pa.StructArray.from_arrays(parts, fields=list(RECORD_HEADER))
    return pa.ListArray.from_arrays(pa.array(ends), pairs, type=kind)


def _sized(wire: Array, arena: Array, at: Array, length: Array) -> pa.Array:
    """Copy runs of bytes of these lengths into a column; a negative length is null."""
    ends, null = np.zeros(at.size + 1, np.int32), length < 0
    message_kernels.compute_ends(length, ends)
    out = np.empty(int(ends[-1]) + int(SLACK), np.uint8)
    message_kernels.copy_ranges(wire, arena, at, ends, out)
    return _binary(out[: int(ends[-1])], ends, null)


def _rows(answers: dict[int, Item]) -> pa.RecordBatch:
    """Return the records of frames that the reference decoded."""
    rows = [_row(item.at, record) for item in answers.values() for record in _inner(item.value)]
    return pa.RecordBatch.from_pylist(rows, schema=RECORD_COLUMNS)


def _inner(value: Any) -> tuple[Record | Message, ...]:  # noqa: ANN401 - an entry of any version, or None
    match value:
        case None:
            return ()
        case Message(messages=None):
            return (value,)
        case Message():
            return value.messages or ()
        case _:
            records: tuple[Record, ...] = value.records
            return records


def _row(at: int, record: Record | Message) -> dict[str, Any]:
    headers = record.headers if isinstance(record, Record) else ()
    return {
        "frame": at,
        "offset": record.offset,
        "timestamp": record.timestamp,
        "key": record.key,
        "value": record.value,
        "headers": [{"key": key, "value": value} for key, value in headers],
    }
