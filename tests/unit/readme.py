"""The README as its tests follow it; what runs otherwise than it stands there says `readme.toml`, and why."""

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from attrs import frozen
from document import Command, Source, steps
from following import Follower, Row
from machine import need

TESTS: Final = Path(__file__).resolve().parents[1]
README: Final = (TESTS.parent / "README.md").read_text(encoding="utf-8")
STEPS: Final = steps(README)

SPARK: Final = "Scan archives"
"""The section that `spark/test_readme_scan.py` follows; the others are `unit/test_readme_commands.py`'s."""


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


def left(command: Command) -> bool:
    """Whether it is not run."""
    return command.typed.startswith(tuple(one.typed for one in LEFT))


def sections() -> list[str]:
    """The sections in which something is to be typed, from top to bottom."""
    commands = [step for step in STEPS if isinstance(step, Command)]
    return list(dict.fromkeys(step.section for step in commands if not left(step)))


def _rows(section: str) -> Iterator[Row]:
    """What is particular about the commands of a section."""
    commands = [step for step in STEPS if isinstance(step, Command)]
    return (ROWS[step.typed] for step in commands if step.section == section and step.typed in ROWS)


def followed(section: str, follower: Follower) -> None:
    """Have a section followed, in a folder with what it and those above it had saved.

    A section whose commands need a tool that is not here is skipped.

    Raises:
        Departs: a command does otherwise than the README says.
    """
    last = max(number for number, step in enumerate(STEPS) if step.section == section)
    need(*(tool for row in _rows(section) for tool in row.needs))
    for step in STEPS[: last + 1]:
        match step:
            case Source() if step.name:
                follower.saves(step)
            case Source() if step.section == section:
                follower.tries(step)
            case Command() if step.section == section and not left(step):
                follower.types(step, ROWS.get(step.typed, Row()))
