"""Known bugs of implementations: `tests/mutants/bugs.toml`, and which part of the suite catches each.

A bug is an entry with its links, and the versions that had it and mended it. The golden cases that fail while
it is there name it in `source.bugs`. Where no case does, the entry says why, and which other part of the
suite finds the bug.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Final

from attrs import evolve, frozen

from tests.fixture_tables.vectors import is_number
from wireproof.cases.case_json import FixtureError
from wireproof.cases.fixtures import Suite
from wireproof.cases.rules import ID_COMPONENT
from wireproof.files import read_limited_text
from wireproof.lint.sources import Problem
from wireproof.strict_parsing import MAX_TOML_SIZE, parse_toml, structure

BUGS_FILE: Final = Path(__file__).parents[1] / "mutants" / "bugs.toml"

SCOPES: Final = {
    "codec": "bytes and the value of one operation show it",
    "client": "only the course of a client shows it: its position, or what it asks for next",
    "broker": "a broker's own work: conversion, compaction, an index",
    "protocol": "a frame or a command around the formats",
    "host": "the memory or the platform of one program, which no bytes show",
}
"""Where a bug shows, by the words of `scope`. Those of `codec` are all in scope."""

CODEC: Final = "codec"

OTHER_PARTS: Final = ("derived", "property")
"""Parts of the suite besides the golden cases that may find a bug: derived cases and property tests."""


@frozen
class Bug:
    """A bug that somebody reported or mended.

    Attributes:
        id: unique; the project, and a number or a commit.
        project: the name of the implementation.
        links: https addresses of the report and of the change that mends it.
        title: one sentence on what happened.
        scope: one of `SCOPES`.
        had, fixed: a version with the bug, and the first without it, where known.
        cases: the golden cases that fail while the bug is there, sorted; the file does not have them.
        mutant: the name of the mutant that repeats it.
        missed: why no golden case catches it.
        found_by: one of `OTHER_PARTS` that finds it all the same.
        without_mutant: why no mutant repeats it.
        excluded: why it is out of scope.
    """

    id: str
    project: str
    links: tuple[str, ...]
    title: str
    scope: str
    had: str = ""
    fixed: str = ""
    cases: tuple[str, ...] = ()
    mutant: str = ""
    missed: str = ""
    found_by: str = ""
    without_mutant: str = ""
    excluded: str = ""


def known_bugs(suite: Suite) -> tuple[Bug, ...]:
    """Return the bugs of the file, each with the cases of a suite that name it.

    Raises:
        FixtureError: the file cannot be read.
    """
    named = _named_by(suite)
    return tuple(evolve(bug, cases=tuple(named.get(bug.id, ()))) for bug in _bugs())


def _named_by(suite: Suite) -> Mapping[str, list[str]]:
    """Return the ids of the cases that name a bug, by its id; numbers of a document are no bug here."""
    found: dict[str, list[str]] = {}
    for case in suite.cases:
        for name in case.source.bugs:
            if not is_number(name):
                found.setdefault(name, []).append(case.id)
    return found


@cache
def _bugs() -> tuple[Bug, ...]:
    try:
        rows = parse_toml(read_limited_text(BUGS_FILE, MAX_TOML_SIZE))["bug"]
        return tuple(structure(row, Bug, f"the bug {row.get('id')}") for row in rows)
    except (OSError, ValueError, KeyError) as error:
        raise FixtureError(f"{BUGS_FILE}: {error}") from None


def count_line(suite: Suite) -> str:
    """Return one line: how many bugs there are, and how many each part of the suite catches."""
    bugs = known_bugs(suite)
    rated = [bug for bug in bugs if not bug.excluded]
    codec = [bug for bug in rated if bug.scope == CODEC]
    by = Counter("golden cases" if bug.cases else bug.found_by for bug in rated)
    caught = ", ".join(f"{by[part]} by {part}" for part in ("golden cases", *OTHER_PARTS))
    return (
        f"history: {len(bugs)} bugs, {len(rated)} in scope: {caught}, {by['']} missed; "
        f"{sum(bool(bug.cases) for bug in codec)} of {len(codec)} that bytes can show by golden cases"
    )


# --- checks ---


FAILING_LEVELS: Final = ("must", "should")
"""Levels of cases whose failure fails a run."""

RULES: Final[Mapping[str, Callable[[Bug], object]]] = {
    "an id has a-z, 0-9, '.', '+' and '-', and begins with a letter or digit": lambda bug: (
        not re.fullmatch(ID_COMPONENT, bug.id)
    ),
    f"scope must be one of {', '.join(SCOPES)}": lambda bug: bug.scope not in SCOPES,
    "each link begins with https://": lambda bug: not all(one.startswith("https://") for one in bug.links),
    "needs a link and a title": lambda bug: not bug.links or not bug.title,
    f"found_by is one of {', '.join(OTHER_PARTS)}": lambda bug: bug.found_by not in ("", *OTHER_PARTS),
    "a bug that a codec's bytes show is in scope": lambda bug: bug.excluded and bug.scope == CODEC,
    "is out of scope, and has no cases, no mutant and no other reason": lambda bug: (
        bug.excluded and (bug.cases or bug.mutant or bug.missed or bug.without_mutant)
    ),
    "needs cases that catch it, or the reason in `missed`": lambda bug: (
        not bug.excluded and bool(bug.cases) == bool(bug.missed)
    ),
    "has cases that catch it: `found_by` is for a bug without": lambda bug: bug.cases and bug.found_by,
    "needs a mutant that repeats it, or the reason in `without_mutant`": lambda bug: (
        not bug.excluded and bug.scope == CODEC and bool(bug.mutant) == bool(bug.without_mutant)
    ),
}
"""What is wrong with an entry, and when."""


def history_problems(suite: Suite) -> Iterator[Problem]:
    """Check every entry by itself, and that no id or link is used twice; raise `FixtureError`."""
    bugs = known_bugs(suite)
    used = Counter([name for bug in bugs for name in (f"id {bug.id}", *(f"link {one}" for one in bug.links))])
    for name, number in used.items():
        if number > 1:
            yield Problem(BUGS_FILE.name, f"the {name} is there {number} times")
    for bug in bugs:
        texts = [text for text, is_wrong in RULES.items() if is_wrong(bug)]
        levels = {name: suite.by_id[name].level for name in bug.cases}
        texts += [
            f"the case {name} has the level {level}, and cannot fail a run"
            for name, level in levels.items()
            if level not in FAILING_LEVELS
        ]
        yield from (Problem(f"{BUGS_FILE.name} {bug.id}", text) for text in texts)
    for name in _named_by(suite).keys() - {bug.id for bug in bugs}:
        yield Problem(BUGS_FILE.name, f"has no bug {name}, which a case names")
