"""Requirement sets: the cases behind a name such as `kafka-consumer-2`, pinned for good.

`requirements/2026.12.toml` in the fixtures has one table for each name. A table says by which rules a case
belongs to it (`define`), and lists the cases with their levels as they were on that date (`cases`). A run
against a set takes the listed cases and levels, so a later version of the suite gives the same verdicts.
Only a corrected expectation can change one: the list has a digest of each expectation, and the run names
those that differ. See releases.md#requirement-sets.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from attrs import evolve, field, frozen

from wireproof.cases.case import Case, Level
from wireproof.cases.fixtures import Suite
from wireproof.cases.frozen_digests import expectation_digest
from wireproof.files import read_limited_text
from wireproof.strict_parsing import JSON_NAME, MAX_TOML_SIZE, FieldError, parse_toml, structure
from wireproof.suggestions import suggestion

FOLDER: Final = "requirements"
"""The folder of the fixtures that has one file for each date."""

LEVELS: Final[Mapping[str, Level]] = {"must": "must", "should": "should", "may": "may"}
"""The levels that a set can fix, from the strictest."""

_DATE: Final = re.compile(r"[0-9]{4}\.[0-9]{2}")
_REQUIRED: Final = re.compile(r"(must|should|may) ([0-9a-f]{12})")


class RequirementError(ValueError):
    """A requirement set does not exist or cannot be read; the message is one line."""


@frozen
class Definition:
    """The rules by which a case belongs to a set.

    Attributes:
        formats: formats with their revisions, such as `kafka.batch/v2`.
        ops: operations of the case.
        profiles: `reader`, `produce`.
        needs: the capabilities that a case may need; a case that needs another one does not belong.
        rules: patterns of rule ids; a case needs one rule that matches.
        without: patterns of rule ids; a case with one that matches does not belong.
    """

    formats: tuple[str, ...]
    ops: tuple[str, ...] = ("decode",)
    profiles: tuple[str, ...] = ("reader",)
    needs: tuple[str, ...] = ()
    rules: tuple[str, ...] = ("*",)
    without: tuple[str, ...] = ()


@frozen
class RequirementSet:
    """The cases behind a name.

    Attributes:
        name: `kafka-consumer-2`.
        title: `Kafka consumer 2`, for a README.
        text: what an implementation that meets it can do.
        use: the same in a few words, as the heading of a column.
        define: by which rules a case belongs to it, beside those of `includes`.
        includes: sets of the same file whose cases it has too.
        cases: by id, the level and the digest of the expectation: `must 0123456789ab`.
    """

    name: str
    title: str
    text: str
    define: tuple[Definition, ...]
    includes: tuple[str, ...] = ()
    cases: Mapping[str, str] = field(factory=dict)
    use: str = ""


@frozen
class RequirementFile:
    """The sets of one date.

    Attributes:
        date: `2026.12`, the name of the file.
        released: whether the list is pinned; before that it follows the definitions.
    """

    date: str
    released: bool = False
    sets: tuple[RequirementSet, ...] = field(default=(), metadata={JSON_NAME: "set"})

    def named(self, name: str) -> RequirementSet:
        """Return the set of a name; raises `RequirementError`."""
        for one in self.sets:
            if one.name == name:
                return one
        names = [one.name for one in self.sets]
        raise RequirementError(f"{self.date} has no set {name!r}: {suggestion(name, names)}")

    def listed(self, one: RequirementSet) -> dict[str, str]:
        """Return the cases of a set and of the sets that it includes."""
        found: dict[str, str] = {}
        for name in one.includes:
            found |= self.listed(self.named(name))
        return found | dict(one.cases)


@frozen
class RequiredCases:
    """The cases of a set as a suite has them, with the levels of the set.

    Attributes:
        id: `2026.12:kafka-consumer-2`.
        title: `Kafka consumer 2 (2026.12)`.
        cases: in the order of the suite.
        corrected: ids whose expectation is another one now.
    """

    id: str
    title: str
    cases: tuple[Case, ...]
    corrected: tuple[str, ...]


def requirement_files(roots: Sequence[Path]) -> dict[str, Path]:
    """Return the requirement files of folders of fixtures, by their dates."""
    return {path.stem: path for root in roots for path in sorted((root / FOLDER).glob("*.toml"))}


def read_requirements(path: Path) -> RequirementFile:
    """Read a requirement file; raises `RequirementError`."""
    try:
        page = parse_toml(read_limited_text(path, MAX_TOML_SIZE))
        made = structure({"date": path.stem, **page}, RequirementFile, "the file")
    except (OSError, ValueError, FieldError) as error:
        raise RequirementError(f"{path}: {error}") from None
    if not _DATE.fullmatch(path.stem):
        raise RequirementError(f"{path}: the name of the file must be a year and a month: 2026.12.toml")
    for one in made.sets:
        for name, listed in one.cases.items():
            if not _REQUIRED.fullmatch(listed):
                raise RequirementError(f"{path}: {one.name}: {name}: a level and 12 hex digits")
    return made


def required_cases(suite: Suite, asked: str) -> RequiredCases:
    """Return the cases that `2026.12:kafka-consumer-2` asks for; raises `RequirementError`."""
    date, colon, name = asked.partition(":")
    files = requirement_files(suite.roots)
    if not colon or date not in files:
        dates = ", ".join(sorted(files)) or "none"
        raise RequirementError(f"{asked!r} is no DATE:NAME of a requirement set; the dates: {dates}")
    page = read_requirements(files[date])
    one = page.named(name)
    return _resolve(suite, page, one)


def _resolve(suite: Suite, page: RequirementFile, one: RequirementSet) -> RequiredCases:
    """Take the listed cases from the suite, under their levels in the list."""
    cases, corrected = [], []
    for name, (level, digest) in _listed(page, one):
        case = suite.get(name)
        if case is None:
            raise RequirementError(f"{page.date}:{one.name}: this suite has no case {name}")
        if expectation_digest(case) != digest:
            corrected.append(case.id)
        cases.append(evolve(case, level=level))
    places = {case.id: place for place, case in enumerate(suite.cases)}
    cases.sort(key=lambda case: places[case.id])
    return RequiredCases(
        f"{page.date}:{one.name}", f"{one.title} ({page.date})", tuple(cases), tuple(sorted(corrected))
    )


def _listed(page: RequirementFile, one: RequirementSet) -> Iterator[tuple[str, tuple[Level, str]]]:
    for name, row in page.listed(one).items():
        level, digest = row.split(" ")
        yield name, (LEVELS[level], digest)
