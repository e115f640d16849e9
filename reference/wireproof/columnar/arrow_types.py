"""The types of a layout's integers in Arrow, under the names of the attributes of its values."""

from collections.abc import Iterable

import pyarrow as pa

from wireproof.schema.layout import FixedPart, attribute_of, bits_of, is_signed


def arrow_type(part: FixedPart, least_bits: int = 8) -> pa.DataType:
    """Return the type of a column of an integer, of `least_bits` or more."""
    sign = "int" if is_signed(part.kind) else "uint"
    kind: pa.DataType = getattr(pa, f"{sign}{max(bits_of(part.kind), least_bits)}")()
    return kind


def arrow_fields(parts: Iterable[FixedPart], least_bits: int = 8) -> dict[str, pa.Field]:
    """Return a nullable column of each integer, by its name."""
    names = {attribute_of(part.name): part for part in parts}
    return {name: pa.field(name, arrow_type(part, least_bits)) for name, part in names.items()}
