"""Known failures, and the file that lists them: a baseline, whose fields results.md#known-failures explains.

Two kinds of entries are broad: a pattern (`kafka.*/**~flip:*`), and one for generated examples, which have
other ids with every release. They cover only cases that fail exactly as written, and there may be several of
one id with other verdicts. An entry for examples is never stale: another seed may draw others.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import date
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from attrs import evolve, field, frozen

from wireproof.cases.case import PROPERTY
from wireproof.cases.fixtures import Suite
from wireproof.cases.id_patterns import compile_pattern
from wireproof.files import read_limited_text
from wireproof.formats import FORMATS
from wireproof.judge.verdicts import TABLE, Verdict
from wireproof.run.events import EXAMPLE_OPS, CaseEvent
from wireproof.strict_parsing import MAX_TOML_SIZE, parse_toml
from wireproof.suggestions import bracket_error, closest

RUNAWAY: Final = ("resource", "timeout", "crash")
"""The verdicts of a codec that runs away; the machine decides which."""


class BaselineError(ValueError):
    """The baseline cannot be read or rewritten; one line names the entry and the reason."""


fixture_pattern: Final = lru_cache(compile_pattern)
"""Compiles the pattern of the ids of fixtures, each one once."""


@frozen(cache_hash=True)
class KnownFailure:
    """One known failure: a table of the file with one of its ids, and the line of this id; 0 if unknown."""

    id: str
    kind: str
    cls: str
    reason: str
    owner: str
    expires: date
    issue: str = ""
    fault: str = ""
    flaky: bool = False
    exact: bool = False
    path: str = ""
    line: int = field(default=0, eq=False)

    @property
    def fixture(self) -> str:
        """Return the id, or the pattern of ids, of the golden cases that it covers."""
        return self.id.partition("~")[0]

    @property
    def broad(self) -> bool:
        return "*" in self.fixture or self.of_examples

    @property
    def of_examples(self) -> bool:
        return self.id.endswith("~*")

    def selects(self, golden: str) -> bool:
        return bool(fixture_pattern(self.fixture).fullmatch(golden)) if self.broad else golden == self.fixture

    @property
    def failure(self) -> tuple[str, str]:
        """Return how the case fails, independent of the machine."""
        return failure_of(self.kind, self.cls, exact=self.exact)

    @property
    def who(self) -> str:
        return f"owner {self.owner}" + (f", {self.issue}" if self.issue else "")

    @property
    def prefix(self) -> str:
        """Return the beginning of the ids of a family; empty for one case, and for a broad entry."""
        return self.id[:-1] if self.id.endswith(":*") and not self.broad else ""

    def covers(self, event: CaseEvent) -> bool:
        return self.is_about(event.id) and (not self.broad or self.fails_as_recorded(event))

    def is_about(self, name: str) -> bool:
        """Return whether the entry is about the case with this id, however it fails."""
        if self.broad:
            parent, _, derived = name.partition("~")
            family = self.id.removeprefix(self.fixture)[1:-1]
            return derived.startswith(family) and bool(fixture_pattern(self.fixture).fullmatch(parent))
        return name.startswith(self.prefix) if self.prefix else name == self.id

    def fails_as_recorded(self, event: CaseEvent) -> bool:
        alike = self.failure == failure_of(event.label, event.cls, exact=self.exact)
        return alike and self.path in ("", event.signature_path)


def example_names() -> frozenset[str]:
    return frozenset(f"{row.format_id}/{PROPERTY}/{op}" for row in FORMATS.values() for op in EXAMPLE_OPS)


def family_names() -> tuple[str, ...]:
    from wireproof.derive.derived import FAMILIES  # noqa: PLC0415 - only where ids are compared with the cases

    return (*FAMILIES, "join", "chunk")


@frozen
class CaseNames:
    """The ids of the golden cases that there are, and the first parts of those of generated examples."""

    ids: Collection[str]
    examples: Collection[str] = field(factory=example_names)

    @classmethod
    def of(cls, suite: Suite) -> "CaseNames":
        return cls(suite.by_id)

    def has(self, entry: KnownFailure) -> bool:
        _, derived, family = entry.id.partition("~")
        if derived and not entry.of_examples and family.partition(":")[0] not in family_names():
            return False
        if entry.broad:
            return any(map(entry.selects, self.examples if entry.of_examples else self.ids))
        return entry.fixture in self.ids

    def check(self, entries: Sequence[KnownFailure], name: str) -> None:
        """Raise `BaselineError` for an entry of no case, or a second one of a case."""
        for entry in entries:
            if not self.has(entry):
                raise BaselineError(f"{place(name, entry)}: {entry.id}: {NO_CASE}{self._advice(entry)}")
        check_single(entries, name)

    def _advice(self, entry: KnownFailure) -> str:
        _, _, family = entry.id.partition("~")
        if family and not entry.of_examples and family.partition(":")[0] not in family_names():
            return f"; the families of derived cases are {', '.join(family_names())}"
        if entry.broad:
            return ""
        format_id = entry.id.rpartition("/")[0]
        near = closest(entry.fixture, [name for name in self.ids if name.startswith(format_id)])
        return f"; did you mean {near}?" if near else ""


NO_CASE: Final = "no such case"
"""What is wrong with an entry that is about no case."""


def place(name: str, entry: KnownFailure) -> str:
    """Return file and line of an entry, as far as the line is known."""
    return f"{name}:{entry.line}" if entry.line else name


def check_single(entries: Iterable[KnownFailure], name: str) -> None:
    """Raise `BaselineError` if two entries are about the same cases; broad ones may differ in the failure."""
    seen: dict[tuple[str, ...], KnownFailure] = {}
    for entry in entries:
        key = (entry.id, *((*entry.failure, entry.path) if entry.broad else ()))
        first = seen.setdefault(key, entry)
        if first is not entry:
            also = f", first in line {first.line}" if first.line else ""
            words = " ".join(filter(None, key))
            raise BaselineError(f"{place(name, entry)}: {words} is written twice{also}: leave one of them")


def failure_of(kind: str, cls: str, *, exact: bool) -> tuple[str, str]:
    """Return verdict and class: one for all limits of a runaway codec, and no twin of a blocked refusal."""
    verdict = kind.partition(":")[0]
    if verdict in RUNAWAY and not exact:
        return "runaway", ""
    return verdict if verdict == "blocked" else kind, cls


HEAD: Final = "[[known-failure]]"
QUOTED: Final = re.compile(r"\"((?:[^\"\\\n]|\\.)*)\"|'([^'\n]*)'")
"""A text in quotes."""

FIELDS: Final = ("id", "kind", "class", "reason", "owner", "expires")
SHARED: Final = ("owner", "expires", "reason")
"""Fields that may stand above all tables."""

ORIGIN: Final = ("adapter", "suite", "cases")
"""Fields that may stand above all tables: of whose failures the file is, and for which cases complete."""

LINKS: Final = ("issue", "fault")
"""Links of an entry, each of which may be missing."""

MARKS: Final = ("flaky", "exact")
"""Flags of an entry, each `true` or absent."""


@frozen
class Baseline:
    """A file of known failures; its text is stored by runs, so that `report` judges by it again.

    `adapter`, `suite` and `cases` say whose failures they are, and for which cases it was complete, if the
    file does: results.md#after-an-upgrade.
    """

    entries: tuple[KnownFailure, ...]
    text: str = ""
    file: str = "baseline"
    adapter: str = ""
    suite: str = ""
    cases: str = ""

    @property
    def ids(self) -> frozenset[str]:
        return frozenset(entry.id for entry in self.entries)

    @classmethod
    def of(cls, text: str, file: str, suite: Suite | None = None) -> "Baseline":
        """Read the text of a baseline, each entry about a case of the suite; raises `BaselineError`."""
        rows = _rows(text, file)
        head = {name: rows.get(name, "") for name in ORIGIN}
        entries = tuple(entry for table in _tables(rows, text, file) for entry in table)
        if suite is not None:
            CaseNames.of(suite).check(entries, file)
        return cls(entries, text, file, **head)

    @classmethod
    def read(cls, path: Path, suite: Suite | None = None) -> "Baseline":
        """Read a file, whose entries must be about cases of the suite; raises `BaselineError`."""
        return cls.of(baseline_text(path), path.name, suite)


def parse_baseline(text: str, name: str = "baseline") -> tuple[KnownFailure, ...]:
    """Return the known failures of a file; raises `BaselineError`."""
    return Baseline.of(text, name).entries


def parse_tables(text: str, name: str = "baseline") -> tuple[tuple[KnownFailure, ...], ...]:
    """Return the known failures of each table of a file; raises `BaselineError`."""
    return _tables(_rows(text, name), text, name)


def _rows(text: str, name: str) -> dict[str, Any]:
    try:
        return parse_toml(text)
    except ValueError as error:
        if marker := re.search(r"^(<{7}|={7}|>{7})( |$)", text, re.MULTILINE):
            line = text.count("\n", 0, marker.start()) + 1
            raise BaselineError(
                f"{name}:{line}: the conflict of a merge is not resolved: keep what both sides need"
            ) from None
        raise BaselineError(f"{name}: {error}") from None


def _tables(rows: Mapping[str, Any], text: str, name: str) -> tuple[tuple[KnownFailure, ...], ...]:
    tables = rows.get("known-failure", [])
    shared: dict[str, object] = {part: rows[part] for part in SHARED if part in rows}
    unexpected = rows.keys() - {"known-failure", *SHARED, *ORIGIN}
    unexpected |= {part for part in ORIGIN if not isinstance(rows.get(part, ""), str)}
    if unexpected or not isinstance(tables, list):
        raise BaselineError(
            f"{name}: holds {', '.join((*ORIGIN, *SHARED))}, [[known-failure]] tables and nothing else: "
            f"look at {', '.join(sorted(unexpected)) or 'entry = …'}"
        )
    lines = text.splitlines()
    heads = head_lines(lines)
    if len(heads) != len(tables):  # tables in another form, whose lines are not known
        lines, heads = [], [-1] * len(tables)
    found = tuple(
        tuple(_known_failures(row, shared, name, number, _lines_of_ids(lines, head)))
        for number, (row, head) in enumerate(zip(tables, heads, strict=True), 1)
    )
    check_single((entry for table in found for entry in table), name)
    return found


def head_lines(lines: Sequence[str]) -> list[int]:
    return [number for number, line in enumerate(lines) if line.partition("#")[0].strip() == HEAD]


def _lines_of_ids(lines: Sequence[str], head: int) -> dict[str, int]:
    """Return the numbers, from 1 on, of the lines of a table by their texts in quotes; of its head by ``."""
    found = {"": head + 1}
    for number in range(head + 1, len(lines)):
        if lines[number].partition("#")[0].strip() == HEAD:
            break
        for double, single in QUOTED.findall(lines[number]):
            found.setdefault(double or single, number + 1)
    return found


def baseline_text(path: Path) -> str:
    """Read the text of the file `path`; raises `BaselineError`."""
    try:
        return read_limited_text(path, MAX_TOML_SIZE)
    except (OSError, UnicodeDecodeError) as error:
        raise BaselineError(f"{path}: {error}") from None


def _known_failures(
    row: object, shared: Mapping[str, object], name: str, number: int, lines: Mapping[str, int]
) -> Iterator[KnownFailure]:
    """Yield the known failures of a table, one for each id; raises `BaselineError`."""
    where = f"{name}:{lines['']}" if lines[""] else f"{name}: known failure {number}"
    if not isinstance(row, dict):
        raise BaselineError(f"{where}: must be [[known-failure]] tables, not a value")
    row = {"class": "", **shared, **row}
    ids: list[Any] = row["id"] if isinstance(row.get("id"), list) and row["id"] else [row.get("id")]
    if unexpected := set(row) - {*LINKS, *MARKS, "path"} ^ set(FIELDS):
        raise BaselineError(
            f"{where}: must have exactly {', '.join(FIELDS)}; look at {', '.join(sorted(unexpected))} "
            "(a field that is right may be of a later version of wireproof)"
        )
    for mark in MARKS:
        if row.get(mark, True) is not True:
            raise BaselineError(f"{where}: {mark} is true, or not there")
    texts = {name: row[name] for name in row if name not in {"id", "expires", *MARKS}}
    empty = [
        name for name, value in texts.items() if not isinstance(value, str) or not (value or name == "class")
    ]
    empty += ["id" for name in ids if not isinstance(name, str) or not name]
    if empty or type(row["expires"]) is not date:
        raise BaselineError(f"{where}: {empty[0] if empty else 'expires'} is not filled in")
    if not row.get("fault", "https://").startswith("https://"):
        raise BaselineError(f"{where}: fault is a link, https://…")
    if error := _kind_error(row["kind"]):
        line = lines.get(row["kind"])
        raise BaselineError(f"{name}:{line}: {error}" if line else f"{where}: {error}")
    first = KnownFailure("", *(row.get(name, "") for name in (*FIELDS[1:], *LINKS)))
    marked = evolve(first, flaky="flaky" in row, exact="exact" in row, path=row.get("path", ""))
    for one in ids:
        line = lines.get(one, lines[""])
        _check_id(one, f"{name}:{line}" if line else where)
        yield evolve(marked, id=one, line=line)


def _kind_error(kind: str) -> str:
    """Return what is wrong with a verdict and its kind; empty if it is one that the judge gives."""
    name, colon, of_kind = kind.partition(":")
    known = [
        f"{row.name}:{one}" if one else row.name for row in TABLE for one in ("", *row.kinds) if one != "*"
    ]
    try:
        Verdict(name, of_kind)  # type: ignore[arg-type]
    except (KeyError, ValueError):
        near = closest(kind, known)
        return f"{kind} is no verdict" + (f"; did you mean {near}?" if near else "")
    return f"{kind} is no verdict" if colon and not of_kind else ""


def _check_id(name: str, where: str) -> None:
    if error := bracket_error(name.partition("~")[0]):
        raise BaselineError(f"{where}: {error}")
    if "*" in name and not re.fullmatch(r"[^~]+~[^*~]+:\*|[^~]+/property/\w[\w-]*~\*", name):
        raise BaselineError(
            f"{where}: a pattern ends in ~<family>:*, or in /property/<op>~* for generated examples; "
            "golden cases are named one by one"
        )
