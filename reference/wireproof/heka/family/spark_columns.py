"""The columns of Heka streams: tables of frames and of the messages in them. heka.md, sections 1 and 2.

The columns of fields have the names and types of the layouts.
"""

from collections.abc import Callable, Iterable
from struct import unpack
from typing import Any, Final

import pyarrow as pa
from attrs import evolve

from wireproof.heka.frame import HekaFrame
from wireproof.heka.header import HEADER
from wireproof.heka.message import FIELD, MESSAGE, DynamicField, HekaMessage
from wireproof.spark.columns import (
    RAW,
    SHARED,
    RowData,
    SourceColumn,
    SourceTable,
    decode_text,
    item_row,
    read_part,
)
from wireproof.wire.layout import ProtoField, proto_fields

TYPES: Final[dict[str, pa.DataType]] = {
    "bool": pa.bool_(),
    "bytes": pa.binary(),
    "double": pa.float64(),
    "enum": pa.string(),
    "int32": pa.int32(),
    "int64": pa.int64(),
    "string": pa.string(),
    "uint32": pa.int64(),
}
"""The type of the column of a field, by its type in protobuf."""

_DECODED: Final[dict[str, Callable[[bytes], Any]]] = {
    "double": lambda data: unpack(">d", data)[0],
    "string": decode_text,
}
"""The functions that convert what a value of the reference has as bytes."""


def _value(part: ProtoField, value: Any) -> Any:  # noqa: ANN401 - of any type
    """Return what a column has for the value of a field."""
    decoded = _DECODED.get(str(part.of))
    if value is None or decoded is None:
        return list(value) if part.repeated else value
    return [decoded(one) for one in value] if part.repeated else decoded(value)


def _frame(row: RowData) -> HekaFrame | None:
    frame: HekaFrame | None = row.item.value
    return frame


def _column(part: ProtoField, of: Callable[[RowData], object]) -> SourceColumn:
    return SourceColumn(
        part.name, TYPES[str(part.of)], read_part(lambda value: _value(part, getattr(value, part.name)), of)
    )


_HEADER: Final = tuple(part for part in proto_fields(HEADER) if not part.deprecated and part.name != "hmac")


FRAMES: Final = SourceTable(
    (
        *SHARED,
        SourceColumn("revision", pa.string(), lambda row: row.revision),
        *(_column(part, read_part(lambda frame: frame.header, _frame)) for part in _HEADER),
        SourceColumn("signer", pa.string(), read_part(lambda frame: decode_text(frame.signer), _frame)),
        RAW,
    ),
    item_row,
)
"""One row for each frame or run of bytes that is none; `signer` is the verified signer, if keys are given."""


def _rows(row: RowData) -> Iterable[RowData]:
    """Return the row of the one message that a frame holds."""
    frame = _frame(row)
    return (row if frame is None else evolve(row, index=0, record=frame.message),)


def _message(row: RowData) -> HekaMessage | None:
    message: HekaMessage | None = row.record
    return message


FIELDS: Final = pa.list_(
    pa.struct(
        [
            (part.name, pa.list_(kind) if part.repeated else kind)
            for part in proto_fields(FIELD)
            for kind in (TYPES[str(part.of)],)
        ]
    )
)


def _field(field: DynamicField) -> dict[str, Any]:
    row = {part.name: _value(part, getattr(field, part.name)) for part in proto_fields(FIELD)}
    return row | {"value_type": field.value_type or "STRING"}


RECORDS: Final = SourceTable(
    (
        *SHARED,
        *(_column(part, _message) for part in proto_fields(MESSAGE) if not part.repeated),
        SourceColumn(
            "fields", FIELDS, read_part(lambda message: [_field(field) for field in message.fields], _message)
        ),
        SourceColumn("signer", pa.string(), read_part(lambda frame: decode_text(frame.signer), _frame)),
    ),
    _rows,
)
"""One row for each message; `timestamp` is in nanoseconds; a field without type is STRING: section 1."""
