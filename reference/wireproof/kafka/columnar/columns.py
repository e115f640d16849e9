"""The columns of Kafka logs for Arrow: a row for each item or, of clean entries, for each record."""

from collections.abc import Callable, Sequence
from typing import Any, Final

import pyarrow as pa

from wireproof.columnar.basic_kernels import KINDS, SLACK, Array
from wireproof.columnar.optional_deps import np
from wireproof.kafka.batch import BATCH
from wireproof.kafka.columnar import entry_kernels
from wireproof.kafka.columnar.entry_kernels import CODEC
from wireproof.kafka.columnar.entry_scan import CheckedEntries, KafkaFrames
from wireproof.schema.layout import FixedPart, attribute_of, bits_of, is_signed


def arrow_type(part: FixedPart, least_bits: int = 8) -> pa.DataType:
    """Return the type of a column of an integer, of `least_bits` or more."""
    sign = "int" if is_signed(part.kind) else "uint"
    kind: pa.DataType = getattr(pa, f"{sign}{max(bits_of(part.kind), least_bits)}")()
    return kind


CODECS: Final = ("none", "gzip", "snappy", "lz4", "zstd", "5", "6", "7")
"""Names of the codecs, by bits 0 to 2 of the attributes: §1.2."""

FIELD_COLUMNS: Final = {
    {"base_offset": "offset", "partition_leader_epoch": "leader_epoch"}.get(name, name): pa.field(name, kind)
    for name, kind in ((attribute_of(part.name), arrow_type(part)) for part in BATCH.numbers)
}
"""A column of each integer of a batch; two have a shorter name than the attribute."""

HEADER_COLUMNS: Final = pa.schema(
    [
        pa.field("position", pa.int64(), nullable=False),
        pa.field("length", pa.int64(), nullable=False),
        pa.field("kind", pa.string(), nullable=False),
        pa.field("fault", pa.string()),
        pa.field("remarks", pa.list_(pa.string()), nullable=False),
        pa.field("by_reference", pa.bool_(), nullable=False),
        pa.field("records", pa.int64(), nullable=False),
        *(field.with_name(name) for name, field in FIELD_COLUMNS.items() if name != "last_offset_delta"),
        pa.field("last_offset", pa.int64()),
        pa.field("codec", pa.string()),
    ]
)
"""The columns of an item.

`kind` is frame, garbage or tail; `fault` is the class of garbage; `remarks` are classes; `by_reference` is
true if the reference made the item. The columns from `offset` on are the header fields of a whole entry, null
for other items. Those that are not in `OF_MESSAGES` exist for batches (v2) only. For a message, `offset` and
`last_offset` are its own offset and `max_timestamp` is its timestamp, -1 in v0. For garbage, the fields hold
whatever its bytes contain.
"""


ALL_COLUMNS: Final = tuple(HEADER_COLUMNS.names)


def header_columns(frames: KafkaFrames, entry_headers: Array, names: Sequence[str]) -> pa.RecordBatch:
    """Return these columns of `HEADER_COLUMNS`.

    `entry_headers` has a row of `entry_kernels.HEADER` for each item; it is not used if all names are in
    `ITEM_COLUMNS`.
    """
    schema = pa.schema([HEADER_COLUMNS.field(name) for name in names])
    columns = [
        _ITEMS[name](frames) if name in _ITEMS else _field(name, frames, entry_headers) for name in names
    ]
    arrays = [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _faults(frames: KafkaFrames) -> Any:  # noqa: ANN401 - pyarrow has no types
    if not frames.answers:
        return pa.nulls(len(frames), pa.string())
    faults: list[str | None] = [None] * len(frames)
    for row, item in frames.answers.items():
        faults[row] = item.cls
    return faults


def _remarks(frames: KafkaFrames) -> Any:  # noqa: ANN401 - as above
    if not any(item.remarks for item in frames.answers.values()):
        none, kind = pa.array(np.zeros(len(frames) + 1, np.int32)), HEADER_COLUMNS.field("remarks").type
        return pa.ListArray.from_arrays(none, pa.array([], pa.string()), type=kind)
    remarks: list[list[str]] = [[]] * len(frames)
    for row, item in frames.answers.items():
        remarks[row] = [remark.cls for remark in item.remarks]
    return remarks


_ITEMS: Final[dict[str, Callable[[KafkaFrames], Any]]] = {
    "position": lambda frames: frames.position,
    "length": lambda frames: frames.length,
    "kind": lambda frames: pa.array(KINDS).take(pa.array(frames.kind)),
    "fault": _faults,
    "remarks": _remarks,
    "by_reference": lambda frames: frames.by_reference,
    "records": lambda frames: frames.records,
    "magic": lambda frames: pa.array(frames.magic, mask=frames.magic < 0),
}

ITEM_COLUMNS: Final = frozenset(_ITEMS)
"""The columns that can be made without the bytes."""

OF_MESSAGES: Final = frozenset({"offset", "last_offset", "codec", "attributes", "max_timestamp"})
"""The header columns that messages (v0, v1) have too."""


def _field(name: str, frames: KafkaFrames, rows: Array) -> pa.Array:
    """Return a header field as a column, null for items that do not have the field."""
    match name:
        case "last_offset":
            column = rows["base_offset"] + rows["last_offset_delta"]  # the delta of a message is 0
        case "codec":
            column = np.array(CODECS, object)[rows["attributes"] & CODEC]
        case _:
            column = rows[FIELD_COLUMNS[name].name]
    absent = frames.magic < 0 if name in OF_MESSAGES else frames.magic != 2
    return pa.array(np.ascontiguousarray(column), mask=absent)


# --- records: offset, timestamp, key, value and headers, one row for each record ---


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
