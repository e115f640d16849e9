"""The README lists the formats and the exit codes that there are, and its two first commands stand alone."""

import re

import pytest
from documentation import README, tables
from folders import TOP

from wireproof.formats import FORMATS
from wireproof.runner.exit_codes import MEANINGS


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
    assert len(README.splitlines()) <= 150
