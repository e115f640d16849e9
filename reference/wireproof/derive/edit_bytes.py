"""Field-aware edits: change a named field of a traced layout, and fix up its lengths and checksums.

Only the trace has the position of a field, and the bytes that a length or checksum covers. Only the
outermost bytes are edited; the mutators reach bytes inside a compressed region by compressing it again.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache, lru_cache
from struct import error
from typing import Literal, TypeAlias

from attrs import frozen

from wireproof.formats import FORMATS
from wireproof.schema.layout import (
    REST,
    Checksum,
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
from wireproof.wire.reader import FIXED_WIDTH
from wireproof.wire.rejection import Rejected
from wireproof.wire.trace import Cover, CoverKind, FieldSpan
from wireproof.wire.writer import Writer


@cache
def checksums() -> Mapping[CoverKind, Callable[[bytes], int]]:
    """Return the checksums over outermost bytes that can be fixed up without a key, as in the layouts."""
    return {
        part.algorithm.label: part.algorithm.of
        for fmt in FORMATS.values()
        for layout in all_layouts(fmt.layout)
        for part in map(present, layout.parts)
        if isinstance(part, Checksum)
    }


@frozen
class EditedBytes:
    """Bytes after an edit, and their layout."""

    data: bytes
    spans: tuple[FieldSpan, ...]


def encode_field(span: FieldSpan, value: int) -> bytes | None:
    """Return `value` in the type of the field; None if it does not fit or the type holds no integer."""
    return _encoded(span.type, value)


@lru_cache(maxsize=1 << 14)  # a family encodes the same values of the same fields many times
def _encoded(kind: str, value: int) -> bytes | None:
    with suppress(error, OverflowError, Rejected):
        if kind in FIXED_WIDTH:
            return FIXED_WIDTH[kind].pack(value)
        if kind == "uint128le":
            return value.to_bytes(16, "little")
        if kind in ("varint", "varlong", "uvarint"):
            writer = Writer()
            getattr(writer, kind)("", value)
            return bytes(writer.data)
    return None


def replace_field(data: bytes, spans: Sequence[FieldSpan], span: FieldSpan, new: bytes) -> EditedBytes:
    """Return the bytes with those of `span` replaced, and the layout moved with them."""
    outer = tuple(one for one in spans if not one.space)
    grown = len(new) - (span.end - span.start)
    moved = tuple(_moved(one, span.start, span.end, grown) for one in outer) if grown else outer
    return EditedBytes(data[: span.start] + new + data[span.end :], moved)


def shift_spans(spans: tuple[FieldSpan, ...], start: int, end: int, grown: int) -> tuple[FieldSpan, ...]:
    """Return the spans after the bytes `start` to `end` became `grown` longer; spans inside are removed."""
    if end > start:
        spans = tuple([one for one in spans if one.start < start or one.end > end])
    return tuple([_moved(one, start, end, grown) for one in spans]) if grown else spans


def _moved(one: FieldSpan, start: int, end: int, grown: int) -> FieldSpan:
    if one.end <= start and (one.cover is None or one.cover.end < start):
        return one
    cover = one.cover
    if cover is not None:
        first = _at(cover.start, start, end, grown) if cover.start != start else start
        cover = Cover(cover.kind, first, _at(cover.end, start, end, grown), cover.bias)
    if one.end <= start and one.start < start:
        return FieldSpan(one.path, one.space, one.start, one.end, one.type, one.value, cover)
    first = one.start if one.start <= start < one.end else _at(one.start, start, end, grown)
    return FieldSpan(one.path, one.space, first, _at(one.end, start, end, grown), one.type, one.value, cover)


def _at(pos: int, start: int, end: int, grown: int) -> int:
    """Return the position `pos` after the edit; one inside removed bytes moves to their end."""
    if pos >= end:
        return pos + grown
    return min(pos, end + grown) if pos > start else pos


def fix_up(damaged: EditedBytes, *, lengths: bool = True, spare: str = "", grow: bool = False) -> EditedBytes:
    """Fix up lengths, then checksums, those of smaller ranges first.

    The field with the path `spare` stays as it was edited; with `grow` a varint may change its size.
    """
    data, spans = damaged.data, damaged.spans
    order = [
        (span.cover.kind in checksums(), span.cover.end - span.cover.start, index)
        for index, span in enumerate(spans)
        if span.cover is not None and not span.space
    ]
    for *_, index in sorted(order):
        covered = spans[index]
        assert covered.cover is not None
        if covered.path == spare or (covered.cover.kind == "length" and not lengths):
            continue
        new = correct_bytes(data, covered, covered.cover)
        if new is None or new == data[covered.start : covered.end]:
            continue
        if len(new) == covered.end - covered.start:
            data = data[: covered.start] + new + data[covered.end :]
        elif grow:
            moved = replace_field(data, spans, covered, new)
            data, spans = moved.data, moved.spans
    return EditedBytes(data, spans)


def correct_bytes(data: bytes, span: FieldSpan, cover: Cover) -> bytes | None:
    """Return the correct bytes of a length or checksum; None if unknown, or if its type cannot hold it."""
    if cover.kind == "length":
        return encode_field(span, cover.end - cover.start + cover.bias)
    check = checksums().get(cover.kind)
    return encode_field(span, check(data[cover.start : cover.end])) if check else None


SizeKind: TypeAlias = Literal["length", "count"]
"""A number of bytes, or a number of elements."""


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
    # In frames of LZ4 and Zstandard, this size covers no bytes of its own space.
    kinds: dict[str, SizeKind] = {"contentSize": "length"}
    for part in _parts(layout):
        if isinstance(part, Length):
            kinds[part.name] = "length"
        elif isinstance(part, Count) or (isinstance(part, Number) and part.asks_for):
            kinds[part.name] = "count"
    return kinds


@cache
def deciding_fields(layout: Layout | None) -> frozenset[str]:
    """Return the names of the fields that decide which bytes are which other fields.

    These are the sizes, the constants of a revision, and the numbers by which parts are there, are packed or
    have one of several layouts.
    """
    names = set(size_fields(layout))
    for part in (part for one in all_layouts(layout) for part in one.parts):
        match part:
            case When(number=name) | OneOf(number=name) | Packed(codec_of=name):
                names.add(name)
            case Number(name=name, const=int()):
                names.add(name)
    return frozenset(names - {""})


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
    return (present(part) for one in all_layouts(layout) for part in one.parts)
