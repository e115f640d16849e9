"""Base strategies: values of a format from its value class and its layout, without rules of the format.

A family without a strategy of its own gets this one. Integers have the width of their field, constants and
codes are those of the layout; what the encoder refuses is not drawn.
"""

from functools import cache, partial
from types import NoneType, UnionType
from typing import Any, Final, Literal, Union, get_args, get_origin, get_type_hints

from attrs import fields
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from wireproof.cases.mutate.least import written
from wireproof.family import Format
from wireproof.wire.layout import (
    Layout,
    Number,
    all_layouts,
    attribute_of,
    bits_of,
    is_signed,
    present,
)
from wireproof.wire.rejection import Rejected

MAX_BYTES: Final = 40
"""The largest size of a byte field."""

MAX_ELEMENTS: Final = 3
"""The largest number of elements of a list."""


def values_by_layout(fmt: Format) -> SearchStrategy[Any]:
    """Return a strategy for the values of a format that its encoder accepts."""
    return _by_hint(fmt, fmt.value, None).filter(partial(_is_written, fmt))


def _is_written(fmt: Format, value: Any) -> bool:  # noqa: ANN401 - a value of any format
    try:
        written(fmt, value)
    except Rejected:
        return False
    return True


def _by_hint(fmt: Format, hint: Any, number: Number | None) -> SearchStrategy[Any]:  # noqa: ANN401 - an annotation
    """Return a strategy for a type; `number` is the field of an integer, if the layout has it."""
    origin, args = get_origin(hint), get_args(hint)
    if origin is Literal:
        return st.sampled_from(args)
    if origin in (Union, UnionType):
        return st.one_of(*(_by_hint(fmt, arg, number) for arg in args))
    if origin is tuple and args[-1] is Ellipsis:
        return st.lists(_by_hint(fmt, args[0], number), max_size=MAX_ELEMENTS).map(tuple)
    if origin is tuple:
        return st.tuples(*(_by_hint(fmt, arg, number) for arg in args))
    octets = st.binary(max_size=MAX_BYTES)
    scalars = {NoneType: st.none(), bool: st.booleans(), bytes: octets, int: _integers(number)}
    return scalars[hint] if hint in scalars else _instances(fmt, hint)


def _instances(fmt: Format, cls: type) -> SearchStrategy[Any]:
    """Return a strategy for the instances of a value class, with its computed fields at their defaults."""
    numbers, hints = _numbers(fmt).get(cls, {}), get_type_hints(cls)
    computed = {name for layout in _layouts(fmt) if layout.value is cls for name in layout.computed}
    drawn = [one.name for one in fields(cls) if one.init and one.name not in computed]
    return st.builds(cls, **{name: _by_hint(fmt, hints[name], numbers.get(name)) for name in drawn})


def _integers(number: Number | None) -> SearchStrategy[int]:
    """Return a strategy for the numbers of a field: its constant, its codes, its flags, or its width."""
    if number is None:
        return st.integers(0, (1 << 31) - 1)
    if number.const is not None:
        return st.just(number.const)
    if number.codes is not None:
        return st.sampled_from(sorted(number.codes))
    if number.flags:
        return _flags(number)
    bits = bits_of(number.kind)
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if is_signed(number.kind) else (0, (1 << bits) - 1)
    return st.one_of(st.integers(low, high), st.sampled_from((0, 1, low, high)))


def _flags(number: Number) -> SearchStrategy[int]:
    """Return a strategy for a sum of flags, each with one of its codes, or all its bits or none."""
    choices = []
    for flag in number.flags:
        low = flag.mask & -flag.mask
        choices.append(st.sampled_from([low * code for code in flag.codes] if flag.codes else (0, flag.mask)))
    return st.tuples(*choices).map(sum)


@cache
def _layouts(fmt: Format) -> tuple[Layout, ...]:
    return tuple(all_layouts(fmt.layout)) if fmt.layout is not None else ()


@cache
def _numbers(fmt: Format) -> dict[type, dict[str, Number]]:
    """Return the integers of each value class of a format, by attribute."""
    found: dict[type, dict[str, Number]] = {}
    for layout in _layouts(fmt):
        for part in map(present, layout.parts):
            if layout.value is not None and isinstance(part, Number):
                found.setdefault(layout.value, {})[attribute_of(part.name)] = part
    return found
