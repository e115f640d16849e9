"""The widths of the integers of each value class on the wire, to wrap edited numbers that do not fit."""

from collections.abc import Mapping
from functools import cache

from wireproof.cases.mutate.layout_facts import integer_fields
from wireproof.cases.mutate.mutation_rules import merged


@cache
def _unsigned_bits() -> dict[type, Mapping[str, int]]:
    """Return class and field to bits, for integers without a layout."""
    return merged(lambda rules: rules.unsigned_bits)


def fitted(owner: type, name: str, value: int) -> int:
    """Wrap `value` to the width of the field `name` of `owner`. Without a known width return it unchanged."""
    row = integer_fields().get(owner, {}).get(name)
    if row is not None:
        return row.wrapped(value)
    bits = _unsigned_bits().get(owner, {}).get(name)
    return value if bits is None else value & ((1 << bits) - 1)
