"""The other pages: verbs, tables of a scan, options of the sources, versions of the contracts, faults."""

import re
import tomllib

from documentation import DOCS, pages, tables, text_of, words
from each import each
from folders import TOP
from found_faults import CLASSES, FOUND, with_tables
from goldens import load
from machine import needs

from wireproof import __version__
from wireproof.adapters.contract import PROTOCOL
from wireproof.adapters.packaged_folders import peers_folder
from wireproof.adapters.registry import resolve
from wireproof.cases import case_json, token
from wireproof.cli import VERBS, group
from wireproof.runner import events
from wireproof.runner.known_failures import parse_baseline

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
    from wireproof.spark import sources as settings  # noqa: PLC0415 - needs the extra `spark`

    shown = [
        word.lower() for row in tables(text_of("scanning.md"), "Data sources")[0] for word in words(row[0])
    ]
    assert sorted(shown) == sorted(settings._OPTIONS)


@needs("[spark]")
def test_the_tables_of_a_scan_are_listed() -> None:
    from wireproof.spark import verdict_tables as tables_of_scan  # noqa: PLC0415 - needs the extra `spark`

    text = f"{tables_of_scan.__doc__} index_files"
    shown = [words(row[0])[0] for row in tables(text_of("scanning.md"), "One scan")[0]]
    assert all(name in text for name in shown)
    listed = re.search(r"\{([\w,]+)\}\.parquet", text)
    assert listed
    assert {*listed[1].split(","), "frames", "skipped", "index_files"} == set(shown)


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
