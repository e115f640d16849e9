"""Known failures, and the file that lists them: a baseline.

A known failure is one case with the verdict and class that it fails with, a reason, an owner and an expiry
date. A table has those that differ in nothing but the case. An entry that no longer applies ends a run with
exit code 3:

    owner = "somebody"        # of every table that names no other; the day and the reason too
    expires = 2027-06-30

    # a comment stays with the table below it
    [[known-failure]]
    id = ["kafka.batch/v2/crc/flipped-bit", "kafka.batch/v2/crc/zero"]
    kind = "fail:wrong-accept"
    class = "crc-mismatch"    # where there is one
    path = "records[].value"  # optional: only failures at this field, or of this broken rule
    reason = "the library checks sums only on request"
    issue = "https://…"       # optional
    fault = "https://…#L10"   # optional: the lines of the implementation that are at fault

An id may end in `~<family>:*`, for all derived cases of one family of one fixture. The part before it may be
a pattern too, such as `kafka.*/**~flip:*`, for a feature that an implementation lacks: such a broad entry
covers only the cases that fail exactly as written, and there may be several with other verdicts.

A codec that runs away takes time and memory without bound. The machine decides which limit stops it first:
time (`timeout`), memory or output (`resource:…`), or the end of its process (`crash`). So an entry of any of
these kinds covers all of them. `exact = true` is for a codec that does not run away, such as one that a
failed assertion ends: it fails the same way on every machine, so another way is a change.

A generated example has another id with every release of the cases. So an entry for examples ends in `~*`,
such as `kafka.batch/v2/property/decode~*`, and covers those that fail as written. It is not stale if no
example fails, because another seed may draw others.

`flaky = true` marks an implementation that carries state from one input to another, as the reason
explains: such an entry is not stale if its case passes.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import date
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from attrs import evolve, frozen

from wireproof.cases.id_patterns import compile_pattern
from wireproof.files import read_limited_text
from wireproof.runner.events import CaseEvent
from wireproof.runner.verdicts import ROWS
from wireproof.strict_parsing import MAX_TOML_SIZE, parse_toml
from wireproof.suggestions import bracket_error

RUNAWAY: Final = ("resource", "timeout", "crash")
"""The verdicts of a codec that runs away; the machine decides which."""


class BaselineError(ValueError):
    """The baseline cannot be read or rewritten; one line names the entry and the reason."""


fixture_pattern: Final = lru_cache(compile_pattern)
"""Compiles the pattern of the ids of fixtures, each one once."""


@frozen(cache_hash=True)
class KnownFailure:
    """One known failure: a table of the file with one of its ids."""

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

    @property
    def fixture(self) -> str:
        """Return the id, or the pattern of ids, of the golden cases that it covers."""
        return self.id.partition("~")[0]

    @property
    def broad(self) -> bool:
        """Return True if it covers examples, or the families of more than one fixture."""
        return "*" in self.fixture or self.of_examples

    @property
    def of_examples(self) -> bool:
        """Return True if it covers generated examples."""
        return self.id.endswith("~*")

    def selects(self, golden: str) -> bool:
        """Return whether the entry is about a golden case, or about cases derived from it."""
        return bool(fixture_pattern(self.fixture).fullmatch(golden)) if self.broad else golden == self.fixture

    @property
    def failure(self) -> tuple[str, str]:
        """Return how the case fails, independent of the machine."""
        return failure_of(self.kind, self.cls, exact=self.exact)

    @property
    def who(self) -> str:
        """Return the owner and the link to the issue."""
        return f"owner {self.owner}" + (f", {self.issue}" if self.issue else "")

    @property
    def prefix(self) -> str:
        """Return the beginning of the ids of a family; empty for one case, and for a broad entry."""
        return self.id[:-1] if self.id.endswith(":*") and not self.broad else ""

    def covers(self, event: CaseEvent) -> bool:
        """Return whether the entry is about this case."""
        if self.broad:
            parent, _, derived = event.id.partition("~")
            family = self.id.removeprefix(self.fixture)[1:-1]
            known = derived.startswith(family) and fixture_pattern(self.fixture).fullmatch(parent)
            return bool(known) and self.fails_as_recorded(event)
        return event.id.startswith(self.prefix) if self.prefix else event.id == self.id

    def fails_as_recorded(self, event: CaseEvent) -> bool:
        """Return True if the case fails in the way of the entry."""
        alike = self.failure == failure_of(event.label, event.cls, exact=self.exact)
        return alike and self.path in ("", event.signature_path)


def failure_of(kind: str, cls: str, *, exact: bool) -> tuple[str, str]:
    """Return verdict and class; for a codec that runs away, one name for every limit.

    The kind of a blocked refusal is its twin, and a case has only one.
    """
    verdict = kind.partition(":")[0]
    if verdict in RUNAWAY and not exact:
        return "runaway", ""
    return verdict if verdict == "blocked" else kind, cls


FIELDS: Final = ("id", "kind", "class", "reason", "owner", "expires")
SHARED: Final = ("owner", "expires", "reason")
"""Fields that may stand above all tables."""

LINKS: Final = ("issue", "fault")
"""Links of an entry, each of which may be missing."""

PATH: Final = "path"
"""The field or broken rule at which a case fails, which may be missing too."""

_SECURE: Final = "https://"
MARKS: Final = ("flaky", "exact")
"""Flags of an entry, each `true` or absent."""


def parse_baseline(text: str, name: str = "baseline") -> tuple[KnownFailure, ...]:
    """Return the known failures of a file; raises `BaselineError`."""
    return tuple(entry for table in parse_tables(text, name) for entry in table)


def parse_tables(text: str, name: str = "baseline") -> tuple[tuple[KnownFailure, ...], ...]:
    """Return the known failures of each table of a file; raises `BaselineError`."""
    try:
        rows = parse_toml(text)
    except ValueError as error:
        raise BaselineError(f"{name}: {error}") from None
    tables = rows.pop("known-failure", [])
    shared: dict[str, object] = {part: rows.pop(part) for part in SHARED if part in rows}
    if rows or not isinstance(tables, list):
        unexpected = ", ".join(rows) or "entry = …"
        raise BaselineError(
            f"{name}: holds {', '.join(SHARED)}, [[known-failure]] tables and nothing else: "
            f"look at {unexpected}"
        )
    found = tuple(
        tuple(_known_failures(row, shared, f"{name}: known failure {number}"))
        for number, row in enumerate(tables, 1)
    )
    known_failures = [entry for table in found for entry in table]
    written = Counter(
        (entry.id, *((*entry.failure, entry.path) if entry.broad else ())) for entry in known_failures
    )
    for words, times in written.most_common(1):
        if times > 1:
            raise BaselineError(f"{name}: {' '.join(words)} is written twice")
    return found


def read_baseline(path: Path) -> tuple[KnownFailure, ...]:
    """Read the known failures of the file `path`; raises `BaselineError`."""
    return parse_baseline(baseline_text(path), path.name)


def baseline_text(path: Path) -> str:
    """Read the text of the file `path`; raises `BaselineError`."""
    try:
        return read_limited_text(path, MAX_TOML_SIZE)
    except (OSError, UnicodeDecodeError) as error:
        raise BaselineError(f"{path}: {error}") from None


def _known_failures(row: object, shared: Mapping[str, object], where: str) -> Iterator[KnownFailure]:
    """Yield the known failures of a table, one for each id; raises `BaselineError`."""
    if not isinstance(row, dict):
        raise BaselineError(f"{where}: must be [[known-failure]] tables, not a value")
    row = {"class": "", **shared, **row}
    ids: list[Any] = row["id"] if isinstance(row.get("id"), list) and row["id"] else [row.get("id")]
    if unexpected := set(row) - {*LINKS, *MARKS, PATH} ^ set(FIELDS):
        raise BaselineError(
            f"{where}: must have exactly {', '.join(FIELDS)}; look at {', '.join(sorted(unexpected))}"
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
    if not row.get("fault", _SECURE).startswith(_SECURE):
        raise BaselineError(f"{where}: fault is a link, {_SECURE}…")
    if row["kind"].partition(":")[0] not in ROWS:
        raise BaselineError(f"{where}: {row['kind']} is no verdict")
    first = KnownFailure("", *(row.get(name, "") for name in (*FIELDS[1:], *LINKS)))
    marked = evolve(first, flaky="flaky" in row, exact="exact" in row, path=row.get(PATH, ""))
    for name in ids:
        _check_id(name, where)
        yield evolve(marked, id=name)


def _check_id(name: str, where: str) -> None:
    if error := bracket_error(name.partition("~")[0]):
        raise BaselineError(f"{where}: {error}")
    if "*" in name and not re.fullmatch(r"[^~]+~[^*~]+:\*|[^~]+/property/\w[\w-]*~\*", name):
        raise BaselineError(
            f"{where}: a pattern ends in ~<family>:*, or in /property/<op>~* for generated examples; "
            "golden cases are named one by one"
        )
