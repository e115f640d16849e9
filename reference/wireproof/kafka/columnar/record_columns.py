"""Records as Arrow columns: offset, timestamp, key, value and headers, one row for each record."""

from collections.abc import Iterator
from typing import Any, Final

import pyarrow as pa

from wireproof.columnar.basic_kernels import SLACK, Array, Buffer
from wireproof.columnar.optional_deps import np
from wireproof.kafka.columnar import entry_kernels
from wireproof.kafka.columnar.checked_entries import CheckedEntries
from wireproof.kafka.columnar.entry_scan import ScanStep, scan_steps
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
    for step in scan_steps(buffer, options, keep=True):
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


def clean_records(block: CheckedEntries) -> pa.RecordBatch:
    """Return the records of the clean entries of a block, which must have slots."""
    slots = block.slots
    return pa.RecordBatch.from_arrays(
        [
            pa.array(np.repeat(block.entries.position.astype(np.int64), block.records)),
            pa.array(np.ascontiguousarray(slots["offset"])),
            pa.array(np.ascontiguousarray(slots["timestamp"])),
            _octets(block, slots["key_at"], slots["key_length"]),
            _octets(block, slots["value_at"], slots["value_length"]),
            _headers(block),
        ],
        schema=RECORD_COLUMNS,
    )


def _octets(block: CheckedEntries, at: Array, length: Array) -> pa.Array:
    """Copy runs of bytes of these lengths into a column; a negative length is null."""
    at, length = np.ascontiguousarray(at), np.ascontiguousarray(length)
    ends, null = _ends(length), length < 0
    out = pa.allocate_buffer(int(ends[-1]) + int(SLACK))  # its pool keeps freed memory: new pages are slow
    entry_kernels.copy_ranges(block.entries.wire, block.arena, at, ends, np.frombuffer(out, np.uint8))
    valid = pa.py_buffer(np.packbits(~null, bitorder="little")) if null.any() else None
    return pa.Array.from_buffers(pa.binary(), at.size, [valid, pa.py_buffer(ends), out])


def _ends(length: Array) -> Array:
    """Return the ends of consecutive runs of these lengths, after a first 0."""
    ends = np.zeros(length.size + 1, np.int32)
    entry_kernels.compute_ends(length, ends)
    return ends


def _headers(block: CheckedEntries) -> pa.Array:
    counts = np.ascontiguousarray(block.slots["headers"])
    kind, ends = RECORD_COLUMNS.field("headers").type, _ends(counts)
    size = int(ends[-1])
    if not size:
        return pa.ListArray.from_arrays(pa.array(ends), pa.array([], RECORD_HEADER), type=kind)
    at, length = np.empty((2, size), np.uint64), np.empty((2, size), np.int32)
    entry_kernels.locate_headers(
        block.entries.wire, block.arena, np.ascontiguousarray(block.slots["headers_at"]), counts, at, length
    )
    parts = [_octets(block, at[row], length[row]) for row in (0, 1)]
    pairs = pa.StructArray.from_arrays(parts, fields=list(RECORD_HEADER))
    return pa.ListArray.from_arrays(pa.array(ends), pairs, type=kind)


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
