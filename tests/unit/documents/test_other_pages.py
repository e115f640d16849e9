"""The README, architecture.md, commands.md and other pages: verbs, options, extras, tables, links, layers."""

import re
import tomllib

from documentation import README, tables, text_of, words
from each import each
from folders import TOP
from machine import needs

from wireproof.adapters.contract import PROTOCOL
from wireproof.cases import case_json, token
from wireproof.cli import VERBS, group
from wireproof.formats import FORMATS
from wireproof.run import events
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


# --- README.md ---


def test_every_format_and_exit_code_is_listed() -> None:
    rows = {row[0]: row[1] for row in tables(README, "In CI")[0]}
    for code, meaning in MEANINGS.items():
        assert rows[str(int(code))].startswith(meaning)
    for row in FORMATS.values():
        pattern = rf"^\|.*`{re.escape(row.name)}`.*`{re.escape(row.revision)}`"
        assert re.search(pattern, README, re.MULTILINE), row.format_id


def test_every_document_is_linked_and_every_link_leads_to_a_file() -> None:
    links = re.findall(r"\]\((?![a-z]+:|#)([^)#]+)", README)
    assert [link for link in links if not (TOP / link).is_file()] == []
    pages = {f"reference/docs/{path.name}" for path in (TOP / "reference" / "docs").glob("*.md")}
    assert pages <= set(links)


def test_it_can_be_read_in_a_few_minutes() -> None:
    assert len(README.splitlines()) <= 120


# --- architecture.md ---


ARCHITECTURE = text_of("architecture.md")


def test_the_layers_are_those_that_import_linter_checks() -> None:
    tools = tomllib.loads((TOP / "pyproject.toml").read_text("utf-8"))["tool"]
    layers = tools["importlinter"]["contracts"][0]["layers"]
    rows = tables(ARCHITECTURE, "Layers")[0]
    assert [set(words(row[1])) for row in rows] == [set(re.findall(r"\w+", layer)) for layer in layers]
    assert [int(row[0]) for row in rows] == list(reversed(range(len(layers))))
