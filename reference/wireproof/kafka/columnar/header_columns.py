"""The fields of entry headers as Arrow columns, one row for each item: kafka.md §1.1, §2.1."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Final

import pyarrow as pa

from wireproof.columnar.arrow_types import arrow_fields
from wireproof.columnar.basic_kernels import KINDS, Array, Buffer
from wireproof.columnar.optional_deps import np
from wireproof.kafka.columnar import entry_kernels as kernels
from wireproof.kafka.columnar.entry_kernels import CODEC, HEADER
from wireproof.kafka.columnar.entry_scan import KafkaFrames
from wireproof.kafka.layouts import BATCH

CODECS: Final = ("none", "gzip", "snappy", "lz4", "zstd", "5", "6", "7")
"""Names of the codecs, by bits 0 to 2 of the attributes: §1.2."""

FIELD_COLUMNS: Final = {
    {"base_offset": "offset", "partition_leader_epoch": "leader_epoch"}.get(name, name): field
    for name, field in arrow_fields(BATCH.numbers).items()
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

REMARKS: Final = HEADER_COLUMNS.field("remarks").type


@cache
def _kinds() -> pa.Array:
    """Return the names of the kinds; made at the first use, for the first array imports pandas."""
    return pa.array(KINDS)


def read_header_columns(
    buffer: Buffer, frames: KafkaFrames, names: Sequence[str] = ALL_COLUMNS
) -> pa.RecordBatch:
    """Return these columns of `HEADER_COLUMNS` for the items that `scan` found in `buffer`."""
    return header_columns(
        frames, np.empty(0) if ITEM_COLUMNS.issuperset(names) else _read(buffer, frames), names
    )


def header_columns(frames: KafkaFrames, entry_headers: Array, names: Sequence[str]) -> pa.RecordBatch:
    """Return these columns of `HEADER_COLUMNS`.

    `entry_headers` has a row of `kernels.HEADER` for each item; it is not used if all names are in
    `ITEM_COLUMNS`.
    """
    schema = _schema(tuple(names))
    columns = [
        _ITEMS[name](frames) if name in _ITEMS else _field(name, frames, entry_headers) for name in names
    ]
    arrays = [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


@cache
def _schema(names: tuple[str, ...]) -> pa.Schema:
    return pa.schema([HEADER_COLUMNS.field(name) for name in names])


def _read(buffer: Buffer, frames: KafkaFrames) -> Array:
    """Read the header fields of whole entries; other items get zeros."""
    whole = frames.magic >= 0
    rows = np.zeros(len(frames), HEADER)
    headers = np.zeros(int(whole.sum()), HEADER)
    wire = np.frombuffer(memoryview(buffer).cast("B"), np.uint8)
    position, magic = frames.position[whole].astype(np.uint64), frames.magic[whole].astype(np.uint8)
    kernels.read_entry_headers(wire, position, magic, headers)
    rows[whole] = headers
    return rows


def _faults(frames: KafkaFrames) -> Any:  # noqa: ANN401 - pyarrow has no types
    if not frames.answers:
        return pa.nulls(len(frames), pa.string())
    faults: list[str | None] = [None] * len(frames)
    for row, item in frames.answers.items():
        faults[row] = item.cls
    return faults


def _remarks(frames: KafkaFrames) -> Any:  # noqa: ANN401 - as above
    if not any(item.remarks for item in frames.answers.values()):
        none = pa.array(np.zeros(len(frames) + 1, np.int32))
        return pa.ListArray.from_arrays(none, pa.array([], pa.string()), type=REMARKS)
    remarks: list[list[str]] = [[]] * len(frames)
    for row, item in frames.answers.items():
        remarks[row] = [remark.cls for remark in item.remarks]
    return remarks


_ITEMS: Final[dict[str, Callable[[KafkaFrames], Any]]] = {
    "position": lambda frames: frames.position,
    "length": lambda frames: frames.length,
    "kind": lambda frames: _kinds().take(pa.array(frames.kind)),
    "fault": _faults,
    "remarks": _remarks,
    "by_reference": lambda frames: frames.by_reference,
    "records": lambda frames: frames.records,
    "magic": lambda frames: pa.array(frames.magic, mask=frames.magic < 0),
}

ITEM_COLUMNS: Final = frozenset(_ITEMS)
"""The columns that can be made without the bytes."""

_FIELDS: Final[dict[str, Callable[[Array], Array]]] = {
    "last_offset": lambda rows: rows["base_offset"] + rows["last_offset_delta"],
    "codec": lambda rows: np.array(CODECS, object)[rows["attributes"] & CODEC],
}
"""The columns that are computed from fields of `kernels.HEADER`; the delta of a message is 0."""

OF_MESSAGES: Final = frozenset({"offset", "last_offset", "codec", "attributes", "max_timestamp"})
"""The header columns that messages (v0, v1) have too."""


def _field(name: str, frames: KafkaFrames, rows: Array) -> pa.Array:
    """Return a header field as a column, null for items that do not have the field."""
    column = _FIELDS[name](rows) if name in _FIELDS else rows[FIELD_COLUMNS[name].name]
    absent = frames.magic < 0 if name in OF_MESSAGES else frames.magic != 2
    return pa.array(np.ascontiguousarray(column), mask=absent)
