"""The types of a layout's integers in NumPy and Arrow, under the names of the attributes of its values."""

from collections.abc import Iterable
from typing import Any

from wireproof.columnar.optional_deps import np, pa
from wireproof.wire.layout import FixedPart, attribute_of, bits_of, is_signed


def numpy_dtype(parts: Iterable[FixedPart]) -> "np.dtype[Any]":
    """Return the type of a row of integers, the widest first, so that each is at a multiple of its size."""
    widest_first = sorted(parts, key=lambda part: -bits_of(part.kind))
    return np.dtype([(attribute_of(part.name), _numpy_code(part.kind)) for part in widest_first])


def _numpy_code(kind: str) -> str:
    return f"{'i' if is_signed(kind) else 'u'}{bits_of(kind) // 8}"


def arrow_type(part: FixedPart, least_bits: int = 8) -> pa.DataType:
    """Return the type of a column of an integer, of `least_bits` or more."""
    sign = "int" if is_signed(part.kind) else "uint"
    kind: pa.DataType = getattr(pa, f"{sign}{max(bits_of(part.kind), least_bits)}")()
    return kind


def arrow_fields(parts: Iterable[FixedPart], least_bits: int = 8) -> dict[str, pa.Field]:
    """Return a nullable column of each integer, by its name."""
    names = {attribute_of(part.name): part for part in parts}
    return {name: pa.field(name, arrow_type(part, least_bits)) for name, part in names.items()}
