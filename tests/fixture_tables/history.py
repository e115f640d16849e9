"""Known bugs of implementations: `tests/mutants/bugs.toml`, and which part of the suite catches each.

A bug is an entry with its links, and the versions that had it and mended it. The golden cases that fail while
it is there name it in `source.bugs`. Where no case does, the entry says why, and which other part of the
suite finds the bug.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
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
from wireproof.strict_parsing import MAX_TOML_SIZE, FieldError, parse_toml, structure

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

    @property
    def in_scope(self) -> bool:
        """Return whether the suite should catch it."""
        return not self.excluded

    @property
    def caught_by(self) -> str:
        """Return `golden`, one of `OTHER_PARTS`, or an empty text for a bug that nothing finds."""
        return "golden" if self.cases else self.found_by


@frozen
class HistoryCounts:
    """How many bugs there are, and how many each part of the suite catches.

    Attributes:
        bugs, in_scope: all, and those that are not excluded.
        golden, derived, property, missed: of those in scope, by the first part that catches them.
        codec, codec_golden: those in scope that a codec's bytes can show, and how many golden cases catch.
    """

    bugs: int
    in_scope: int
    golden: int
    derived: int
    property: int
    missed: int
    codec: int
    codec_golden: int

    def __str__(self) -> str:
        """Return one line."""
        return (
            f"history: {self.bugs} bugs, {self.in_scope} in scope: {self.golden} caught by golden cases, "
            f"{self.derived} by derived, {self.property} by property, {self.missed} missed; "
            f"{self.codec_golden} of {self.codec} that a codec's bytes can show are caught by golden cases"
        )


def counts(bugs: Iterable[Bug]) -> HistoryCounts:
    """Count the bugs by what catches them."""
    bugs = tuple(bugs)
    rated = [bug for bug in bugs if bug.in_scope]
    codec = [bug for bug in rated if bug.scope == CODEC]
    by = Counter(bug.caught_by for bug in rated)
    return HistoryCounts(
        len(bugs),
        len(rated),
        by["golden"],
        by["derived"],
        by["property"],
        by[""],
        len(codec),
        sum(1 for bug in codec if bug.cases),
    )


def read_history(path: Path) -> tuple[Bug, ...]:
    """Return the bugs of a file, without cases; raises ValueError with the id and the fault."""
    page = parse_toml(read_limited_text(path, MAX_TOML_SIZE))
    if set(page) != {"bug"} or not isinstance(page["bug"], list):
        raise ValueError("holds [[bug]] tables and nothing else")
    return tuple(_bug(row) for row in page["bug"])


def _bug(row: object) -> Bug:
    name = row.get("id", "a bug") if isinstance(row, dict) else "a bug"
    try:
        bug = structure(row, Bug, "the bug")
    except FieldError as error:
        raise ValueError(f"{name}: {error}") from None
    if bug.cases:
        raise ValueError(f"{name}: the cases of a bug name it in `source.bugs`")
    if not re.fullmatch(ID_COMPONENT, bug.id):
        raise ValueError(f"{bug.id}: an id has a-z, 0-9, '.', '+' and '-', and begins with a letter or digit")
    if bug.scope not in SCOPES:
        raise ValueError(f"{bug.id}: scope must be one of {', '.join(SCOPES)}")
    for link in bug.links:
        if not link.startswith("https://"):  # pages show links, and entries may come from strangers
            raise ValueError(f"{bug.id}: {link} does not begin with https://")
    if bug.found_by and bug.found_by not in OTHER_PARTS:
        raise ValueError(f"{bug.id}: found_by must be one of {', '.join(OTHER_PARTS)}")
    return bug


def known_bugs(suite: Suite) -> tuple[Bug, ...]:
    """Return the bugs of the file, each with the cases of a suite that name it; raise `FixtureError`."""
    named = _named_by(suite)
    return tuple(evolve(bug, cases=tuple(named.get(bug.id, ()))) for bug in _bugs_of(BUGS_FILE))


def _named_by(suite: Suite) -> Mapping[str, list[str]]:
    """Return the ids of the cases that name a bug, by its id; numbers of a document are no bug here."""
    found: dict[str, list[str]] = {}
    for case in suite.cases:
        for name in case.source.bugs:
            if not is_number(name):
                found.setdefault(name, []).append(case.id)
    return found


@cache
def _bugs_of(path: Path) -> tuple[Bug, ...]:
    try:
        return read_history(path)
    except (OSError, ValueError) as error:
        raise FixtureError(f"{path}: {error}") from None


# --- checks ---


FAILING_LEVELS = ("must", "should")
"""Levels of cases whose failure fails a run."""


def history_problems(suite: Suite) -> Iterator[Problem]:
    """Check every entry by itself, and that no id or link is used twice; raise `FixtureError`."""
    bugs = known_bugs(suite)
    for kind, found in (
        ("id", Counter(bug.id for bug in bugs)),
        ("link", Counter(link for bug in bugs for link in bug.links)),
    ):
        for name, number in found.items():
            if number > 1:
                yield Problem(BUGS_FILE.name, f"the {kind} {name} is there {number} times")
    for bug in bugs:
        yield from (Problem(f"{BUGS_FILE.name} {bug.id}", text) for text in _problems(suite, bug))
    known = {bug.id for bug in bugs}
    for name, cases in _named_by(suite).items():
        yield from (
            Problem(case, f"{BUGS_FILE.name} has no bug {name}") for case in cases if name not in known
        )


def _problems(suite: Suite, bug: Bug) -> Iterator[str]:
    """Yield the problems of one entry."""
    if not bug.links or not bug.title:
        yield "needs a link and a title"
    yield from _excluded(bug) if bug.excluded else _in_scope(bug)
    for name in bug.cases:
        level = suite.by_id[name].level
        if level not in FAILING_LEVELS:
            yield f"the case {name} has the level {level}, and cannot fail a run"


def _excluded(bug: Bug) -> Iterator[str]:
    """Check an entry out of scope: it has nothing but the reason."""
    if bug.scope == CODEC:
        yield "a bug that a codec's bytes show is in scope"
    if bug.cases or bug.mutant or bug.missed or bug.without_mutant:
        yield "is out of scope, and has no cases, no mutant and no other reason"


def _in_scope(bug: Bug) -> Iterator[str]:
    """Check that an entry has cases or `missed`, and for a codec a mutant or the reason why it has none."""
    if bool(bug.cases) == bool(bug.missed):
        yield "needs cases that catch it, or the reason in `missed`"
    if bug.cases and bug.found_by:
        yield "has cases that catch it: `found_by` is for a bug without"
    if bug.scope == CODEC and bool(bug.mutant) == bool(bug.without_mutant):
        yield "needs a mutant that repeats it, or the reason in `without_mutant`"
