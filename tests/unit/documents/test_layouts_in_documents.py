"""The tables of fields in kafka.md and heka.md, and those of layouts.md, are those of the layouts."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, get_args

import pytest
from attrs import frozen
from documentation import tables, text_of
from each import each
from goldens import load

from tests.fixture_tables.vectors import layout_of
from tests.support.documented_layouts import DocumentedField, DocumentedLayout, documented_layouts
from wireproof.cases.rules import cited
from wireproof.heka.message import HEKA_FIELD, HEKA_MESSAGE
from wireproof.heka.stream import FRAME, HEKA_HEADER
from wireproof.kafka.batch import BATCH, BATCH_FLAGS, RECORD, RECORD_HEADER
from wireproof.schema.layout import (
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


KAFKA, HEKA, LAYOUTS = (text_of(name) for name in ("kafka.md", "heka.md", "layouts.md"))


def test_layouts_md_lists_every_part_of_the_vocabulary() -> None:
    listed = [row[0].strip("`") for row in tables(LAYOUTS, "The vocabulary")[0]]
    assert sorted(listed) == sorted(kind.__name__ for kind in get_args(Part))


def test_kafka_md_prints_the_header_of_a_batch_with_the_offsets_and_sizes_of_its_layout() -> None:
    printed = tables(KAFKA, "1.1 Header of a batch (`DefaultRecordBatch`)")[0]
    assert [row[:3] for row in printed] == [[row.place, row.size, row.name] for row in layout_rows(BATCH)]


def test_kafka_md_prints_the_masks_of_the_attributes() -> None:
    printed = tables(KAFKA, "1.2 Attributes of a batch (`DefaultRecordBatch`, `CompressionType`)")[0]
    masks = [int(row[1], 16) for row in printed if row[1]]
    assert masks == [flag.mask for flag in BATCH_FLAGS]
    assert printed[0][2].startswith("codec: 0 none, 1 gzip, 2 snappy, 3 lz4, 4 zstd")


def test_kafka_md_prints_the_fields_of_a_record_and_of_a_header_in_order() -> None:
    printed = [row[1] for row in tables(KAFKA, "1.3 Record (`DefaultRecord`)")[0]]
    names = [name for row in printed for name in row.removeprefix("of each header: ").split(", then ")]
    declared = [
        part.name
        for layout in (RECORD, RECORD_HEADER)
        for part in layout.parts
        if not isinstance(part, Repeated)
    ]
    assert [name.removesuffix(" in UTF-8") for name in names] == declared
    assert [part.text for part in RECORD_HEADER.parts if isinstance(part, Octets)] == [True, False]


@pytest.mark.parametrize(
    ("title", "layout"),
    [("Message", HEKA_MESSAGE), ("Field", HEKA_FIELD), ("Header", HEKA_HEADER)],
    ids=lambda value: value if isinstance(value, str) else value.name,
)
def test_heka_md_prints_the_schema_of_each_message(title: str, layout: Layout) -> None:
    printed = re.findall(
        r"^\| \(?(\d+)\)? \| (\w+) \| ([\w ]+)[^|]*\| ([^|]+) \|",
        HEKA.partition(f"| {title} tag |")[2].partition("\n\n")[0],
        re.MULTILINE,
    )
    rows = {name: (int(number), kind.split()[0], label.strip()) for number, name, kind, label in printed}
    declared = {
        part.name: (
            part.number,
            part.of if isinstance(part.of, str) else part.of.name,
            "required" if part.required else "repeated" if part.repeated else "optional",
        )
        for part in proto_fields(layout)
        if not part.deprecated
    }
    assert {name: row for name, row in rows.items() if not row[2].startswith("removed")} == declared


def test_heka_md_prints_the_parts_of_a_frame_with_their_sizes() -> None:
    printed = tables(HEKA, "2 Stream framing")[0]
    rows = list(layout_rows(FRAME))
    assert [(row[0].replace(" ", "_"), row[1]) for row in printed] == [(row.name, row.size) for row in rows]
    separators = {part.name: part.const for part in FRAME.parts if isinstance(part, Number)}
    assert {row[0]: row[2] for row in printed if row[0].endswith("separator")} == {
        name.replace("_", " "): f"`{const:02X}`" for name, const in separators.items()
    }


DOCUMENTED = [one for one in documented_layouts(load()) if one.format == "kafka.batch/v2"]


@each("documented", DOCUMENTED, ids=lambda one: one.layout)
def test_layouts_md_prints_the_layouts_beside_the_tables_of_the_documentation(
    documented: DocumentedLayout,
) -> None:
    layout = layout_of(documented)
    assert layout is not None
    section = LAYOUTS.partition(f"### {layout.name}\n")[2].partition("\n### ")[0]
    (place,) = cited([documented.cites], load().sources)
    assert place.url in section
    assert "\n".join(markdown_table(layout, documented.fields)) in section


def test_layouts_md_has_no_other_table_of_a_layout() -> None:
    printed = LAYOUTS.partition("## The v2 batch of Kafka")[2]
    assert sorted(re.findall(r"^### (\w+)$", printed, re.MULTILINE)) == sorted(
        one.layout for one in DOCUMENTED
    )
