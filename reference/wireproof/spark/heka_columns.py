"""Rows of Heka streams: the frames, or the messages in them. heka.md, sections 1 and 2."""

from collections.abc import Callable, Iterable
from struct import unpack
from typing import Any, Final

import pyarrow as pa
from attrs import evolve

from wireproof.heka.frame import Frame
from wireproof.heka.header import Header
from wireproof.heka.message import Field, Message
from wireproof.spark.columns import RAW, SHARED, Column, Line, Table, itself, of_part, text


def _frame(line: Line) -> Frame | None:
    frame: Frame | None = line.item.value
    return frame


def _header(name: str, kind: pa.DataType, read: Callable[[Header], Any]) -> Column:
    return Column(name, kind, of_part(lambda frame: read(frame.header), _frame))


FRAMES: Final = Table(
    (
        *SHARED,
        Column("revision", pa.string(), lambda line: line.revision),
        _header("message_length", pa.int64(), lambda header: header.message_length),
        _header("hmac_hash_function", pa.string(), lambda header: header.hmac_hash_function),
        _header("hmac_signer", pa.string(), lambda header: text(header.hmac_signer)),
        _header("hmac_key_version", pa.int64(), lambda header: header.hmac_key_version),
        Column("signer", pa.string(), of_part(lambda frame: text(frame.signer), _frame)),
        RAW,
    ),
    itself,
)
"""One row a frame, or a run of bytes that is none; `signer`: who proved to have signed, if keys are given."""


def _lines(line: Line) -> Iterable[Line]:
    """A frame holds one message."""
    frame = _frame(line)
    return (line if frame is None else evolve(line, index=0, record=frame.message),)


def _message(line: Line) -> Message | None:
    message: Message | None = line.record
    return message


def _of(name: str, kind: pa.DataType) -> Column:
    return Column(name, kind, of_part(lambda message: getattr(message, name), _message))


def _text(name: str) -> Column:
    return Column(name, pa.string(), of_part(lambda message: text(getattr(message, name)), _message))


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


def _field(one: Field) -> dict[str, Any]:
    return {
        "name": text(one.name),
        "value_type": one.value_type or "STRING",
        "representation": text(one.representation),
        "value_string": [text(data) for data in one.value_string],
        "value_bytes": list(one.value_bytes),
        "value_integer": list(one.value_integer),
        "value_double": [unpack(">d", data)[0] for data in one.value_double],
        "value_bool": list(one.value_bool),
    }


RECORDS: Final = Table(
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
        Column("fields", FIELDS, of_part(lambda message: [_field(f) for f in message.fields], _message)),
        Column("signer", pa.string(), of_part(lambda frame: text(frame.signer), _frame)),
    ),
    _lines,
)
"""One row a message; `timestamp` in nanoseconds; a field without type is STRING, as section 1 has it."""
