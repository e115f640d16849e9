"""The fields of a format that are sizes, by name, and what they count: its layouts declare them."""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Final, Literal, TypeAlias

from wireproof.wire.layout import (
    REST,
    Count,
    Layout,
    Length,
    Nested,
    Number,
    OneOf,
    Packed,
    Part,
    Repeated,
    When,
    all_layouts,
    present,
)
from wireproof.wire.trace import FieldSpan

SizeKind: TypeAlias = Literal["length", "count"]
"""A number of bytes, or a number of elements."""

COMPRESSED_SIZES: Final[Mapping[str, SizeKind]] = {"contentSize": "length"}
"""The sizes in frames of LZ4 and Zstandard that cover no bytes of their own space."""


def size_kind(span: FieldSpan, layout: Layout | None) -> SizeKind | None:
    """Return which size a field is, by its cover, and without a cover as the layout declares its name."""
    if span.cover is None:
        return size_fields(layout).get(name_of(span))
    match span.cover.kind:
        case "length" | "count" as kind:
            return kind
    return None


def name_of(span: FieldSpan) -> str:
    """Return the name of a field without its scope."""
    return span.path.rpartition(".")[2]


@cache
def size_fields(layout: Layout | None) -> Mapping[str, SizeKind]:
    """Return the names of the sizes in a layout, and in the compressed data that it may have."""
    kinds = {part.name: kind for part in _parts(layout) if (kind := _declared_kind(part)) is not None}
    return {**COMPRESSED_SIZES, **kinds}


def _declared_kind(part: Part) -> SizeKind | None:
    match part:
        case Length():
            return "length"
        case Count():
            return "count"
        case Number(asks_for=asks_for) if asks_for:
            return "count"
    return None


@cache
def deciding_fields(layout: Layout | None) -> frozenset[str]:
    """Return the names of the fields that decide which bytes are which other fields.

    These are the sizes, the constants of a revision, and the numbers by which parts are there, are packed or
    have one of several layouts.
    """
    return frozenset((*size_fields(layout), *map(_deciding_name, _whole_parts(layout)))) - {""}


def _deciding_name(part: Part) -> str:
    match part:
        case When(number=name) | OneOf(number=name) | Packed(codec_of=name):
            return name
        case Number(name=name, const=int()):
            return name
    return ""


@cache
def counts_of_lists(layout: Layout | None) -> Mapping[str, frozenset[str]]:
    """Return the names of the counts of each list, by the name of the list."""
    return _grouped((part.of, part.name) for part in _parts(layout) if isinstance(part, Count))


@cache
def companions_of_lists(layout: Layout | None) -> Mapping[str, frozenset[str]]:
    """Return the names of the lists that have an element for each element of another, by its name."""
    parts = _parts(layout)
    return _grouped((part.like, part.name) for part in parts if isinstance(part, Repeated) and part.like)


@cache
def first_length(layout: Layout | None) -> tuple[int, str] | None:
    """Return the position and kind of the length of all bytes after it that values begin with, or None."""
    if layout is None:
        return None
    lengths = [part for part in layout.parts if isinstance(part, Length) and part.of == REST]
    for part in lengths:
        if (at := layout.position(part.name)) is not None:
            return at, part.kind
    match layout.parts[0]:
        case Repeated(of=inner) | Nested(of=inner):
            return first_length(inner)
        case OneOf(layouts=layouts):
            found = {first_length(one) for one in layouts.values()}
            return found.pop() if len(found) == 1 else None
    return None


def _grouped(pairs: Iterator[tuple[str, str]]) -> Mapping[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for key, name in pairs:
        found.setdefault(key, set()).add(name)
    return {key: frozenset(names) for key, names in found.items()}


def _parts(layout: Layout | None) -> Iterator[Part]:
    """Yield the parts of a layout and of all layouts in it; none for a format without a layout."""
    return map(present, _whole_parts(layout))


def _whole_parts(layout: Layout | None) -> Iterator[Part]:
    """Yield the same parts, with the conditions under which they are there."""
    for one in all_layouts(layout) if layout is not None else ():
        yield from one.parts
