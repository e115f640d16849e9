"""Values drawn from the shape of their class, for a row of the table that brings no strategy of its own.

A class says which types its fields have, not which values go together; so what a codec does not encode
is left out, and that as near to the leaf as there is a row for the part.
"""

from types import NoneType, UnionType
from typing import Any, Final, Literal, Union, get_args, get_origin, get_type_hints

from attrs import fields, has
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from wireproof.cases.strategies.damaged import written
from wireproof.formats import FORMATS, Format
from wireproof.wire.rejected import Rejected

INTEGERS: Final = (0, 1, 2, 7, 127, 128, 255, 65535, (1 << 31) - 1, 1 << 31, (1 << 32) - 1, (1 << 63) - 1)
"""Both ends of the unsigned fields, and where their varints take one more byte."""

SIZES: Final = (0, 1, 2, 4, 8, 16)
"""Bytes of the fixed kinds of the formats."""


def values_of(row: Format) -> SearchStrategy[Any]:
    """Values of the class of `row` that it encodes."""
    return _built(row.value).filter(lambda value: _encodes(row, value))


def _encodes(row: Format, value: object) -> bool:
    try:
        written(row, value)
    except Rejected:
        return False
    return True


def _drawn(kind: Any) -> SearchStrategy[Any]:  # noqa: ANN401 - a type, as annotations have it
    """Values of one type."""
    if kind in _SCALARS:
        return _SCALARS[kind]
    origin, args = get_origin(kind), get_args(kind)
    if origin is Literal:
        return st.sampled_from(args)
    if origin in (Union, UnionType):
        return st.one_of(*map(_drawn, args))
    if origin is tuple and args[-1] is Ellipsis:
        return st.lists(_drawn(args[0]), max_size=3).map(tuple)
    if origin is tuple:
        return st.tuples(*map(_drawn, args))
    assert has(kind), f"{kind} is no type of a value"
    return _built(kind)


def _built(kind: type) -> SearchStrategy[Any]:
    """Instances of a value class; those that its validators or its own row refuse are drawn again."""
    hints = get_type_hints(kind)
    parts = {a.name: _drawn(hints[a.name]) for a in fields(kind)}
    built = st.fixed_dictionaries(parts).map(lambda drawn: _tried(kind, drawn))
    row = next((row for row in FORMATS.values() if row.value is kind), None)
    return built.filter(lambda value: value is not None and (row is None or _encodes(row, value)))


def _tried(kind: type, drawn: dict[str, Any]) -> Any:  # noqa: ANN401 - an instance, or None
    try:
        return kind(**drawn)
    except (Rejected, ValueError):
        return None


def _octets() -> SearchStrategy[bytes]:
    """Bytes of the fixed sizes, and text."""
    fixed = st.sampled_from(SIZES).flatmap(lambda size: st.binary(min_size=size, max_size=size))
    return st.one_of(fixed, st.text(st.characters(codec="ascii"), min_size=1, max_size=9).map(str.encode))


_SCALARS: Final[dict[object, SearchStrategy[Any]]] = {
    int: st.one_of(st.sampled_from(INTEGERS), st.integers(0, 1 << 16)),
    bytes: _octets(),
    bool: st.booleans(),
    NoneType: st.none(),
}
