"""Baselines that change: entries that are out of date are removed, or get later days.

A change is one of entries. A table that already says what it has to say stays byte for byte, perhaps with
another day; any other one is written anew, with the comments that were within it above it.
`baseline_adding` adds entries.
"""

import re
import textwrap
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import date, timedelta
from itertools import pairwise, takewhile
from typing import Any, Final

from attrs import evolve, frozen

from wireproof.cases.fixtures import Suite
from wireproof.judge.verdicts import CAUSED_BY_CODEC, ROWS
from wireproof.run.baselines.baseline import UNJUDGED, EntryLookup, Evidence, changed_since, evidence
from wireproof.run.baselines.known_failures import (
    MARKS,
    ORIGIN,
    QUOTED,
    Baseline,
    BaselineError,
    CaseNames,
    KnownFailure,
    fixture_pattern,
    head_lines,
    parse_baseline,
    parse_tables,
)
from wireproof.run.events import CaseEvent, EventStream, fails_run, joined
from wireproof.strict_parsing import parse_toml
from wireproof.suggestions import bracket_error, suggestion
from wireproof.wire.text import counted

LINE: Final = 110
"""Characters of a line of ids."""

# --- the text of a file ---


@frozen
class TableText:
    """A table of a file.

    Attributes:
        lead: the comments right above it, which belong to it and to the following tables without comments.
        text: from its `[[known-failure]]` to its last line.
        tail: blank lines, and separate comments.
    """

    entries: tuple[KnownFailure, ...]
    lead: str
    text: str
    tail: str


@frozen
class BaselineFile:
    """A file of known failures as text: its tables, and what stands above them."""

    name: str
    head: str
    tables: tuple[TableText, ...]

    @classmethod
    def of(cls, text: str, name: str) -> "BaselineFile":
        """Divide a text; raises `BaselineError` if it is not valid, or has entries in another form."""
        tables = parse_tables(text, name)
        lines = text.splitlines(keepends=True)
        heads = head_lines(lines)
        starts = [
            at - sum(1 for _ in takewhile(lambda n: lines[n - 1].lstrip().startswith("#"), range(at, 0, -1)))
            for at in heads
        ]
        head = "".join(lines[: starts[0] if starts else len(lines)])
        if len(heads) != len(tables) or "known-failure" in parse_toml(head):
            raise BaselineError(
                f"{name}: has entries in a form that cannot be rewritten; use [[known-failure]] tables"
            )
        found = []
        for entries, at, (start, end) in zip(tables, heads, pairwise([*starts, len(lines)]), strict=True):
            loose = takewhile(lambda n: _is_blank(lines[n]), range(end - 1, at, -1))
            last = end - sum(1 for _ in loose)
            parts = (lines[start:at], lines[at:last], lines[last:end])
            found.append(TableText(entries, *map("".join, parts)))
        return cls(name, head, tuple(found))

    @property
    def entries(self) -> tuple[KnownFailure, ...]:
        return tuple(entry for table in self.tables for entry in table.entries)

    @property
    def shared(self) -> dict[str, Any]:
        return parse_toml(self.head)

    @property
    def end(self) -> str:
        return "\r\n" if "\r\n" in "".join((self.head, *(table.text for table in self.tables))) else "\n"

    def changed(self, change: Callable[[KnownFailure], KnownFailure | None]) -> str:
        """Return the text with changed entries, and without those of which `change` returns None.

        A comment is removed with the last table that it belongs to.
        """
        parts, lead = [self.head], ""
        for table in self.tables:
            lead = table.lead or lead
            entries = tuple(entry for entry in map(change, table.entries) if entry is not None)
            if entries:
                texts = (table.text, with_day(table.text, entries[0].expires))
                right = (one for one in texts if parse_baseline(self.head + one, self.name) == entries)
                parts += (lead, next(right, "") or self._written(table, entries), table.tail)
            else:
                parts.append(table.tail.lstrip("\r\n"))
            lead = "" if entries or table.tail.strip() else lead
        return "".join(parts)

    def _written(self, table: TableText, entries: Sequence[KnownFailure]) -> str:
        """Return a table anew; entries that differ in more than their ids are tables of their own."""
        groups: dict[KnownFailure, list[str]] = {}
        for entry in sorted(entries, key=lambda entry: entry not in table.entries):
            groups.setdefault(evolve(entry, id=""), []).append(entry.id)
        shared = self.shared
        tables = (table_text(entry, names, shared) for entry, names in groups.items())
        comments = (f"{one}\n" for one in map(_comment, table.text.splitlines()) if one)
        return "".join((*comments, "\n".join(tables))).replace("\n", self.end)


_DAY: Final = re.compile(r"^([ \t]*expires[ \t]*=[ \t]*)\d{4}-\d\d-\d\d", re.MULTILINE)


def with_day(text: str, until: date) -> str:
    """Return a head or a table with another day in place of the one that it has; the same without one."""
    return _DAY.sub(lambda line: line[1] + until.isoformat(), text, count=1)


def _is_blank(line: str) -> bool:
    return not line.partition("#")[0].strip()


def _comment(line: str) -> str:
    code, mark, _ = QUOTED.sub(lambda text: "_" * len(text[0]), line).partition("#")
    return line[len(code) :] if mark else ""


def table_text(entry: KnownFailure, names: Sequence[str], shared: Mapping[str, object]) -> str:
    """Return the table of some ids and the other fields of an entry, without those that the file shares."""
    texts = {"kind": entry.kind, "class": entry.cls, "reason": entry.reason, "owner": entry.owner,
             "path": entry.path, "issue": entry.issue, "fault": entry.fault}  # fmt: skip
    # one id is a text, several are a list with as many on a line as fit after `id = [`
    indent = " " * len("id = [")
    words = textwrap.fill(
        ", ".join(map(quoted, names)), LINE - len("]"), break_long_words=False, break_on_hyphens=False,
        initial_indent=indent, subsequent_indent=indent,
    )  # fmt: skip
    lines = [f"id = {quoted(names[0])}" if len(names) == 1 else f"id = [{words.strip()}]"]
    lines += [f"{name} = {quoted(text)}" for name, text in texts.items() if text and shared.get(name) != text]
    lines += [f"expires = {entry.expires.isoformat()}"] * (shared.get("expires") != entry.expires)
    lines += [f"{mark} = true" for mark in MARKS if getattr(entry, mark)]
    return "\n".join(("[[known-failure]]", *lines, ""))


def quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(c if c >= " " and c != "\x7f" else f"\\u{ord(c):04x}" for c in escaped) + '"'


# --- the runs ---

OF_ONE_BASELINE: Final = ("adapter", "version", "suite")
"""The fields in which the runs are equal that rewrite a baseline."""


def way(event: CaseEvent) -> tuple[str, str, str]:
    """Return the verdict, class and path of a failure; a blocked refusal's one twin needs no word."""
    kind = event.verdict if event.verdict == "blocked" else event.label
    return kind, event.cls, event.signature_path


def check_runs(streams: Sequence[EventStream], file: BaselineFile) -> None:
    """Raise `BaselineError` for runs that say nothing about the known failures of a file, or of several."""
    owner = file.shared.get("adapter", "")
    for stream in streams:
        if owner not in ("", stream.run.adapter):
            raise BaselineError(
                f"{file.name} is of {owner}, and the run is of {stream.run.adapter}: give a run of {owner}, "
                "or change the line `adapter`; the baseline is unchanged"
            )
        run = f"the run of {stream.run.adapter}" + (
            f", shard {stream.run.shard}," if stream.run.shard else ""
        )
        broken = Counter(
            event.verdict for event in stream.cases if ROWS[event.verdict].gate in UNJUDGED - {"cause"}
        )
        left_out = sum(
            event.verdict == "not-run" and event.kind not in CAUSED_BY_CODEC for event in stream.cases
        )
        if broken["suite-bug"]:
            why = f"ended with a fault of the suite in {counted(broken['suite-bug'], 'case')}: report it"
        elif broken:
            count = counted(broken.total(), "case")
            why = f"ended with an error of the adapter in {count}: repair the adapter, run again"
        elif left_out:
            why = f"did not run {counted(left_out, 'case')}: run it again"
        elif not stream.complete:
            why = "is incomplete: run it again to its end"
        else:
            continue
        raise BaselineError(f"{run} {why}; the baseline is unchanged")
    for field_ in OF_ONE_BASELINE:
        values = list(dict.fromkeys(getattr(stream.run, field_) for stream in streams))
        if len(values) > 1:
            raise BaselineError(
                f"the runs differ in {field_}: {values[0]} and {values[1]}; give runs of one; "
                "the baseline is unchanged"
            )


def settled(text: str, streams: Sequence[EventStream], suite: Suite, today: date) -> str:
    """Return a file with the release of the cases of a whole run, if its entries cover all of its failures.

    Until then the release before stays, so that each failure that is left says what changed since. It stays
    too where the run has left out what changed: large cases, or the families whose level may be another one.
    """
    known = Baseline.of(text, "baseline", suite)
    lookup = EntryLookup(known.entries)
    changed = dict(changed_since(known.suite, suite)) if known.suite else {}
    for stream in joined(streams):
        run, new = stream.run, (event for event in stream.cases if fails_run(event, stream.run))
        has_families = any("~" in event.id and not event.is_property for event in stream.cases)
        has_changes = not changed or (has_families and not changed.keys() & run.left_out.keys())
        if not (stream.complete and has_changes) or stream.filtered or stream.sampled:
            continue
        if all(lookup.expects(event, today) for event in new):
            file = BaselineFile.of(text, "baseline")
            lines = [line for line in file.head.splitlines(keepends=True) if not _ORIGIN.match(line)]
            comments = sum(1 for _ in takewhile(_is_blank, lines))
            values = {"adapter": run.adapter, "suite": run.suite, "cases": run.fixtures}
            new_lines = [f"{name} = {quoted(value)}{file.end}" for name, value in values.items()]
            return "".join((*lines[:comments], *new_lines, *lines[comments:])) + text[len(file.head) :]
    return text


_ORIGIN: Final = re.compile(rf"({'|'.join(ORIGIN)})\s*=")
"""A line at the head of a file about the cases that it is complete for."""

# --- entries that are out of date ---


@frozen
class Fixed:
    """A baseline that was rewritten: the entries whose cases pass are removed.

    By id, `changed` has how a case fails now. Of those that are kept, no run says anything about the
    `unjudged`, and the `mixed` cover several cases, some of which fail in another way.
    """

    text: str
    removed: tuple[KnownFailure, ...]
    changed: Mapping[str, str]
    kept: int
    unjudged: int
    mixed: tuple[KnownFailure, ...]


def fix(text: str, streams: Sequence[EventStream], names: CaseNames, name: str = "baseline") -> Fixed:
    """Rewrite a file without its stale entries, the changed ones as they fail now; raises `BaselineError`.

    Comments, reasons, issues, owners, dates and order stay. Nothing is added: a baseline only shrinks. A case
    counts as judged if any of the runs judged it, and fails if it fails in any.
    """
    file = BaselineFile.of(text, name)
    check_runs(streams, file)
    names.check(file.entries, name)
    found = evidence(streams, file.entries)
    removed = tuple(entry for entry in file.entries if found[entry].is_paid and not entry.flaky)
    other = [entry for entry in file.entries if found[entry].other]
    now = {entry: _as_it_fails(entry, found[entry]) for entry in other}
    changed = {entry.id: one.kind for entry, one in now.items() if one != entry}
    kept = [entry for entry in file.entries if entry not in removed and entry.id not in changed]
    return Fixed(
        file.changed(lambda entry: None if entry in removed else now.get(entry, entry)),
        removed,
        changed,
        len(kept),
        sum(not (found[entry].same or found[entry].other or found[entry].passed) for entry in kept),
        tuple(entry for entry in other if now[entry] == entry),
    )


def _as_it_fails(entry: KnownFailure, seen: Evidence) -> KnownFailure:
    """Return an entry of one case as it fails now, if it fails in another way in each run."""
    if entry.prefix or entry.flaky or seen.same:
        return entry
    kind, cls, path = way(seen.other[-1])
    return evolve(entry, kind=kind, cls=cls, path=path if entry.path else "")


# --- chosen entries ---


def chosen(
    words: Sequence[str], rows: Collection[tuple[str, str]], nothing: str
) -> Collection[tuple[str, str]]:
    """Return those of the `rows` of id and kind that a word names; all of them without words.

    A word is an id, a pattern of ids, or a verdict with or without its kind. A pattern of golden cases names
    the cases derived from them too. `BaselineError` says `nothing` about a word that names none.
    """
    found: set[tuple[str, str]] = set()
    for word in words:
        hits = {row for row in rows if _names(word, *row)}
        if not hits:
            why = bracket_error(word) or f"{word}: {nothing}: {_near(word, rows)}"
            raise BaselineError(f"{why}; nothing was changed")
        found |= hits
    return found if words else rows


def _names(word: str, name: str, kind: str) -> bool:
    if word in {name, kind, kind.partition(":")[0]}:
        return True
    if "*" not in word:
        return False
    (parent, _, derived), (golden, _, family) = name.partition("~"), word.partition("~")
    fits = fixture_pattern(golden).fullmatch(parent) is not None
    return fits and (not family or fixture_pattern(family).fullmatch(derived) is not None)


def _near(word: str, rows: Collection[tuple[str, str]]) -> str:
    within = f"{word.rstrip('/')}/**"
    if "*" not in word and any(_names(within, *row) for row in rows):
        return f"write '{within}' for the cases in it"
    names = dict.fromkeys((*sorted(kind for _, kind in rows), *sorted(name for name, _ in rows)))
    return suggestion(word, names)


# --- later days ---

LONGEST_EXTENSION: Final = timedelta(days=366)
"""How far ahead the day of an entry may be set: once a year somebody looks at it."""


@frozen
class Extended:
    """A baseline with later days: the entries as they were, and how many had it, or were not chosen."""

    text: str
    extended: tuple[KnownFailure, ...]
    later: int
    kept: int


def extend(text: str, until: date, words: Sequence[str], today: date, name: str = "baseline") -> Extended:
    """Give the entries that the `words` name, or all, a later day; raises `BaselineError`.

    A day above all tables stays there if all entries that take it are extended. No entry gets an earlier day.
    """
    if not today <= until <= today + LONGEST_EXTENSION:
        last = (today + LONGEST_EXTENSION).isoformat()
        raise BaselineError(
            f"{until.isoformat()} is past, or more than a year ahead: choose a day up to {last}"
        )
    file = BaselineFile.of(text, name)
    entries = file.entries
    rows = chosen(words, {(entry.id, entry.kind) for entry in entries}, "no entry has this id or kind")
    due = {entry for entry in entries if (entry.id, entry.kind) in rows and entry.expires < until}
    rows_of = ((table, parse_toml(table.text)["known-failure"][0]) for table in file.tables)
    if due and all(due.issuperset(table.entries) for table, row in rows_of if "expires" not in row):
        file = evolve(file, head=with_day(file.head, until))
    later = file.changed(lambda entry: evolve(entry, expires=until) if entry in due else entry)
    number = sum((entry.id, entry.kind) in rows for entry in entries)
    extended = tuple(entry for entry in entries if entry in due)
    return Extended(later, extended, number - len(due), len(entries) - number)
