"""Normalise edited values so that the encoder accepts them.

An edit changes one part; other parts that the format derives from it are adjusted, so that few edits are
lost. Faults that only bytes can have are left to the edits of bytes.
"""

from collections.abc import Callable
from functools import cache
from operator import is_
from typing import Any, Final

from attrs import has

from wireproof.cases.mutate.edit_sites import constructor_fields
from wireproof.cases.mutate.mutation_rules import all_rules, merged

SCALARS: Final = (bytes, int, str, bool, type(None))
"""Classes without parts."""


@cache
def _normalisers() -> dict[type, Callable[[Any], Any]]:
    """Return class to the function that normalises its instances."""
    return merged(lambda rules: rules.normalise)


@cache
def _whole() -> frozenset[type]:
    """Return the classes whose parts are not normalised one by one."""
    return frozenset(cls for rules in all_rules() for cls in rules.whole)


def mended(value: Any) -> Any:  # noqa: ANN401 - a value class, or a part of one
    """Return the normalised value; its parts are normalised first."""
    if isinstance(value, SCALARS):
        return value
    if isinstance(value, tuple):
        parts = [mended(part) for part in value]
        return value if all(map(is_, parts, value)) else tuple(parts)
    cls = type(value)
    if has(cls) and cls not in _whole():
        again = {name: mended(getattr(value, name)) for name in constructor_fields(cls)}
        same = all(part is getattr(value, name) for name, part in again.items())
        value = value if same else cls(**again)
    normalise = _normalisers().get(cls)
    return normalise(value) if normalise else value


def wrapped(value: int, bits: int) -> int:
    """Wrap `value` to a signed integer of `bits` bits."""
    return ((value + (1 << bits - 1)) & ((1 << bits) - 1)) - (1 << bits - 1)
