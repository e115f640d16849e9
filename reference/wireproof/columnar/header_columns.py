"""The fields of entry headers as Arrow columns, one row for each item: kafka.md §1.1, §2.1."""

from collections.abc import Sequence
from typing import Any, Final

from wireproof.columnar import kernels
from wireproof.columnar.kafka_scan import KINDS, Buffer, KafkaFrames
from wireproof.columnar.kernels import CODEC, HEADER, Array
from wireproof.columnar.optional_deps import np, pa

CODECS: Final = ("none", "gzip", "snappy", "lz4", "zstd", "5", "6", "7")
"""Names of the codecs, by bits 0 to 2 of the attributes: §1.2."""

HEADER_COLUMNS: Final = pa.schema(
    [
        pa.field("position", pa.int64(), nullable=False),
        pa.field("length", pa.int64(), nullable=False),
        pa.field("kind", pa.string(), nullable=False),
        pa.field("fault", pa.string()),
        pa.field("remarks", pa.list_(pa.string()), nullable=False),
        pa.field("handed", pa.bool_(), nullable=False),
        pa.field("records", pa.int64(), nullable=False),
        pa.field("magic", pa.int8()),
        pa.field("offset", pa.int64()),
        pa.field("last_offset", pa.int64()),
        pa.field("codec", pa.string()),
        pa.field("attributes", pa.int16()),
        pa.field("base_timestamp", pa.int64()),
        pa.field("max_timestamp", pa.int64()),
        pa.field("leader_epoch", pa.int32()),
        pa.field("producer_id", pa.int64()),
        pa.field("producer_epoch", pa.int16()),
        pa.field("base_sequence", pa.int32()),
    ]
)
"""The columns of an item.

`kind` is frame, garbage or tail; `fault` is the class of garbage; `remarks` are classes; `handed` is true if
the reference made the item. The columns from `magic` on are the header fields of a whole entry, null for
other items. `base_timestamp` and the columns from `leader_epoch` on exist for batches (v2) only. For a
message, `offset` and `last_offset` are its own offset and `max_timestamp` is its timestamp, -1 in v0. For
garbage, the fields hold whatever its bytes contain.
"""


ALL_COLUMNS: Final = tuple(HEADER_COLUMNS.names)

REMARKS: Final = HEADER_COLUMNS.field("remarks").type


def read_header_columns(
    buffer: Buffer, frames: KafkaFrames, names: Sequence[str] = ALL_COLUMNS
) -> pa.RecordBatch:
    """Return these columns of `HEADER_COLUMNS` for the items that `scan` found in `buffer`."""
    columns = _items(frames) | (_fields(frames, _read(buffer, frames)) if set(names) - ITEM_COLUMNS else {})
    schema = pa.schema([HEADER_COLUMNS.field(name) for name in names])
    arrays = [pa.array(columns[field.name], field.type) for field in schema]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


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


ITEM_COLUMNS: Final = frozenset(
    {"position", "length", "kind", "fault", "remarks", "handed", "records", "magic"}
)
"""The columns that can be made without the bytes."""


def _items(frames: KafkaFrames) -> dict[str, Any]:
    return {
        "position": frames.position,
        "length": frames.length,
        "kind": pa.array(KINDS).take(pa.array(frames.kind)),
        "fault": _faults(frames),
        "remarks": _remarks(frames),
        "handed": frames.handed,
        "records": frames.records,
        "magic": pa.array(frames.magic, mask=frames.magic < 0),
    }


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


def _fields(frames: KafkaFrames, rows: Array) -> dict[str, Any]:
    """Return the header fields as columns, null for items that do not have the field."""
    batch, absent = frames.magic == 2, frames.magic < 0
    common = {
        "offset": rows["offset"],
        "last_offset": rows["offset"] + np.where(batch, rows["last_offset_delta"], 0),
        "codec": np.array(CODECS, object)[rows["attributes"] & CODEC],
        "attributes": rows["attributes"],
        "max_timestamp": rows["max_timestamp"],
    }
    of_batches = {
        "base_timestamp": rows["base_timestamp"],
        "leader_epoch": rows["leader_epoch"],
        "producer_id": rows["producer_id"],
        "producer_epoch": rows["producer_epoch"],
        "base_sequence": rows["base_sequence"],
    }
    masked = {name: pa.array(np.ascontiguousarray(column), mask=absent) for name, column in common.items()}
    return masked | {
        name: pa.array(np.ascontiguousarray(column), mask=~batch) for name, column in of_batches.items()
    }
