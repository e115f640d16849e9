"""The tables of fields in kafka.md and heka.md, and those of layouts.md, are those of the layouts."""

import re
from typing import get_args

import pytest
from documentation import tables, text_of
from each import each
from goldens import load
from layout_tables import layout_rows, markdown_table

from tests.fixture_tables.vectors import layout_of
from tests.support.documented_layouts import DocumentedLayout, documented_layouts
from wireproof.cases.rules import cited
from wireproof.heka.message import HEKA_FIELD, HEKA_MESSAGE
from wireproof.heka.stream import FRAME, HEKA_HEADER
from wireproof.kafka.layouts import BATCH, BATCH_FLAGS, RECORD, RECORD_HEADER
from wireproof.wire.layout import Layout, Number, Octets, Part, Repeated, proto_fields

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
