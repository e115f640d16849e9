"""The vocabulary of layouts. A layout is an ordered list of parts, declared once and read by everything else.

A declaration is the table of a specification: one part for each field, in the order of the wire, with the
field's name as the specification writes it. Rules that are not layout (what a reader remarks, which check
comes first, what a delta means) are in the codecs. `layout_parts` has the kinds of parts.
"""

import re
import struct
from collections.abc import Iterator, Mapping
from functools import cache, cached_property
from typing import Any, Final

from attrs import field, frozen

from wireproof.schema.layout_parts import (
    OPAQUE_CONTENT,
    OPTION,
    PROTO_INTEGERS,
    PROTO_WIRES,
    REST,
    VARINTS,
    WHOLE,
    Called,
    Checksum,
    ChecksumAlgorithm,
    Count,
    FixedPart,
    Flag,
    Length,
    Nested,
    Number,
    Octets,
    OneOf,
    OtherFields,
    Packed,
    Part,
    ProtoField,
    ReadCall,
    Repeated,
    Tagged,
    When,
    Zero,
    named_bits,
)
from wireproof.wire.reader import FIXED_WIDTH

__all__ = [
    "OPAQUE_CONTENT", "OPTION", "PROTO_INTEGERS", "PROTO_WIRES", "REST", "VARINTS", "WHOLE", "WIDTHS",
    "Called", "Checksum", "ChecksumAlgorithm", "Count", "FixedPart", "Flag", "Layout", "Length", "Nested",
    "Number", "Octets", "OneOf", "OtherFields", "Packed", "Part", "ProtoField", "ReadCall", "Repeated",
    "Tagged", "When", "Zero",
    "all_layouts", "attribute_of", "bits_of", "declared_lengths", "end_of", "is_signed", "least_size_of",
    "named_bits", "present", "proto_fields", "tagged_fields", "width_of",
]  # fmt: skip


def tagged_fields() -> tuple[Part, ...]:
    """Return the parts of tagged fields; they are in the scope of the fields before them."""
    size = Length("tagSize", "uvarint", of="tagged")
    one = Layout("TaggedField", (Number("tag", "uvarint"), size, Octets("tagged", structure=True)))
    return Count("tagCount", "uvarint", of="tags"), Tagged("tags", of=one)


def proto_fields(layout: "Layout") -> tuple[ProtoField, ...]:
    """Return the protobuf fields of a layout."""
    return tuple(part for part in layout.parts if isinstance(part, ProtoField))


@cache
def attribute_of(name: str) -> str:
    """Return the attribute of a value class for the field `name`: `baseOffset` is `base_offset`."""
    return re.sub(r"(?<=[a-z0-9])([A-Z])", lambda found: "_" + found[1].lower(), name)


def width_of(part: Part) -> int | None:
    """Return the number of bytes that a part always has, or None."""
    match part:
        case Number(kind=kind) | Length(kind=kind) | Count(kind=kind) | Checksum(kind=kind):
            return WIDTHS.get(kind)
        case Zero(size=size, kind=kind):
            return size or WIDTHS.get(kind)
        case Octets(size=size):
            return size or None
    return None


def end_of(part: Part, start: int) -> int | None:
    """Return the position in the layout where a part ends that begins at `start`; None if it varies."""
    if isinstance(part, Zero) and part.until:
        return part.until
    width = width_of(part)
    return None if width is None else start + width


def least_size_of(part: Part) -> int:
    """Return the size of the smallest value of a part, in bytes."""
    match part:
        case Number(kind=kind) | Length(kind=kind) | Count(kind=kind) | Checksum(kind=kind):
            return WIDTHS.get(kind, 1)
        case Nested(of=layout):
            return layout.least_size
        case OneOf(layouts=layouts):
            return min(layout.least_size for layout in layouts.values())
    return width_of(part) or 0


WIDTHS: Final[dict[str, int]] = {
    **{name: packing.size for name, packing in FIXED_WIDTH.items()},
    "uint128le": 16,
}
"""The size in bytes of each integer of fixed width."""


@frozen(kw_only=True, eq=False)  # a layout is one object, and its tables have no hash
class Layout:
    """An ordered list of parts.

    Attributes:
        name: of the layout, as the specification writes it.
        parts: in the order of the wire.
        value: the class of its values; None if it has no class of its own.
        computed: the attributes of `value` that decode computes and that no part has.
        cites: the section of the specification.
    """

    name: str = field(kw_only=False)
    parts: tuple[Part, ...] = field(kw_only=False)
    value: type[Any] | None = None
    computed: tuple[str, ...] = ()
    cites: str = ""

    def part(self, name: str) -> Part:
        """Return the part with this name.

        Raises:
            KeyError: there is none.
        """
        return self._by_name[name]

    def offset(self, name: str) -> int:
        """Return the position of a part that only parts of fixed width precede.

        Raises:
            KeyError: there is no such part.
        """
        return self._offsets[name]

    def position(self, name: str) -> int | None:
        """Return the position of a part as `offset` does; None if there is no such part."""
        return self._offsets.get(name)

    @cached_property
    def numbers(self) -> tuple[Number, ...]:
        """Return the integers that a value has: all but lengths, counts and checksums."""
        return tuple(part for part in self.parts if isinstance(part, Number))

    @cached_property
    def least_size(self) -> int:
        """Return the size of the smallest value, in bytes."""
        return sum(least_size_of(part) for part in self.parts)

    @cached_property
    def _by_name(self) -> Mapping[str, Part]:
        return {part.name: part for part in self.parts}

    @cached_property
    def _offsets(self) -> Mapping[str, int]:
        return dict(self._positions())

    def _positions(self) -> Iterator[tuple[str, int]]:
        at = 0
        for part in self.parts:
            yield part.name, at
            end = end_of(part, at)
            if end is None:
                return
            at = end

    @cached_property
    def fixed_size(self) -> int:
        """Return the size of the parts of fixed width at the beginning, in bytes."""
        size = 0
        for part in self.parts:
            end = end_of(part, size)
            if end is None:
                break
            size = end
        return size


def all_layouts(layout: Layout) -> Iterator[Layout]:
    """Yield a layout and all layouts in it, outer ones first."""
    yield layout
    for part in layout.parts:
        yield from _layouts_in(part)


def _layouts_in(part: Part) -> Iterator[Layout]:
    match part:
        case Repeated(of=layout) | Nested(of=layout) | Tagged(of=layout) | ProtoField(of=Layout() as layout):
            yield from all_layouts(layout)
        case When(part=inner) | Packed(of=inner) | Octets(holds=inner) if inner is not None:
            yield from _layouts_in(inner)
        case OneOf(layouts=layouts):
            for layout in layouts.values():
                yield from all_layouts(layout)


@cache
def declared_lengths(layout: Layout | None) -> Mapping[str, frozenset[str]]:
    """Return the names of the lengths of each part in a layout, by the name of the part; none without one."""
    found: dict[str, set[str]] = {}
    for one in all_layouts(layout) if layout is not None else ():
        for part in map(present, one.parts):
            if isinstance(part, Length):
                found.setdefault(part.of, set()).add(part.name)
    return {name: frozenset(lengths) for name, lengths in found.items()}


def present(part: Part) -> Part:
    """Return an optional part as if it were there."""
    return part.part if isinstance(part, When) else part


def is_signed(kind: str) -> bool:
    """Return whether a primitive reads a signed integer."""
    return VARINTS[kind][1] if kind in VARINTS else kind.startswith("int")


def bits_of(kind: str) -> int:
    """Return the number of bits of an integer."""
    return VARINTS[kind][0] if kind in VARINTS else 8 * WIDTHS[kind]


@frozen
class _SizeStep:
    """Bytes of fixed size, then a length or a part that has one.

    Attributes:
        fixed: the size of the fields up to the end of the length, or up to the beginning of the part.
        of: what the length counts, or the name of the part.
        packing: of the length; None for a part.
    """

    fixed: int
    of: str
    packing: struct.Struct | None


def _width_of(part: Part) -> int | None:
    """Return the number of bytes that a part always has, also if it is another layout; else None."""
    if not isinstance(part, Nested):
        return width_of(part)
    widths = [_width_of(one) for one in part.of.parts]
    return None if None in widths else sum(width or 0 for width in widths)


@frozen(eq=False)
class Extent:
    """The size of a value of a layout whose parts have a fixed size or a length before them."""

    layout: Layout

    @cached_property
    def _steps(self) -> tuple[_SizeStep, ...]:
        return tuple(self._walk())

    def _walk(self) -> Iterator[_SizeStep]:
        fixed, counted = 0, set[str]()
        for part in self.layout.parts:
            width = _width_of(part)
            fixed += width or 0
            if isinstance(part, Length) and width is not None:
                yield _SizeStep(fixed, part.of, FIXED_WIDTH[part.kind])
                counted.add(part.of)
            elif width is None and (part.name in counted or not counted & {REST, WHOLE}):
                yield _SizeStep(fixed, part.name, None)
            else:
                continue
            fixed = 0
        yield _SizeStep(fixed, "", None)

    @cached_property
    def unknown(self) -> str:
        """Return the first part whose size neither its type nor a length gives; empty if there is none."""
        counted = {""}
        for step in self._steps:
            if step.packing is None and step.of not in counted:
                return step.of
            counted.add(step.of)
        return ""

    @cached_property
    def least(self) -> int:
        """Return a size that no value falls below, in bytes."""
        until = (part.until for part in self.layout.parts if isinstance(part, Zero))
        return max(self.layout.fixed_size, *until, 0)

    def at(self, data: bytes | bytearray, pos: int = 0) -> tuple[int, bool]:
        """Return the size of the value at `pos` and True.

        If `data` ends before a length, or a part has no length, return a lower bound and False. A length of
        the whole that is smaller than every value is invalid; then the size is that of the smallest one.
        """
        size, counted = 0, {"": 0}
        for step in self._steps:
            size += step.fixed
            if step.packing is None:
                if step.of not in counted:
                    return size, False
                size += counted[step.of]
                continue
            start = pos + size - step.packing.size
            if pos + size > len(data):
                return size, False
            number: int = step.packing.unpack_from(data, start)[0]
            if step.of in (REST, WHOLE):
                return max(self.least, number + (size if step.of == REST else 0)), True
            counted[step.of] = max(number, 0)  # null, or refused
        return size, True
