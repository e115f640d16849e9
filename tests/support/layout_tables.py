"""The tables of fields in the documents: one row for each part of a layout, beside what a document prints."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from attrs import frozen

from tests.fixture_tables.vectors import documented_layouts
from wireproof.cases.fixtures import Suite
from wireproof.cases.sources import Citation, DocumentedField, cited
from wireproof.formats import FORMATS
from wireproof.wire.layout import (
    REST,
    VARINTS,
    WHOLE,
    Checksum,
    Count,
    Flag,
    Layout,
    Length,
    Nested,
    Number,
    Octets,
    OneOf,
    OtherFields,
    Packed,
    Part,
    ProtoField,
    Repeated,
    Tagged,
    When,
    Zero,
    all_layouts,
    end_of,
    proto_fields,
    width_of,
)

UNKNOWN: Final = "…"
"""An offset or a size that depends on the bytes."""


@frozen
class FlagRow:
    """Named bits of a number: the mask in hex, the name, and the names of the numbers that the bits make."""

    mask: str
    name: str
    codes: str


@frozen
class LayoutRow:
    """One part of a layout.

    Attributes:
        place: the offset of its first byte; of a protobuf field, its number.
        size: in bytes; of a protobuf field, its label.
        name, type, meaning: as text.
        flags: its named bits.
    """

    place: str
    size: str
    name: str
    type: str
    meaning: str
    flags: tuple[FlagRow, ...] = ()


@frozen
class LayoutTable:
    """The table of one layout.

    Attributes:
        name: of the layout.
        cites: the section of the specification.
        titles: of the columns: place, size, field, type, meaning.
        rows: in the order of the wire; the fields of a protobuf message by number.
    """

    name: str
    cites: str
    titles: tuple[str, ...]
    rows: tuple[LayoutRow, ...]


BYTES_TITLES: Final = ("offset", "size", "field", "type", "meaning")
PROTOBUF_TITLES: Final = ("number", "label", "field", "type", "meaning")


def layout_tables(layout: Layout) -> tuple[LayoutTable, ...]:
    """Return the tables of a layout and of those inside it, each once; one with a single part has none."""
    return tuple(dict.fromkeys(layout_table(one) for one in all_layouts(layout) if len(one.parts) > 1))


def layout_table(layout: Layout) -> LayoutTable:
    """Return the table of a layout without those inside it."""
    titles = PROTOBUF_TITLES if proto_fields(layout) else BYTES_TITLES
    return LayoutTable(layout.name, layout.cites, titles, tuple(_rows(layout)))


def _rows(layout: Layout) -> Iterator[LayoutRow]:
    at: int | None = 0
    for part in layout.parts:
        if isinstance(part, ProtoField | OtherFields):
            yield _proto_row(part)
            continue
        place = UNKNOWN if at is None else str(at)
        flags = tuple(map(_flag_row, part.flags)) if isinstance(part, Number) else ()
        end = None if at is None else end_of(part, at)
        size = _size(part, layout) if at is None or end is None else str(end - at)
        yield LayoutRow(place, size, part.name, type_of(part), meaning_of(part), flags)
        at = end


def _proto_row(part: ProtoField | OtherFields) -> LayoutRow:
    if isinstance(part, OtherFields):
        return LayoutRow("others", "", "", "", part.meaning)
    label = "required" if part.required else "repeated" if part.repeated else "optional"
    return LayoutRow(str(part.number), label, part.name, type_of(part), meaning_of(part))


def _flag_row(flag: Flag) -> FlagRow:
    return FlagRow(f"{flag.mask:#04x}", flag.name, codes_text(flag.codes or {}))


def codes_text(codes: Mapping[int, str]) -> str:
    """Return codes as text: `0 none, 1 gzip`."""
    return ", ".join(f"{number} {name}" for number, name in codes.items())


# --- sizes ---


def _size(part: Part, layout: Layout) -> str:
    """Return the size of a part: a number, a range, or the name of the number that has it."""
    width = width_of(part)
    if width is not None:
        return str(width)
    match part:
        case Number(kind=kind) | Length(kind=kind) | Count(kind=kind) | Checksum(kind=kind) if (
            kind in VARINTS
        ):
            return f"1 to {-(-VARINTS[kind][0] // 7)}"
        case When(part=inner, values=values):
            size = _size(inner, layout)
            return f"{size} or 0" if values and size != UNKNOWN else size
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


# --- types ---


def type_of(part: Part) -> str:  # noqa: C901, PLR0911 - one arm for each kind
    """Return the type of a part."""
    match part:
        case Number(kind=kind) | Length(kind=kind) | Count(kind=kind) | Checksum(kind=kind):
            return kind
        case Zero(kind=kind):
            return kind or "bytes"
        case Octets(text=text):
            return "UTF-8" if text else "bytes"
        case Repeated(of=layout):
            return f"list of {_name(layout)}"
        case Nested(of=layout):
            return _name(layout)
        case Packed(of=inner):
            return f"{type_of(inner)}, or compressed"
        case When(part=inner):
            return type_of(inner)
        case OneOf(layouts=layouts):
            return " or ".join(dict.fromkeys(map(_name, layouts.values())))
        case Tagged():
            return "tagged fields"
        case ProtoField(of=kind):
            return kind if isinstance(kind, str) else kind.name
    return ""


def _name(layout: Layout) -> str:
    """Return the name of a layout; of one without a table, that of the part in it."""
    return type_of(layout.parts[0]) if len(layout.parts) == 1 else layout.name


# --- meanings ---


def meaning_of(part: Part) -> str:
    """Return the meaning of a part: that of the declaration, or what its kind says, and its constants."""
    return "; ".join(filter(None, (getattr(part, "meaning", "") or _default(part), *_constants(part))))


_COVERED: Final = {REST: "of all that is after it", WHOLE: "of the whole"}
"""The bytes of a length or a checksum that is not about one part."""


def _default(part: Part) -> str:
    match part:
        case Length(of=of):
            return f"number of bytes {_COVERED.get(of, f'of {of}')}"
        case Count(of=of):
            return f"number of {of}"
        case Checksum(algorithm=algorithm, over=over):
            return f"{algorithm.label} {_COVERED.get(over, f'of {over}')}"
        case Zero(until=until):
            return f"0, up to offset {until}" if until else "0"
        case When(part=inner):
            return _default(inner)
    return ""


def _constants(part: Part) -> Iterator[str]:
    """Yield the constants of a part: its number, its codes, when it is there, and what it contains."""
    match part:
        case Number(const=const, codes=codes, most=most):
            yield "" if const is None else f"always {const}"
            yield codes_text(codes or {})
            yield "" if most is None else f"at most {most}"
        case Count(advisory=True):
            yield "readers read to the end and compare"
        case Zero(nonzero=nonzero) if nonzero != "accept":
            yield f"other bytes are {'refused' if nonzero == 'reject' else 'remarked'}"
        case Length(null=null) if null is not None and not part.meaning:
            yield f"{null} is null"
        case Packed(codec_of=codec, mask=mask):
            yield f"compressed as {codec}{'' if mask == -1 else f' & {mask:#04x}'} says"
        case When(part=inner):
            yield from _constants(inner)
            yield f"only if {condition(part)}" if part.values else ""
        case OneOf(number=number, layouts=layouts):
            yield f"by {number}: " + codes_text({code: _name(one) for code, one in layouts.items()})
        case Octets(holds=inner) if inner is not None:
            yield f"can contain {type_of(inner)}"
        case ProtoField(size=size, codes=codes, cover=cover, over=over, deprecated=deprecated):
            yield f"{size} bytes" if size else ""
            yield codes_text(codes or {})
            yield f"{cover} of the {over}" if cover else ""
            yield "ignored" if deprecated else ""


def condition(part: When) -> str:
    """Return the condition under which a part is there."""
    masked = part.number if part.mask == -1 else f"{part.number} & {part.mask:#04x}"
    return f"{masked} is {' or '.join(map(str, part.values))}"


# --- beside a document ---


@frozen
class PrintedTable:
    """A table of a layout, beside what a document prints.

    Attributes:
        table: the table.
        place: the place in the document; None if no document of the suite prints it.
        rows: the rows, each with the field of the document.
    """

    table: LayoutTable
    place: Citation | None
    rows: tuple[tuple[LayoutRow, DocumentedField | None], ...]


def printed_tables(format_id: str, suite: Suite) -> Sequence[PrintedTable]:
    """Return the tables of the layout of a format that has one; raise `FixtureError`."""
    layout = FORMATS[format_id].layout
    assert layout is not None, format_id
    documents = {one.layout: one for one in documented_layouts(suite) if one.format == format_id}
    found = []
    for table in layout_tables(layout):
        document = documents.get(table.name)
        places = cited([document.cites], suite.sources) if document else []
        fields = {one.field or one.name: one for one in document.fields} if document else {}
        rows = tuple((row, fields.get(row.name)) for row in table.rows)
        found.append(PrintedTable(table, places[0] if places else None, rows))
    return found


def markdown_table(printed: PrintedTable) -> Iterator[str]:
    """Yield the lines of a table in Markdown: offset to meaning, and what the document prints beside it."""
    titles = (*printed.table.titles, *(("in the document", "its type", "it says") if printed.place else ()))
    yield _line(titles)
    yield _line(["---"] * len(titles))
    for row, one in printed.rows:
        flags = (
            f"`{flag.mask}` {flag.name}" + (f": {flag.codes}" if flag.codes else "") for flag in row.flags
        )
        meaning = "; ".join(filter(None, (row.meaning, *flags)))
        cells = [row.place, row.size, f"`{row.name}`", row.type, meaning]
        if printed.place:
            cells += [f"`{one.name}`", one.type, one.says] if one else [""] * 3
        yield _line(cells)


def _line(cells: Sequence[str]) -> str:
    return "|" + "|".join(f" {cell} " if cell else " " for cell in cells) + "|"
