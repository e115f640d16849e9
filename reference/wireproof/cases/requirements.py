"""Requirement sets: the cases behind a name such as `kafka-consumer-2`, pinned for good.

An edition in `sets.toml` of the fixtures has one table for each name. A table says by which rules a case
belongs to it (`define`), and lists the cases with their levels as they were on the date of the edition
(`cases`). A run against a set takes the listed cases and levels, so a later version of the suite gives the
same verdicts. Only a corrected expectation can change one: the list has a digest of each expectation, and the
run names those that differ. See releases.md#requirement-sets.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from attrs import evolve, field, frozen

from wireproof.cases.case import Case, Level
from wireproof.cases.fixture_writer import expectation_digest
from wireproof.cases.fixtures import Suite
from wireproof.files import read_limited_text
from wireproof.strict_parsing import JSON_NAME, MAX_TOML_SIZE, FieldError, parse_toml, structure
from wireproof.suggestions import suggestion

SETS_FILE: Final = "sets.toml"
"""The file of the fixtures that has the named selections of cases."""

LEVELS: Final[Mapping[str, Level]] = {"must": "must", "should": "should", "may": "may"}
"""The levels that a set can fix, from the strictest."""

_DATE: Final = re.compile(r"[0-9]{4}\.[0-9]{2}")
_REQUIRED: Final = re.compile(r"(must|should|may) ([0-9a-f]{12})")


class RequirementError(ValueError):
    """A requirement set does not exist or cannot be read; the message is one line."""


@frozen
class RequirementSet:
    """The cases behind a name such as `kafka-consumer-2`: releases.md#requirement-sets.

    `title` is for a README, `text` says what an implementation that meets it can do, and `use` the same in a
    few words. A case belongs to it by `define` and by the sets that it `includes`. Of each of `cases` there
    is the level and the digest of the expectation: `must 0123456789ab`.
    """

    name: str
    title: str
    text: str
    define: tuple[Mapping[str, Any], ...]
    includes: tuple[str, ...] = ()
    cases: Mapping[str, str] = field(factory=dict)
    use: str = ""


@frozen
class Edition:
    """The sets of one date, `2026.12`; until it is released, the lists follow the definitions."""

    date: str
    released: bool = False
    sets: tuple[RequirementSet, ...] = field(default=(), metadata={JSON_NAME: "set"})

    def named(self, name: str) -> RequirementSet:
        by_name = {required.name: required for required in self.sets}
        if name not in by_name:
            raise RequirementError(f"{self.date} has no set {name!r}: {suggestion(name, by_name)}")
        return by_name[name]

    def listed(self, required: RequirementSet) -> dict[str, str]:
        found: dict[str, str] = {}
        for name in required.includes:
            found |= self.listed(self.named(name))
        return found | dict(required.cases)


@frozen
class NamedSets:
    """What `sets.toml` has; `unwitnessed`: why `must` cases have no witness, which the tests check."""

    editions: tuple[Edition, ...] = field(default=(), metadata={JSON_NAME: "edition"})
    unwitnessed: tuple[Mapping[str, Any], ...] = ()


@frozen
class RequiredCases:
    """The cases of a set, with its levels, and the ids whose expectation is another one now."""

    id: str
    title: str
    cases: tuple[Case, ...]
    corrected: tuple[str, ...]


def editions(roots: Sequence[Path]) -> dict[str, Edition]:
    """Return the requirement sets of folders of fixtures by their dates; raises `RequirementError`."""
    return {edition.date: edition for root in roots for edition in read_sets(root / SETS_FILE).editions}


def read_sets(path: Path) -> NamedSets:
    """Read a file of named sets, an empty one if it is missing; raises `RequirementError`."""
    if not path.exists():
        return NamedSets()
    try:
        found = structure(parse_toml(read_limited_text(path, MAX_TOML_SIZE)), NamedSets, "the file")
    except (OSError, ValueError, FieldError) as error:
        raise RequirementError(f"{path}: {error}") from None
    for edition in found.editions:
        if not _DATE.fullmatch(edition.date):
            raise RequirementError(f"{path}: {edition.date}: a date is a year and a month: 2026.12")
        rows = ((required.name, *row) for required in edition.sets for row in required.cases.items())
        for name, case, listed in rows:
            if not _REQUIRED.fullmatch(listed):
                raise RequirementError(f"{path}: {name}: {case}: a level and 12 hex digits")
    return found


def required_cases(suite: Suite, set_id: str) -> RequiredCases:
    """Return the cases that `2026.12:kafka-consumer-2` asks for; raises `RequirementError`."""
    date, colon, name = set_id.partition(":")
    found = editions(suite.roots)
    if not colon or date not in found:
        dates = ", ".join(sorted(found)) or "none"
        raise RequirementError(f"{set_id!r} is no DATE:NAME of a requirement set; the dates: {dates}")
    chosen = found[date].named(name)
    cases, corrected = [], []
    for case_id, row in found[date].listed(chosen).items():
        level, digest = row.split(" ")
        case = suite.by_id.get(case_id)
        if case is None:
            raise RequirementError(f"{date}:{name}: this suite has no case {case_id}")
        if expectation_digest(case) != digest:
            corrected.append(case.id)
        cases.append(evolve(case, level=LEVELS[level]))
    places = {case.id: place for place, case in enumerate(suite.cases)}
    cases.sort(key=lambda case: places[case.id])
    title = f"{chosen.title} ({date})"
    return RequiredCases(f"{date}:{name}", title, tuple(cases), tuple(sorted(corrected)))
