"""The lines that a client program prints: records, errors, and answers to what it produced."""

import json
import re
from collections.abc import Mapping
from typing import Final, TypeAlias

from attrs import frozen

from wireproof.kafka.family.client_program.regroup_records import SeenRecord

TIMESTAMP_TYPES: Final = {"CreateTime": "create", "LogAppendTime": "log-append", None: "none"}

NO_TIME: Final = -1

_DECIMAL: Final = re.compile(r"-?\d{1,40}")
"""A number as a library shows it: one that does not check a varint may show more than 64 bits."""

FIELDS: Final = ("offset", "timestamp", "timestampType", "key", "value", "headers")
"""The fields of a record; a library need not show each of them."""


@frozen
class Delivered:
    """A record, and the names of the fields that were printed of it."""

    record: SeenRecord
    shown: frozenset[str]


@frozen
class Failed:
    """An error of the library."""

    text: str


@frozen
class StoredRecord:
    """The answer to a record that was produced."""

    offset: int


Line: TypeAlias = Delivered | Failed | StoredRecord


def parse_line(text: bytes) -> Line:
    """Return what a line says; raise `ValueError` if it breaks the contract of a client program."""
    try:
        row = json.loads(text)
    except (ValueError, RecursionError):
        raise ValueError("not JSON") from None
    if not isinstance(row, dict):
        raise ValueError("a line must be a JSON object")  # noqa: TRY004 - a fault of the program, not of a type
    if "error" in row:
        return Failed(str(row["error"]))
    if set(row) == {"offset"}:
        return StoredRecord(_number(row, "offset"))
    unknown = set(row) - set(FIELDS)
    if unknown:
        raise ValueError(f"unknown field {min(unknown)}")
    return Delivered(_record(row), frozenset(row))


def _record(row: Mapping[str, object]) -> SeenRecord:
    kind = row.get("timestampType")
    if kind is not None and kind not in TIMESTAMP_TYPES:
        raise ValueError("timestampType: must be CreateTime, LogAppendTime or null")
    assert kind is None or isinstance(kind, str)
    time = NO_TIME if row.get("timestamp") is None else _number(row, "timestamp")
    return SeenRecord(
        _number(row, "offset"),
        time,
        _bytes(row.get("key"), "key"),
        _bytes(row.get("value"), "value"),
        _headers(row.get("headers")),
        TIMESTAMP_TYPES[kind] if "timestampType" in row else None,
    )


def _number(row: Mapping[str, object], name: str) -> int:
    text = row.get(name)
    if not isinstance(text, str) or not _DECIMAL.fullmatch(text):
        raise ValueError(f"{name}: must be a decimal number in a string")
    return int(text)


def _bytes(text: object, name: str) -> bytes | None:
    if text is None:
        return None
    try:
        return bytes.fromhex(text)  # type: ignore[arg-type] # what is no text is a TypeError
    except (TypeError, ValueError):
        raise ValueError(f"{name}: must be hex or null") from None


def _headers(rows: object) -> tuple[tuple[bytes, bytes | None], ...]:
    if rows is None:
        return ()
    if not isinstance(rows, list) or any(not isinstance(row, list) or len(row) != 2 for row in rows):
        raise ValueError("headers: must be pairs of name and value")
    return tuple(
        (str(name).encode("utf-8", "surrogateescape"), _bytes(value, "headers")) for name, value in rows
    )
