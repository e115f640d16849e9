"""The README, architecture.md, commands.md and other pages name what there is, and nothing else."""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, get_args

import pytest
from attrs import frozen
from documentation import DOCS, README, tables, text_of, words
from each import each
from folders import TOP
from found_faults import CLASSES, FOUND, with_tables
from goldens import load
from machine import needs

from tests.fixture_tables.documented_layouts import (
    DocumentedField,
    DocumentedLayout,
    documented_layouts,
    layout_of,
)
from wireproof import __version__
from wireproof.adapters.contract import PROTOCOL
from wireproof.adapters.registry.peers import peers_folder
from wireproof.adapters.registry.registry import resolve
from wireproof.cases import case_json, token
from wireproof.cases.rules import cited
from wireproof.cli import VERBS, group
from wireproof.derive.derived import FAMILIES
from wireproof.formats import FORMATS
from wireproof.heka.message import HEKA_FIELD, HEKA_MESSAGE
from wireproof.heka.stream import FRAME, HEKA_HEADER
from wireproof.kafka.batch import BATCH, BATCH_FLAGS, RECORD, RECORD_HEADER
from wireproof.kafka.payloads.tables import INTERNAL_TOPICS, InternalTopic, KeyedRecord
from wireproof.live.kafka_broker.requests import ProducerIds, produce_request
from wireproof.live.kafka_broker.topics import Partition
from wireproof.report.case_view import step_lines
from wireproof.run import events
from wireproof.run.baselines.known_failures import parse_baseline
from wireproof.run.exit_codes import MEANINGS
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
from wireproof.schema.tables import OPEN

# --- commands.md ---


def verbs() -> dict[str, str]:
    """Return the text about each verb in the tables of commands.md."""
    rows = [row for table in tables(text_of("commands.md"), "Verbs")[:5] for row in table]
    return {words(cell)[0].split()[0]: f"{cell} {text}" for cell, text in rows}


def test_every_verb_is_listed_once() -> None:
    assert sorted(verbs()) == sorted(VERBS)


@each("verb", VERBS)
def test_every_option_that_is_named_exists(verb: str) -> None:
    import click  # noqa: PLC0415 - as the verbs themselves, when one is asked for

    command = group.get_command(click.Context(group), verb)
    named = set(re.findall(r"(?<![\w-])--[a-z-]+", verbs().get(verb, "")))
    assert named <= {option for one in command.params for option in (*one.opts, *one.secondary_opts)}


def test_the_extras_are_those_of_the_package() -> None:
    extras = tomllib.loads((TOP / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    rows = tables(text_of("commands.md"), "Install")[0]
    assert sorted(word for row in rows for word in words(row[0])) == sorted(extras)


# --- scanning.md ---


@needs("[spark]")
def test_the_options_of_the_data_sources_are_listed() -> None:
    from wireproof.spark.logs import sources as settings  # noqa: PLC0415 - needs the extra `spark`

    shown = [
        word.lower() for row in tables(text_of("scanning.md"), "Data sources")[0] for word in words(row[0])
    ]
    assert sorted(shown) == sorted(settings._OPTIONS)


@needs("[spark]")
def test_the_tables_of_a_scan_are_listed_and_their_columns_are_those_of_the_code() -> None:
    from scan_tables_page import page  # noqa: PLC0415 - needs the extra `spark`

    from wireproof.spark.table_columns import TABLES  # noqa: PLC0415 - likewise

    shown = [words(row[0])[0] for row in tables(text_of("scanning.md"), "One scan")[0]]
    assert set(shown) == set(TABLES)
    assert text_of("scan-tables.md") == page(), "write it: python -m tests.support.scan_tables_page"


# --- releases.md ---


def test_the_versions_of_the_contracts_are_those_of_the_code() -> None:
    rows = {row[0]: row[2] for row in tables(text_of("releases.md"), "Version numbers")[0]}
    assert list(rows.values()) == [
        str(PROTOCOL),
        str(events.SCHEMA),
        str(case_json.SCHEMA),
        token.PREFIX.removeprefix("wp").rstrip(":"),
    ]


def test_the_version_of_the_package_is_the_same_everywhere() -> None:
    project = tomllib.loads((TOP / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["version"] == __version__
    assert f"### {__version__}" in text_of("releases.md")


# --- found.md ---


def test_the_tables_of_found_faults_are_those_of_the_data() -> None:
    text = text_of("found.md")
    assert text == with_tables(text), "python -m tests.support.found_faults --tables"


def test_every_fault_is_a_case_and_a_known_failure_with_what_one_must_know_of_it() -> None:
    known = {one.id for one in load().cases}
    for row in FOUND:
        assert row.case in known
        assert row.cls in CLASSES
        assert re.fullmatch(r"https://github\.com/\S+/blob/\S+#L\d+(-L\d+)?", row.code)
        assert all(link.startswith("https://github.com/") for link in row.threads)
        assert row.threads or row.cls in {"not reported", "policy"}
        assert re.fullmatch(r"\S.* [\d.-]+", row.library)
        assert row.heading == "Brokers" or resolve(row.adapter)
    peers = [row for row in FOUND if row.heading != "Brokers" and row.adapter == row.name]
    assert all(row.case in known_failures(row.name) for row in peers)
    assert len({(row.case, row.adapter) for row in FOUND}) == len(FOUND)


def known_failures(codec: str) -> set[str]:
    (file,) = peers_folder().glob(f"*/{codec}/baseline.toml")
    return {one.id for one in parse_baseline(file.read_text(encoding="utf-8"))}


# --- all of them ---


@each("page", sorted(path.name for path in DOCS.glob("*.md")))
def test_every_page_begins_with_its_title(page: str) -> None:
    assert re.match(r"# \S", text_of(page))


SPECIFICATIONS = {"kafka.md", "iggy.md", "heka.md"}  # as long as their formats are


@each("page", sorted({path.name for path in DOCS.glob("*.md")} - SPECIFICATIONS))
def test_a_page_can_be_read_at_one_sitting(page: str) -> None:
    assert len(text_of(page).splitlines()) <= 350


# --- README.md ---


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.DOTALL | re.MULTILINE)


def test_every_format_and_exit_code_is_listed() -> None:
    rows = {row[0]: row[1] for row in tables(README, "In CI")[0]}
    for code, meaning in MEANINGS.items():
        assert rows[str(int(code))].startswith(meaning)
    for row in FORMATS.values():
        pattern = rf"^\|.*`{re.escape(row.name)}`.*`{re.escape(row.revision)}`"
        assert re.search(pattern, README, re.MULTILINE), row.format_id


@pytest.mark.parametrize("number", [0, 1])
def test_the_two_commands_stand_alone_in_their_blocks(number: int) -> None:
    command = blocks("sh")[number].strip()
    assert "\n" not in command
    assert command.startswith("python3 -m venv .venv && .venv/bin/pip install")


def test_every_document_is_linked_and_every_link_leads_to_a_file() -> None:
    links = re.findall(r"\]\((?![a-z]+:|#)([^)#]+)", README)
    assert [link for link in links if not (TOP / link).is_file()] == []
    pages = {f"reference/docs/{path.name}" for path in (TOP / "reference" / "docs").glob("*.md")}
    assert pages <= set(links)


def test_it_can_be_read_in_a_few_minutes() -> None:
    assert len(README.splitlines()) <= 120


# --- architecture.md ---


ARCHITECTURE = text_of("architecture.md")
PACKAGE = DOCS.parent / "wireproof"


def test_the_layers_are_those_that_import_linter_checks() -> None:
    tools = tomllib.loads((TOP / "pyproject.toml").read_text("utf-8"))["tool"]
    layers = tools["importlinter"]["contracts"][0]["layers"]
    rows = tables(ARCHITECTURE, "Layers")[0]
    assert [set(words(row[1])) for row in rows] == [set(re.findall(r"\w+", layer)) for layer in layers]
    assert [int(row[0]) for row in rows] == list(reversed(range(len(layers))))


def test_every_derived_family_has_a_row() -> None:
    assert [words(row[0])[0] for row in tables(ARCHITECTURE, "Cases")[1]] == [*FAMILIES, "join", "chunk"]


@each("path", sorted(set(re.findall(r"`([a-z_]+(?:/[a-z_]+)*\.py)`", ARCHITECTURE))))
def test_every_module_that_is_named_exists(path: str) -> None:
    assert (PACKAGE / path).is_file()


@each("folder", sorted(set(re.findall(r"`((?:tests|fixtures|fuzz)/(?:\w+/)*)`", ARCHITECTURE))))
def test_every_folder_that_is_named_exists(folder: str) -> None:
    assert (TOP / folder).is_dir()


# --- sequences.md follows a case with steps by hand ---


FOLLOWED = text_of("sequences.md").partition("## One case followed by hand")[2]
FOLLOWED_CASE = load().by_id["kafka.log/mixed/transaction/abort"]


def block(number: int) -> str:
    return re.findall(r"```\n(.*?)```", FOLLOWED, re.DOTALL)[number]


def test_the_steps_are_those_that_show_prints() -> None:
    assert block(0).splitlines() == list(step_lines(FOLLOWED_CASE))


def test_the_bytes_are_those_of_the_fixture_and_of_the_request() -> None:
    data = FOLLOWED_CASE.input.steps[2].data
    assert block(1).strip() == data.hex()
    ids = ProducerIds()
    ids.learn(7001, 21)
    partition = Partition("wireproof-5c1f-2", None, 0, 1, 0)
    request = produce_request(partition, ids.in_bytes(data), "wireproof-5c1f-1-a")
    request.API_VERSION = 11
    request.with_header(correlation_id=7, client_id="wireproof")
    lines = [re.split(r"  +", line.strip())[0] for line in block(2).splitlines()]
    assert bytes.fromhex("".join(lines)) == request.encode(header=True, framed=True)


# --- the tables of fields in kafka.md, heka.md and layouts.md ---


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
    section = LAYOUTS.partition(f"### {layout.name}\n")[2].partition("\n### ")[0]
    (place,) = cited([documented.cites], load().sources)
    assert place.url in section
    assert "\n".join(markdown_table(layout, documented.fields)) in section


def test_layouts_md_has_no_other_table_of_a_layout() -> None:
    printed = LAYOUTS.partition("## The v2 batch of Kafka")[2]
    assert sorted(re.findall(r"^### (\w+)$", printed, re.MULTILINE)) == sorted(
        one.layout for one in DOCUMENTED
    )


# --- the tables of record types in kafka.md §15 ---


TEXT: Final = (TOP / "reference/docs/kafka.md").read_text(encoding="utf-8")


def printed(topic: str) -> list[str]:
    section = TEXT.split(f" `{topic}`\n")[1].split("\n### ")[0]
    return [line for line in section.splitlines() if line.startswith("| ") and line[2].isdigit()]


def declared(table: InternalTopic) -> list[str]:
    return [
        f"| {number} | {record.name} | {ranged(value.versions)} | {ranged(value.flexible)} |"
        for number, record in sorted(table.records.items())
        for value in [record.value if isinstance(record, KeyedRecord) else record]
    ]


def ranged(versions: range) -> str:
    if not versions:
        return "none"
    if versions.stop == OPEN:
        return f"{versions.start} and above"
    return str(versions.start) if len(versions) == 1 else f"{versions.start} to {versions[-1]}"


@each("topic", INTERNAL_TOPICS)
def test_the_document_has_the_record_types_of_a_topic(topic: str) -> None:
    assert printed(topic) == declared(INTERNAL_TOPICS[topic])
    assert printed(topic)
