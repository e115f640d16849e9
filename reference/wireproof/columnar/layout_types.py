"""The types of a layout's integers in NumPy, under the names of the attributes of its values."""

from collections.abc import Iterable
from typing import Any

from wireproof.columnar.optional_deps import np
from wireproof.wire.layout import FixedPart, attribute_of, bits_of, is_signed


def numpy_dtype(parts: Iterable[FixedPart]) -> "np.dtype[Any]":
    """Return the type of a row of integers, the widest first, so that each is at a multiple of its size."""
    widest_first = sorted(parts, key=lambda part: -bits_of(part.kind))
    return np.dtype([(attribute_of(part.name), _numpy_code(part.kind)) for part in widest_first])


def _numpy_code(kind: str) -> str:
    return f"{'i' if is_signed(kind) else 'u'}{bits_of(kind) // 8}"
