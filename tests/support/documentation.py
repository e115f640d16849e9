"""The pages for readers, as the tests follow them: README, CONTRIBUTING and the pages of reference/docs.

`documentation.toml` lists the commands that run in another form, or not at all, each with its reason.
"""

import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

from attrs import frozen
from document_runner import Follower, Row
from folders import TOP
from machine import need
from markdown_commands import Command, Source, steps

DOCS: Final = TOP / "reference" / "docs"
README: Final = (TOP / "README.md").read_text(encoding="utf-8")
CONTRIBUTING: Final = (TOP / ".github" / "CONTRIBUTING.md").read_text(encoding="utf-8")

SCANNING: Final = "scanning.md"
"""The page that `spark/test_scanning_page.py` follows, in a Spark session."""

ADDING: Final = "adding-a-format.md"
"""The page that `conformance/test_outside_family.py` follows, with a further package installed."""


@frozen
class Section:
    """A section of a page in which there is something to type."""

    page: str
    title: str

    def __str__(self) -> str:
        """Return the id of its test."""
        return f"{self.page}: {self.title}"


@frozen
class Left:
    """Commands that are not run, by how they begin: why, and the test that runs what they are about."""

    typed: str
    why: str
    test: str
    word: str


_TABLE: Final = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
ROWS: Final = {row.pop("typed"): Row(**row) for row in _TABLE["command"]}
LEFT: Final = [Left(**row) for row in _TABLE["left"]]


def text_of(page: str) -> str:
    match page:
        case "README.md":
            return README
        case "CONTRIBUTING.md":
            return CONTRIBUTING
        case _:
            return (DOCS / page).read_text(encoding="utf-8")


@cache
def pages() -> tuple[str, ...]:
    """Return the names of the pages that show commands; the specifications show none."""
    names = ("README.md", "CONTRIBUTING.md", *sorted(path.name for path in DOCS.glob("*.md")))
    fences = ("\n```sh\n", "\n```bash\n", "\n```console\n")
    return tuple(name for name in names if any(fence in text_of(name) for fence in fences))


@cache
def steps_of(page: str) -> tuple[Command | Source, ...]:
    return tuple(steps(text_of(page)))


def commands() -> Iterator[Command]:
    for page in pages():
        yield from (step for step in steps_of(page) if isinstance(step, Command))


def left(command: Command) -> bool:
    return command.typed.startswith(tuple(one.typed for one in LEFT))


def sections(only: str = "") -> list[Section]:
    """Return the sections whose commands are run: those of a page, else of all that need nothing further."""
    found = (
        Section(page, step.section)
        for page in pages()
        if (page == only if only else page not in (SCANNING, ADDING))
        for step in steps_of(page)
        if isinstance(step, Command) and not left(step)
    )
    return list(dict.fromkeys(found))


def follow(section: Section, follower: Follower) -> None:
    """Run the commands of a section, in a folder with the files that it and those above it have saved.

    A section whose commands need a tool that is not here is skipped.

    Raises:
        Departs: a command does otherwise than the page says.
    """
    page = steps_of(section.page)
    last = max(number for number, step in enumerate(page) if step.section == section.title)
    typed = [step.typed for step in page if step.section == section.title and isinstance(step, Command)]
    need(*(tool for one in typed if one in ROWS for tool in ROWS[one].needs))
    for step in page[: last + 1]:
        match step:
            case Source() if step.name:
                follower.saves(step)
            case Source() if step.section == section.title:
                follower.tries(step)
            case Command() if step.section == section.title and not left(step):
                follower.types(step, ROWS.get(step.typed, Row()))


def tables(text: str, heading: str) -> list[list[list[str]]]:
    """Return the tables of a section: the cells of each row, without the row of titles.

    Args:
        text: of a page.
        heading: of the section, without its signs; subsections are not part of it.
    """
    section = re.search(rf"^#+ {re.escape(heading)}\n(.*?)(?=^#|\Z)", text, re.DOTALL | re.MULTILINE)
    assert section, heading
    found = re.findall(r"(?:^\|.*\n)+", section[1], re.MULTILINE)
    return [
        [
            [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", row.strip()[1:-1])]
            for row in one.splitlines()[2:]
        ]
        for one in found
    ]


def words(cell: str) -> list[str]:
    """Return the words in back quotes of a cell."""
    return re.findall(r"`([^`]+)`", cell)
