"""Baselines as text: rewritten without the entries that are out of date, or with other dates.

`baseline_adding` adds entries.
"""

import re
import textwrap
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import date, timedelta
from itertools import pairwise, takewhile
from typing import Final

from attrs import evolve, frozen

from wireproof.cases.fixtures import Suite
from wireproof.judge.verdicts import CAUSED_BY_CODEC, ROWS
from wireproof.run.baselines.baseline import UNJUDGED, EntryLookup, Evidence, changed_since, evidence
from wireproof.run.baselines.known_failures import (
    MARKS,
    ORIGIN,
    PATH,
    QUOTED,
    SHARED,
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

LINE: Final = 110
"""Characters of a line of ids."""


def way(event: CaseEvent) -> tuple[str, str, str]:
    """Return the verdict, class and path of a failure: what all cases of one table have in common.

    A case has one twin, so a blocked refusal needs no word about which one.
    """
    kind = event.verdict if event.verdict == "blocked" else event.label
    return kind, event.cls, event.signature_path


def table_text(entry: KnownFailure, names: Sequence[str], shared: Sequence[str] = SHARED) -> str:
    """Return the table of some ids and the other fields of an entry, without the `shared` ones."""
    texts = {"kind": entry.kind, "class": entry.cls, "reason": entry.reason, "owner": entry.owner,
             PATH: entry.path, "issue": entry.issue, "fault": entry.fault}  # fmt: skip
    lines = [f"id = {_ids_text(names)}"]
    lines += [f"{name} = {quoted(text)}" for name, text in texts.items() if text and name not in shared]
    lines += [] if "expires" in shared else [f"expires = {entry.expires.isoformat()}"]
    lines += [f"{mark} = true" for mark in MARKS if getattr(entry, mark)]
    return "\n".join(("[[known-failure]]", *lines, ""))


def _ids_text(names: Sequence[str]) -> str:
    """Return one id as a text, several as a list with as many on a line as fit after `id = [`."""
    if len(names) == 1:
        return quoted(names[0])
    indent = " " * len("id = [")
    words = textwrap.fill(
        ", ".join(map(quoted, names)), LINE - len("]"), break_long_words=False, break_on_hyphens=False,
        initial_indent=indent, subsequent_indent=indent,
    )  # fmt: skip
    return f"[{words.strip()}]"


def quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(c if c >= " " and c != "\x7f" else f"\\u{ord(c):04x}" for c in escaped) + '"'


@frozen
class Rewritten:
    """A baseline that was rewritten, and what was done.

    Attributes:
        removed: entries whose cases pass.
        changed: by id, the verdict and kind with which the case fails now.
        unjudged: those of them that no run says anything about.
        mixed: those of them that cover several cases, some of which fail in another way.
    """

    text: str
    removed: tuple[KnownFailure, ...]
    changed: Mapping[str, str]
    kept: int
    unjudged: int
    mixed: tuple[KnownFailure, ...]


def fix(text: str, streams: Sequence[EventStream], names: CaseNames, name: str = "baseline") -> Rewritten:
    """Rewrite a file without its stale entries, the changed ones as they fail now.

    Comments, reasons, issues, owners, dates and order stay. Nothing is added: a baseline only shrinks. A case
    counts as judged if any of the runs judged it, and fails if it fails in any.

    Raises:
        BaselineError: the file is not valid, or a run cannot show which entries are stale: it is incomplete,
            or of another implementation or version than the others.
        EventError: shards do not belong together.
    """
    head, blocks, tables = parts_of(text, name)
    check_runs(streams, head, name)
    present = tuple(entry for table in tables for entry in table)
    names.check(present, name)
    found = evidence(streams, present)
    removed = tuple(entry for entry in present if found[entry].is_paid and not entry.flaky)
    other = [entry for entry in present if found[entry].other]
    ways = {entry: way(found[entry].other[-1]) for entry in other if _fails_otherwise(entry, found[entry])}
    plan = _Plan(frozenset(removed), ways)
    untouched = [entry for entry in present if entry not in plan.removed and entry not in ways]
    return Rewritten(
        head + "".join(_kept(tables, blocks, plan)),
        removed,
        {entry.id: kind for entry, (kind, *_) in ways.items()},
        len(untouched),
        sum(not (found[entry].same or found[entry].other or found[entry].passed) for entry in untouched),
        tuple(entry for entry in other if entry not in ways),
    )


def _fails_otherwise(entry: KnownFailure, seen: Evidence) -> bool:
    """Return whether an entry of one case is to be rewritten: it fails in another way in each run."""
    return not (entry.prefix or entry.flaky or seen.same)


OF_ONE_BASELINE: Final = ("adapter", "version", "suite")
"""The fields in which the runs are equal that rewrite a baseline."""


def check_runs(streams: Sequence[EventStream], head: str, name: str) -> None:
    """Raise `BaselineError` for runs that say nothing about the known failures of a file, or of several.

    The `head` of the file may say of which implementation it is.
    """
    owner = parse_toml(head).get("adapter", "")
    for stream in streams:
        if owner not in ("", stream.run.adapter):
            raise BaselineError(
                f"{name} is of {owner}, and the run is of {stream.run.adapter}: give a run of {owner}, or "
                "change the line `adapter`; the baseline is unchanged"
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
            why = f"ended with a fault of the suite in {broken['suite-bug']} cases: report it"
        elif broken:
            why = (
                f"ended with an error of the adapter in {broken.total()} cases: repair the adapter, run again"
            )
        elif left_out:
            why = f"did not run {left_out} cases: run it again"
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


@frozen
class _Plan:
    """What is done with the entries of a file.

    Attributes:
        removed: entries that go.
        ways: verdict, class and path of the entries that fail in another way now.
    """

    removed: frozenset[KnownFailure]
    ways: Mapping[KnownFailure, tuple[str, str, str]]


@frozen
class EntryText:
    """A table as text of the file.

    Attributes:
        lead: the comments right above it, which belong to it and to the following tables without comments.
        entry: from its `[[known-failure]]` to its last line.
        tail: blank lines, and separate comments.
    """

    lead: str
    entry: str
    tail: str

    @property
    def ends_group(self) -> bool:
        """Return True if a separate comment divides it from the next one."""
        return bool(self.tail.strip())


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
            head, *_ = parts_of(text, "baseline")
            lines = [line for line in head.splitlines(keepends=True) if not _ORIGIN.match(line)]
            comments = sum(1 for _ in takewhile(lambda line: not line.partition("#")[0].strip(), lines))
            end = "\r\n" if "\r\n" in text else "\n"
            values = {"adapter": run.adapter, "suite": run.suite, "cases": run.fixtures}
            new_lines = [f"{name} = {quoted(value)}{end}" for name, value in values.items()]
            return "".join((*lines[:comments], *new_lines, *lines[comments:])) + text[len(head) :]
    return text


_ORIGIN: Final = re.compile(rf"({'|'.join(ORIGIN)})\s*=")
"""A line at the head of a file about the cases that it is complete for."""


def parts_of(text: str, name: str) -> tuple[str, list[EntryText], tuple[tuple[KnownFailure, ...], ...]]:
    """Return the text above the first entry and its comments, and the tables as text and as entries.

    Raises:
        BaselineError: the file is not valid, or has entries in a form that cannot be rewritten.
    """
    tables = parse_tables(text, name)
    head, blocks = _blocks(text)
    if len(blocks) != len(tables):
        raise BaselineError(
            f"{name}: has entries in a form that cannot be rewritten; use [[known-failure]] tables"
        )
    return head, blocks, tables


def _blocks(text: str) -> tuple[str, list[EntryText]]:
    """Return the text above the first entry and its comments, and the entries."""
    lines = text.splitlines(keepends=True)
    heads = head_lines(lines)
    starts = [head - sum(1 for _ in _comments_above(lines, head)) for head in heads]
    rows = zip(heads, pairwise([*starts, len(lines)]), strict=True)
    blocks = [_cut(lines[start:head], lines[head:end]) for head, (start, end) in rows]
    return "".join(lines[: starts[0] if starts else len(lines)]), blocks


def _comments_above(lines: Sequence[str], head: int) -> Iterator[int]:
    return takewhile(lambda at: lines[at - 1].lstrip().startswith("#"), range(head, 0, -1))


def _cut(lead: Sequence[str], rest: Sequence[str]) -> EntryText:
    loose = sum(1 for _ in takewhile(lambda line: not line.partition("#")[0].strip(), reversed(rest)))
    last = len(rest) - loose
    return EntryText("".join(lead), "".join(rest[:last]), "".join(rest[last:]))


def _kept(
    tables: Sequence[Sequence[KnownFailure]], blocks: Sequence[EntryText], plan: _Plan
) -> Iterator[str]:
    """Yield the tables that stay. A comment is removed with the last table that it belongs to."""
    waiting = ""
    for table, block in zip(tables, blocks, strict=True):
        lead = block.lead or waiting
        kept = [entry for entry in table if entry not in plan.removed]
        if not kept:
            waiting = "" if block.ends_group else lead
            yield block.tail.lstrip("\r\n")
            continue
        waiting = ""
        text = block.entry if len(kept) == len(table) else _with_ids(block.entry, kept)
        yield lead + "\n".join(_fixed(kept, text, plan)) + block.tail


def _fixed(table: Sequence[KnownFailure], text: str, plan: _Plan) -> Iterator[str]:
    """Yield the text of a table; entries that fail in another way now get tables of their own."""
    ways: dict[tuple[str, ...], list[KnownFailure]] = {}
    for entry in table:
        if entry in plan.ways:
            ways.setdefault(plan.ways[entry], []).append(entry)
    same = [entry for entry in table if entry not in plan.ways]
    if same:
        yield _with_ids(text, same) if ways else text
    for (kind, cls, path), entries in ways.items():
        block = _with_ids(text, entries) if len(table) > 1 else text
        values = {"kind": kind, "class": cls, **({PATH: path} if entries[0].path else {})}
        for name, value in values.items():
            block = _with(block, name, value)
        yield block


_IDS: Final = re.compile(
    r"^id\s*=\s*(\[(?:[^\]#\"']|\"[^\"\n]*\"|'[^'\n]*'|#[^\n]*)*\]|\"[^\"\n]*\"|'[^'\n]*')", re.MULTILINE
)


def _with_ids(block: str, entries: Sequence[KnownFailure]) -> str:
    """Return the table with fewer ids; comments between them stay."""
    ids = [entry.id for entry in entries]
    found = _IDS.search(block)
    if found is None:
        raise BaselineError(
            f"the ids of the table with {entries[0].id} are in a form that cannot be rewritten"
        )
    if "#" in QUOTED.sub("", found[1]):
        names = "".join(_kept_line(line, ids) for line in found[1].splitlines(keepends=True))
    else:
        names = _ids_text(ids)
    return f"{block[: found.start()]}id = {names}{block[found.end() :]}"


def _kept_line(line: str, staying: Collection[str]) -> str:
    """Return a line of a list of ids with those that stay; its comment goes if all of its ids do."""
    code = line[: len(line) - len(QUOTED.sub(lambda text: "_" * len(text[0]), line).partition("#")[2])]
    ids = [double or single for double, single in QUOTED.findall(code)]
    if ids and not set(staying) & set(ids):
        return ("[" if code.startswith("[") else "") + ("]" if code.rstrip("#\r\n ").endswith("]") else "")
    kept = re.sub(
        r"(\"[^\"\n]*\"|'[^'\n]*')(\s*,[ \t]*)?",
        lambda text: quoted(text[1][1:-1]) + (text[2] or "") if text[1][1:-1] in staying else "",
        code,
    )
    return kept + line[len(code) :]


def _with(block: str, name: str, value: str) -> str:
    """Return the table with one of its lines rewritten; a comment at the end of the line stays."""
    was = re.compile(rf"^{name}\s*=\s*(\"[^\"\n]*\"|'[^'\n]*')", re.MULTILINE)
    line = f"{name} = {quoted(value)}"
    if name == PATH and not value:  # a path is never empty
        return re.sub(rf"^{name}\b.*\n", "", block, count=1, flags=re.MULTILINE)
    if not was.search(block):  # only a class may be missing
        return re.sub(r"^kind\b.*", lambda kind: f"{kind[0]}\n{line}", block, count=1, flags=re.MULTILINE)
    return was.sub(lambda _: line, block, count=1)


# --- choosing and extending ---


def parse_rewritten(text: str, name: str) -> tuple[KnownFailure, ...]:
    """Return the entries of a changed text; raises `BaselineError` if it is not valid any more."""
    try:
        return parse_baseline(text, name)
    except BaselineError as error:
        raise BaselineError(
            f"{name}: has a form that cannot be rewritten ({error}); it is unchanged"
        ) from None


def chosen(
    words: Sequence[str], rows: Collection[tuple[str, str]], nothing: str
) -> Collection[tuple[str, str]]:
    """Return those of the `rows` of id and kind that a word names; all of them without words.

    A word is an id, a pattern of ids, or a verdict with or without its kind. A pattern of golden cases names
    the cases derived from them too.

    Raises:
        BaselineError: a word names none; the message says `nothing` about it, and what is near.
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
    """Return what was probably meant by a word that names nothing."""
    within = f"{word.rstrip('/')}/**"
    if "*" not in word and any(_names(within, *row) for row in rows):
        return f"write '{within}' for the cases in it"
    names = dict.fromkeys((*sorted(kind for _, kind in rows), *sorted(name for name, _ in rows)))
    return suggestion(word, names)


LONGEST_EXTENSION: Final = timedelta(days=366)
"""How far ahead the day of an entry may be set: once a year somebody looks at it."""

_DAY: Final = re.compile(r"^([ \t]*expires[ \t]*=[ \t]*)\d{4}-\d\d-\d\d", re.MULTILINE)


@frozen
class Extended:
    """A baseline with later days, and what was done.

    Attributes:
        extended: entries that have the new day now, as they were.
        later: number of chosen entries that have this day or a later one already.
        kept: number of the entries that were not chosen.
    """

    text: str
    extended: tuple[KnownFailure, ...]
    later: int
    kept: int


def extend(text: str, until: date, words: Sequence[str], today: date, name: str = "baseline") -> Extended:
    """Give the entries that the `words` name, or all, a later day; comments and everything else stay.

    A day above all tables stays there if all entries that take it are extended. No entry gets an earlier day.

    Raises:
        BaselineError: the file is not valid, a word names no entry, or the day is past or far ahead.
    """
    if not today <= until <= today + LONGEST_EXTENSION:
        last = (today + LONGEST_EXTENSION).isoformat()
        raise BaselineError(
            f"{until.isoformat()} is past, or more than a year ahead: choose a day up to {last}"
        )
    head, blocks, tables = parts_of(text, name)
    entries = [entry for table in tables for entry in table]
    rows = chosen(words, {(entry.id, entry.kind) for entry in entries}, "no entry has this id or kind")
    due = {entry for entry in entries if (entry.id, entry.kind) in rows and entry.expires < until}
    own = [_DAY.search(block.entry) is not None for block in blocks]
    all_take = all(due.issuperset(table) for table, has_day in zip(tables, own, strict=True) if not has_day)
    if due and all_take:
        head = _with_day(head, until) if _DAY.search(head) else head
    texts = (
        block.lead
        + (block.entry if all_take and not has_day else _extended_table(block.entry, table, due, until))
        + block.tail
        for table, block, has_day in zip(tables, blocks, own, strict=True)
    )
    done = head + "".join(texts)
    wanted = {evolve(entry, expires=until) if entry in due else entry for entry in entries}
    if {*parse_rewritten(done, name)} != wanted:
        raise BaselineError(f"{name}: has a day in a form that cannot be rewritten; it is unchanged")
    extended = tuple(entry for entry in entries if entry in due)
    number = sum((entry.id, entry.kind) in rows for entry in entries)
    return Extended(done, extended, number - len(due), len(entries) - number)


def _extended_table(
    text: str, table: Sequence[KnownFailure], due: Collection[KnownFailure], until: date
) -> str:
    """Return a table with another day; if only some of its entries get it, these are a table of their own."""
    extended = [entry for entry in table if entry in due]
    rest = [entry for entry in table if entry not in due]
    if not extended:
        return text
    if not rest:
        return _with_day(text, until)
    return f"{_with_ids(text, rest).rstrip()}\n\n{_with_day(_with_ids(text, extended), until)}"


def _with_day(text: str, until: date) -> str:
    """Return a table or a head with another day; a table without one gets it at its end."""
    if _DAY.search(text):
        return _DAY.sub(lambda line: line[1] + until.isoformat(), text, count=1)
    return f"{text.rstrip()}\nexpires = {until.isoformat()}\n"
