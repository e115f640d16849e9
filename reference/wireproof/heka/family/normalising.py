"""Normalise edited messages so that the encoder accepts them."""

from collections.abc import Callable
from typing import Any, Final

from attrs import evolve

from wireproof.cases.mutate.encodings import wrapped
from wireproof.heka.message import VALUE_ARRAYS, VALUE_TYPES, DynamicField, HekaMessage


def _field(field: DynamicField) -> DynamicField:
    """Keep values only in the array of the field's type, and use 64 bits for numbers: heka.md, section 4."""
    held = [name for name in VALUE_ARRAYS if getattr(field, name)]
    wanted = VALUE_ARRAYS[VALUE_TYPES.index(field.value_type or "STRING")]
    changes: dict[str, Any] = {}
    if field.value_double:
        changes["value_double"] = tuple(bits[:8].ljust(8, b"\0") for bits in field.value_double)
    if field.value_integer:
        changes["value_integer"] = tuple(wrapped(number, 64) for number in field.value_integer)
    if len(held) == 1 and held[0] != wanted:
        return evolve(field, **{**changes, "value_type": VALUE_TYPES[VALUE_ARRAYS.index(held[0])]})
    emptied: dict[str, Any] = {name: () for name in held if name != wanted}
    return evolve(field, **{**changes, **emptied}) if changes or emptied else field


def _message(message: HekaMessage) -> HekaMessage:
    """Make the uuid 16 bytes, and wrap severity and pid to 32 bits: heka.md, section 4."""
    cut: dict[str, Any] = {
        name: None if number is None else wrapped(number, 32)
        for name, number in (("severity", message.severity), ("pid", message.pid))
    }
    uuid = message.uuid[:16].ljust(16, b"\0")
    return evolve(message, uuid=uuid, timestamp=wrapped(message.timestamp, 64), **cut)


NORMALISERS: Final[dict[type, Callable[[Any], Any]]] = {DynamicField: _field, HekaMessage: _message}
"""Class to the function that normalises its instances."""
