"""Facts about value classes that follow from the layouts of their formats."""

from collections.abc import Iterator, Mapping
from functools import cache

from attrs import fields, frozen

from wireproof.cases.mutate.mutation_rules import merged
from wireproof.formats import FORMATS
from wireproof.wire.layout import (
    PROTO_INTEGERS,
    Checksum,
    Layout,
    Number,
    Part,
    ProtoField,
    all_layouts,
    attribute_of,
    bits_of,
    is_signed,
    present,
)


@frozen
class IntegerField:
    """The width of an integer on the wire, in bits, and whether it is signed."""

    bits: int
    signed: bool

    def wrapped(self, value: int) -> int:
        """Wrap a number to the width."""
        low = value & ((1 << self.bits) - 1)
        return low - (1 << self.bits) if self.signed and low >> self.bits - 1 else low


@cache
def integer_fields() -> Mapping[type, Mapping[str, IntegerField]]:
    """Return the integers of each value class, by attribute."""
    found: dict[type, dict[str, IntegerField]] = {}
    for layout, value in _layouts():
        found.setdefault(value, {}).update(_integers(layout, value))
    return found


def _integers(layout: Layout, value: type) -> Iterator[tuple[str, IntegerField]]:
    """Yield the integers whose number the writer of a value chooses; a code and a constant are none."""
    names = {one.name for one in fields(value)}
    for part in map(present, layout.parts):
        match part:
            case Number(const=None, codes=None, known=None) if (name := attribute_of(part.name)) in names:
                yield name, _integer(part)
            case ProtoField(name=name, of=str(kind), codes=None) if kind in PROTO_INTEGERS:
                yield name, IntegerField(*PROTO_INTEGERS[kind])


def _integer(part: Number) -> IntegerField:
    """Return the width that the largest number of a field has, or else that of its primitive."""
    if part.most is not None:
        return IntegerField(part.most.bit_length(), signed=False)
    return IntegerField(bits_of(part.kind), is_signed(part.kind))


@cache
def computed_fields() -> Mapping[type, tuple[str, ...]]:
    """Return the attributes of each value class that its encoder computes."""
    found: dict[type, dict[str, None]] = {}
    for layout, value in _layouts():
        shown = (one.name for one in map(present, layout.parts) if _is_computed(one))
        found.setdefault(value, {}).update(dict.fromkeys((*layout.computed, *map(attribute_of, shown))))
    return {value: tuple(names) for value, names in found.items()}


def _is_computed(part: Part) -> bool:
    """Return whether the encoder computes a part that the value has too."""
    match part:
        case Checksum(shown=shown):
            return shown
        case ProtoField(cover="length"):
            return True
    return False


def _layouts() -> Iterator[tuple[Layout, type]]:
    """Yield the layouts that have a value class, with the class."""
    for row in FORMATS.values():
        for layout in all_layouts(row.layout) if row.layout is not None else ():
            if layout.value is not None:
                yield layout, layout.value


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
