"""Records as Arrow columns: offset, timestamp, key, value, headers. One row a record."""

from collections.abc import Iterator
from typing import Any, Final

from wireproof.columnar import column_kernels
from wireproof.columnar.extra import np, pa
from wireproof.columnar.frames import Buffer, Run, runs
from wireproof.columnar.kernels import SLACK, Array, Octets
from wireproof.columnar.wave import Wave
from wireproof.kafka.values import Message, Record
from wireproof.wire.items import Item
from wireproof.wire.options import DEFAULT, Options

HEADER: Final = pa.struct([pa.field("key", pa.binary(), nullable=False), pa.field("value", pa.binary())])

NO_HEADERS: Final = pa.array([], HEADER)

RECORDS: Final = pa.schema(
    [
        pa.field("frame", pa.int64(), nullable=False),
        pa.field("offset", pa.int64(), nullable=False),
        pa.field("timestamp", pa.int64(), nullable=False),
        pa.field("key", pa.binary()),
        pa.field("value", pa.binary()),
        pa.field("headers", pa.list_(pa.field("item", HEADER, nullable=False)), nullable=False),
    ]
)
"""`frame`: position in the buffer of the entry that holds the record. `timestamp`: milliseconds, -1 for none.
A header's key is the bytes as they stand. Messages of v0 and v1 have no headers."""


def records(buffer: Buffer, options: Options = DEFAULT) -> Iterator[pa.RecordBatch]:
    """The records of every frame of `buffer`, in order, in batches of `RECORDS`.

    A batch holds the records of one wave; garbage and tail give none, and `scan` accounts for them.
    """
    for run in runs(buffer, options, keep="columns"):
        batch = columns(run)
        if batch.num_rows:
            yield batch


def columns(run: Run) -> pa.RecordBatch:
    """The records of a run, as one batch of `RECORDS`."""
    if run.wave is None:
        return _rows(run.answers)
    answered = clean_records(run.wave)
    asked = _rows(run.answers) if run.answers else None
    if asked is None or not asked.num_rows:
        return answered
    both = pa.Table.from_batches([answered, asked]).combine_chunks()
    order = np.argsort(both.column("frame").to_numpy(), kind="stable")
    return both.take(order).combine_chunks().to_batches()[0]


def clean_records(wave: Wave) -> pa.RecordBatch:
    """The records of the entries that are clean, as one batch of `RECORDS`; the wave was kept as columns."""
    entries, shelf = wave.entries, wave.shelf
    if shelf is None:
        return _rows({})
    size, keys, values, _ = shelf.taken.tolist()
    ends, absent = shelf.ends[:, : size + 1], shelf.absent
    return pa.RecordBatch.from_arrays(
        [
            pa.array(np.repeat(entries.position.astype(np.int64), wave.records)),
            pa.array(shelf.numbers[0, :size]),
            pa.array(shelf.numbers[1, :size]),
            _binary(shelf.keys[:keys].copy(), ends[0], absent[0, :size]),
            _binary(shelf.values[:values], ends[1], absent[1, :size]),
            _headers(wave, shelf.headers_at[:size], ends[2]),
        ],
        schema=RECORDS,
    )


def _binary(data: Octets, ends: Array, null: Array) -> pa.Array:
    """Runs of bytes as a column; `null` says which are not there."""
    valid = pa.py_buffer(np.packbits(~null, bitorder="little")) if null.any() else None
    return pa.Array.from_buffers(pa.binary(), null.size, [valid, pa.py_buffer(ends), pa.py_buffer(data)])


def _headers(wave: Wave, headers_at: Array, ends: Array) -> pa.Array:
    kind, size = RECORDS.field("headers").type, int(ends[-1])
    if not size:
        return pa.ListArray.from_arrays(pa.array(ends), NO_HEADERS, type=kind)
    at, length = np.empty((2, size), np.uint64), np.empty((2, size), np.int32)
    column_kernels.read_headers(wave.entries.wire, wave.arena, headers_at, np.diff(ends), at, length)
    parts = [_sized(wave.entries.wire, wave.arena, at[row], length[row]) for row in (0, 1)]
    pairs = pa.StructArray.from_arrays(parts, fields=list(HEADER))
    return pa.ListArray.from_arrays(pa.array(ends), pairs, type=kind)


def _sized(wire: Array, arena: Array, at: Array, length: Array) -> pa.Array:
    """Runs of bytes of these lengths as a column; a negative one is null."""
    ends, null = np.zeros(at.size + 1, np.int32), length < 0
    column_kernels.measure_lengths(length, ends)
    out = np.empty(int(ends[-1]) + int(SLACK), np.uint8)
    column_kernels.copy_out(wire, arena, at, ends, out)
    return _binary(out[: int(ends[-1])], ends, null)


def _rows(answers: dict[int, Item]) -> pa.RecordBatch:
    """The records of frames that the reference decoded."""
    rows = [_row(item.at, one) for item in answers.values() for one in _inner(item.value)]
    return pa.RecordBatch.from_pylist(rows, schema=RECORDS)


def _inner(value: Any) -> tuple[Record | Message, ...]:  # noqa: ANN401 - an entry, or None
    match value:
        case None:
            return ()
        case Message(messages=None):
            return (value,)
        case Message():
            return value.messages or ()
        case _:
            found: tuple[Record, ...] = value.records
            return found


def _row(at: int, one: Record | Message) -> dict[str, Any]:
    headers = one.headers if isinstance(one, Record) else ()
    return {
        "frame": at,
        "offset": one.offset,
        "timestamp": one.timestamp,
        "key": one.key,
        "value": one.value,
        "headers": [{"key": key, "value": value} for key, value in headers],
    }
