"""The numbers of typed Iggy headers: little-endian, as iggy.md §2.3 lists the kinds."""

import struct
from typing import Any

import numpy as np

LAYOUTS = {
    "int8": "<b", "int16": "<h", "int32": "<i", "int64": "<q",
    "uint8": "<B", "uint16": "<H", "uint32": "<I", "uint64": "<Q",
}  # fmt: skip
FLOATS = {"float32": "<f4", "float64": "<f8"}


def with_numbers(value: Any) -> Any:
    """Return a value of any Iggy format whose headers have the field `typed`."""
    match value:
        case {"headers": [*pairs]}:
            rest = {name: with_numbers(part) for name, part in value.items()}
            return {**rest, "headers": [[_typed(part) for part in pair] for pair in pairs]}
        case dict():
            return {name: with_numbers(part) for name, part in value.items()}
        case list():
            return [with_numbers(part) for part in value]
    return value


def _typed(part: Any) -> Any:
    """Return a header value, or a key with a kind, with what its accessor returns; other keys are text."""
    if not isinstance(part, dict):
        return part
    return {**part, "typed": number(part["kind"], bytes.fromhex(part["value"]))}


def number(kind: str, data: bytes) -> str | bool | None:
    """Return the number or boolean; None if the kind has none or the bytes are not one of it."""
    if kind == "bool":
        return {b"\0": False, b"\1": True}.get(data)
    if kind in FLOATS:
        return _float(FLOATS[kind], data)
    if kind in LAYOUTS:
        return (
            str(struct.unpack(LAYOUTS[kind], data)[0])
            if len(data) == struct.calcsize(LAYOUTS[kind])
            else None
        )
    return _wide(kind, data) if kind in ("int128", "uint128") and len(data) == 16 else None


def _wide(kind: str, data: bytes) -> str:
    low, high = struct.unpack("<Qq" if kind == "int128" else "<QQ", data)
    return str((high << 64) + low)


def _float(layout: str, data: bytes) -> str | None:
    """Return the shortest decimal text without exponent that reads back as the same number."""
    if len(data) != np.dtype(layout).itemsize:
        return None
    found = np.frombuffer(data, layout)[0]
    return str(found) if not np.isfinite(found) and not np.isnan(found) else _finite(found)


def _finite(found: Any) -> str:
    return "NaN" if np.isnan(found) else str(np.format_float_positional(found, unique=True, trim="-"))
