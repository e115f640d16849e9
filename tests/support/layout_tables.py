"""The tables of fields in layouts.md: one row for each part of a layout, beside what a document prints."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from attrs import frozen

from tests.support.documented_layouts import DocumentedField
from wireproof.wire.layout import (
    REST,
    VARINTS,
    Checksum,
    Count,
    Layout,
    Length,
    Nested,
    Number,
    Octets,
    OneOf,
    Packed,
    Part,
    Repeated,
    When,
    end_of,
    proto_fields,
    width_of,
)

UNKNOWN: Final = "…"
"""An offset or a size that depends on the bytes."""

TITLES: Final = ("offset", "size", "field", "type", "meaning", "in the document", "its type", "it says")


@frozen
class LayoutRow:
    """One part of a layout: the offset of its first byte, its size in bytes, and name, type and meaning."""

    place: str
    size: str
    name: str
    type: str
    meaning: str


def layout_rows(layout: Layout) -> Iterator[LayoutRow]:
    """Yield a row for each part of a layout without protobuf fields, in the order of the wire."""
    at: int | None = 0
    for part in layout.parts:
        end = None if at is None else end_of(part, at)
        size = _size(part, layout) if at is None or end is None else str(end - at)
        place = UNKNOWN if at is None else str(at)
        yield LayoutRow(place, size, part.name, _type(part), "; ".join(filter(None, _meaning(part))))
        at = end


def markdown_table(layout: Layout, documented: Sequence[DocumentedField]) -> Iterator[str]:
    """Yield the lines of a table in Markdown: offset to meaning, and what the document prints beside it."""
    fields = {one.field or one.name: one for one in documented}
    yield _line(TITLES)
    yield _line(["---"] * len(TITLES))
    for row in layout_rows(layout):
        one = fields[row.name]
        cells = (row.place, row.size, f"`{row.name}`", row.type, row.meaning)
        yield _line([*cells, f"`{one.name}`", one.type, one.says])


def _line(cells: Sequence[str]) -> str:
    return "|" + "|".join(f" {cell} " if cell else " " for cell in cells) + "|"


def _size(part: Part, layout: Layout) -> str:
    """Return the size of a part: a number, a range, or the name of the number that has it."""
    width = width_of(part)
    if width is not None:
        return str(width)
    if isinstance(part, Number | Length | Count) and part.kind in VARINTS:
        return f"1 to {-(-VARINTS[part.kind][0] // 7)}"
    return next(_lengths(part.name, layout), UNKNOWN)


def _lengths(name: str, layout: Layout) -> Iterator[str]:
    """Yield the name of the length of a part: a field of the layout, or of a protobuf message in it."""
    for part in layout.parts:
        match part:
            case Length(of=of) if of == name:
                yield part.name
            case Nested(of=inner):
                fields = proto_fields(inner)
                yield from (one.name for one in fields if one.cover == "length" and one.over == name)


def _type(part: Part) -> str:
    match part:
        case Number(kind=kind) | Length(kind=kind) | Count(kind=kind) | Checksum(kind=kind):
            return kind
        case Octets(text=text):
            return "UTF-8" if text else "bytes"
        case Repeated(of=layout) | Nested(of=layout):
            return f"list of {layout.name}" if isinstance(part, Repeated) else layout.name
        case Packed(of=inner):
            return f"{_type(inner)}, or compressed"
        case When(part=inner):
            return _type(inner)
        case OneOf(layouts=layouts):
            return " or ".join(dict.fromkeys(one.name for one in layouts.values()))
    raise AssertionError(f"{part.name}: no table has such a part")


def _meaning(part: Part) -> Iterator[str]:
    """Yield the meaning of a part, that of the declaration or what its kind says, and its constants."""
    yield getattr(part, "meaning", "") or _default(part)
    match part:
        case Number(const=const, codes=codes, flags=flags):
            yield "" if const is None else f"always {const}"
            yield _codes(codes or {})
            for flag in flags:
                yield f"`{flag.mask:#04x}` {flag.name}" + (f": {_codes(flag.codes)}" if flag.codes else "")
        case Length(null=null) if null is not None and not part.meaning:
            yield f"{null} is null"
        case Packed(codec_of=codec, mask=mask):
            yield f"compressed as {codec} & {mask:#04x} says"
        case Octets(holds=inner) if inner is not None:
            yield f"can contain {_type(inner)}"


def _default(part: Part) -> str:
    match part:
        case Length(of=of):
            return f"number of bytes {'of all that is after it' if of == REST else f'of {of}'}"
        case Count(of=of):
            return f"number of {of}"
        case Checksum(algorithm=algorithm, over=over):
            return f"{algorithm.label} {'of all that is after it' if over == REST else f'of {over}'}"
    return ""


def _codes(codes: Mapping[int, str]) -> str:
    """Return codes as text: `0 none, 1 gzip`."""
    return ", ".join(f"{number} {name}" for number, name in codes.items())
