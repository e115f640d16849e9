"""The types of a layout's integers in NumPy and Arrow, under the names of the attributes of its values."""

from collections.abc import Iterable
from typing import Any

from wireproof.columnar.optional_deps import np, pa
from wireproof.wire.layout import INTEGERS, FixedPart, attribute_of


def numpy_dtype(parts: Iterable[FixedPart]) -> "np.dtype[Any]":
    """Return the type of a row of integers, the widest first, so that each is at a multiple of its size."""
    widest_first = sorted(parts, key=lambda part: -INTEGERS[part.kind][0])
    return np.dtype([(attribute_of(part.name), _numpy_code(part.kind)) for part in widest_first])


def _numpy_code(kind: str) -> str:
    bits, signed = INTEGERS[kind]
    return f"{'i' if signed else 'u'}{bits // 8}"


def arrow_type(part: FixedPart, least_bits: int = 8) -> pa.DataType:
    """Return the type of a column of an integer, of `least_bits` or more."""
    bits, signed = INTEGERS[part.kind]
    kind: pa.DataType = getattr(pa, f"{'int' if signed else 'uint'}{max(bits, least_bits)}")()
    return kind


def arrow_fields(parts: Iterable[FixedPart], least_bits: int = 8) -> dict[str, pa.Field]:
    """Return a nullable column of each integer, by its name."""
    names = {attribute_of(part.name): part for part in parts}
    return {name: pa.field(name, arrow_type(part, least_bits)) for name, part in names.items()}
