"""The columns of Heka streams: tables of frames and of the messages in them. heka.md, sections 1 and 2."""

from collections.abc import Callable, Iterable
from struct import unpack
from typing import Any, Final

import pyarrow as pa
from attrs import evolve

from wireproof.heka.frame import HekaFrame
from wireproof.heka.header import HekaHeader
from wireproof.heka.message import DynamicField, HekaMessage
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


def _frame(row: RowData) -> HekaFrame | None:
    frame: HekaFrame | None = row.item.value
    return frame


def _header(name: str, kind: pa.DataType, read: Callable[[HekaHeader], Any]) -> SourceColumn:
    return SourceColumn(name, kind, read_part(lambda frame: read(frame.header), _frame))


FRAMES: Final = SourceTable(
    (
        *SHARED,
        SourceColumn("revision", pa.string(), lambda row: row.revision),
        _header("message_length", pa.int64(), lambda header: header.message_length),
        _header("hmac_hash_function", pa.string(), lambda header: header.hmac_hash_function),
        _header("hmac_signer", pa.string(), lambda header: decode_text(header.hmac_signer)),
        _header("hmac_key_version", pa.int64(), lambda header: header.hmac_key_version),
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


def _of(name: str, kind: pa.DataType) -> SourceColumn:
    return SourceColumn(name, kind, read_part(lambda message: getattr(message, name), _message))


def _text(name: str) -> SourceColumn:
    return SourceColumn(
        name, pa.string(), read_part(lambda message: decode_text(getattr(message, name)), _message)
    )


FIELDS: Final = pa.list_(
    pa.struct(
        [
            ("name", pa.string()),
            ("value_type", pa.string()),
            ("representation", pa.string()),
            ("value_string", pa.list_(pa.string())),
            ("value_bytes", pa.list_(pa.binary())),
            ("value_integer", pa.list_(pa.int64())),
            ("value_double", pa.list_(pa.float64())),
            ("value_bool", pa.list_(pa.bool_())),
        ]
    )
)


def _field(field: DynamicField) -> dict[str, Any]:
    return {
        "name": decode_text(field.name),
        "value_type": field.value_type or "STRING",
        "representation": decode_text(field.representation),
        "value_string": [decode_text(data) for data in field.value_string],
        "value_bytes": list(field.value_bytes),
        "value_integer": list(field.value_integer),
        "value_double": [unpack(">d", data)[0] for data in field.value_double],
        "value_bool": list(field.value_bool),
    }


RECORDS: Final = SourceTable(
    (
        *SHARED,
        _of("uuid", pa.binary()),
        _of("timestamp", pa.int64()),
        _text("type"),
        _text("logger"),
        _of("severity", pa.int32()),
        _text("payload"),
        _text("env_version"),
        _of("pid", pa.int32()),
        _text("hostname"),
        SourceColumn(
            "fields", FIELDS, read_part(lambda message: [_field(field) for field in message.fields], _message)
        ),
        SourceColumn("signer", pa.string(), read_part(lambda frame: decode_text(frame.signer), _frame)),
    ),
    _rows,
)
"""One row for each message; `timestamp` is in nanoseconds; a field without type is STRING: section 1."""
