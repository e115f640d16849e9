"""The README, architecture.md, commands.md and other pages name what there is, and nothing else."""

import re
import tomllib

import pytest
from documentation import DOCS, README, pages, tables, text_of, words
from each import each
from folders import TOP
from found_faults import CLASSES, FOUND, with_tables
from goldens import load
from machine import needs

from wireproof import __version__
from wireproof.adapters.contract import PROTOCOL
from wireproof.adapters.registry.peers import peers_folder
from wireproof.adapters.registry.registry import resolve
from wireproof.cases import case_json, token
from wireproof.cases.case import Steps
from wireproof.cli import VERBS, group
from wireproof.derive.derived import FAMILIES
from wireproof.formats import FORMATS
from wireproof.live.kafka_broker.requests import ProducerIds, produce_request
from wireproof.live.kafka_broker.topics import Partition
from wireproof.report.case_view import step_lines
from wireproof.run import events
from wireproof.run.baselines.known_failures import parse_baseline
from wireproof.run.exit_codes import MEANINGS

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
    assert command is not None
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
def test_every_page_begins_with_its_title_and_its_reader_can_find_it(page: str) -> None:
    assert re.match(r"# \S", text_of(page))
    others = [text_of(name) for name in {*pages(), *(path.name for path in DOCS.glob("*.md"))} - {page}]
    assert any(page in text for text in others)


LONG = {"kafka.md", "iggy.md", "heka.md", "live-servers.md"}
"""Specifications, which are as long as their formats are, and a page that is being shortened."""


@each("page", sorted({path.name for path in DOCS.glob("*.md")} - LONG))
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


def test_the_sections_that_the_code_refers_to_are_there() -> None:
    headings = {heading.lower() for heading in re.findall(r"^#+ (.*)", ARCHITECTURE, re.MULTILINE)}
    assert {"layers", "cases", "verdicts", "events", "fuzzing", "scanning", "strength"} <= headings


# --- sequences.md follows a case with steps by hand ---


FOLLOWED = text_of("sequences.md").partition("## One case followed by hand")[2]
FOLLOWED_CASE = load().by_id["kafka.log/mixed/transaction/abort"]


def block(number: int) -> str:
    return re.findall(r"```\n(.*?)```", FOLLOWED, re.DOTALL)[number]


def test_the_steps_are_those_that_show_prints() -> None:
    assert block(0).splitlines() == list(step_lines(FOLLOWED_CASE))


def test_the_bytes_are_those_of_the_fixture_and_of_the_request() -> None:
    assert isinstance(FOLLOWED_CASE.input, Steps)
    data = FOLLOWED_CASE.input.steps[2].data
    assert data is not None
    assert block(1).strip() == data.hex()
    ids = ProducerIds()
    ids.learn(7001, 21)
    partition = Partition("wireproof-5c1f-2", None, 0, 1, 0)
    request = produce_request(partition, ids.in_bytes(data), "wireproof-5c1f-1-a")
    request.API_VERSION = 11
    request.with_header(correlation_id=7, client_id="wireproof")
    lines = [re.split(r"  +", line.strip())[0] for line in block(2).splitlines()]
    assert bytes.fromhex("".join(lines)) == request.encode(header=True, framed=True)
