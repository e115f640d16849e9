"""The effect of a baseline on a run: which failures are known, and which entries are out of date.

`known_failures` has the entries and their file, `baseline_writing` writes and rewrites it.
"""

import re
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from itertools import pairwise, takewhile
from typing import Final, Literal

from attrs import field, frozen

from wireproof.runner.events import CaseEvent, EventStream, Run, fails_run, joined
from wireproof.runner.known_failures import (
    MARKS,
    NO_CASE,
    PATH,
    QUOTED,
    SHARED,
    BaselineError,
    CaseNames,
    KnownFailure,
    head_lines,
    parse_tables,
    place,
)
from wireproof.runner.verdicts import CAUSED_BY_CODEC, FLAKY, PASSING, ROWS, gates

Overlay = Literal["", "expected", "changed", "expired"]
"""The effect of the baseline on a case, beside its verdict."""


@frozen
class AppliedBaseline:
    """The effect of a baseline on a run.

    Attributes:
        overlays: by case id, for each case that the baseline covers.
        stale: entries whose cases were judged, and pass.
        changed: entries whose case fails in another way.
        expired: entries past their date; their cases count as if there were no entry.
    """

    overlays: dict[str, Overlay]
    stale: tuple[KnownFailure, ...] = ()
    changed: tuple[KnownFailure, ...] = ()
    expired: tuple[KnownFailure, ...] = ()


LINE: Final = 110
"""Characters of a line of ids."""

MAX_TOPICS: Final = 2
"""Number of topics whose derived cases are named; if more fail at the same field, the format is named."""

NO_BASELINE: Final = AppliedBaseline({})


def is_known_failure(event: CaseEvent) -> bool:
    """Return whether a verdict can be a known failure: one that gates at some level."""
    return gates(event.verdict, event.level, hold="should", security=event.is_security)


class EntryLookup:
    """Finds the known failure that covers a case."""

    def __init__(self, known_failures: Sequence[KnownFailure]) -> None:
        """Sort the entries: one case before one family, that before a pattern, and one field before any."""
        self._narrow = {entry.prefix or entry.id: entry for entry in known_failures if not entry.broad}
        broad = (entry for entry in known_failures if entry.broad)
        self._broad = sorted(broad, key=lambda entry: not entry.path)

    def entry_of(self, event: CaseEvent) -> KnownFailure | None:
        """Return the entry; None if there is none."""
        parent, derived, rest = event.id.partition("~")
        family = f"{parent}~{rest.partition(':')[0]}:" if derived else ""
        narrow = self._narrow.get(event.id) or self._narrow.get(family)
        return narrow or next((entry for entry in self._broad if entry.covers(event)), None)

    def expects(self, event: CaseEvent, today: date) -> bool:
        """Return whether an entry says that a case fails as it does."""
        entry = self.entry_of(event)
        return entry is not None and entry.fails_as_recorded(event) and entry.expires >= today


@frozen
class Evidence:
    """What runs say about an entry.

    Attributes:
        same, other: events that fail as it says, and in another way.
        passed: ids of cases that it is about, and that a run judged to pass.
        unjudged: ids of cases that it is about, and that a run was to judge, but did not.
    """

    same: list[CaseEvent] = field(factory=list)
    other: list[CaseEvent] = field(factory=list)
    passed: set[str] = field(factory=set)
    unjudged: set[str] = field(factory=set)

    @property
    def is_paid(self) -> bool:
        """Return whether the cases were judged, and pass."""
        return bool(self.passed) and not (self.same or self.other or self.unjudged - self.passed)

    def add(self, entry: KnownFailure, event: CaseEvent, run: Run) -> None:
        """Add the verdict on a case in a run.

        One that fails only a run at `--level should` (`lenient`, `undocumented`) changes no other entry in a
        run that holds to `must`, and is no pass either: the entry stays.
        """
        fails = is_known_failure(event)
        if fails and entry.fails_as_recorded(event):
            self.same.append(event)
        elif fails and (ROWS[event.verdict].gate != "should" or fails_run(event, run)):
            self.other.append(event)
        elif ROWS[event.verdict].gate in UNJUDGED:
            self.unjudged.add(event.id)
        elif event.verdict in PASSING and not fails:
            self.passed.add(event.id)


UNJUDGED: Final = frozenset({"cause", "adapter", "suite"})
"""The gates of the verdicts that say nothing about the codec in a case that was to be judged."""


def evidence(
    streams: Sequence[EventStream], known_failures: Sequence[KnownFailure]
) -> dict[KnownFailure, Evidence]:
    """Return what some runs of one implementation say about each entry.

    Whether a family passes is seen only in a run that has all of it. For a pattern it is a run of all cases,
    and shards that are together all of it.
    """
    found = {entry: Evidence() for entry in known_failures}
    lookup = EntryLookup(known_failures)
    for stream in streams:
        has_families = stream.complete and not stream.sampled
        for event in stream.cases:
            entry = lookup.entry_of(event)
            if entry is None:
                continue
            if has_families or "~" not in entry.id or is_known_failure(event):
                found[entry].add(entry, event, stream.run)
    whole = [
        stream for stream in joined(streams) if stream.complete and not stream.filtered and not stream.sampled
    ]
    for entry, seen in found.items():
        if entry.broad and not entry.of_examples and not seen.same:
            _add_judged(seen, entry, whole)
    return found


def _add_judged(seen: Evidence, entry: KnownFailure, whole: Sequence[EventStream]) -> None:
    """Add the cases that a pattern is about, and that do not fail as its entry says."""
    for stream in whole:
        for event in stream.cases:
            if entry.is_about(event.id) and not is_known_failure(event):
                seen.add(entry, event, stream.run)


def apply(stream: EventStream, known_failures: Sequence[KnownFailure], today: date) -> AppliedBaseline:
    """Apply the known failures to a run. Only an entry whose cases were judged and pass is stale."""
    found = evidence([stream], known_failures)
    overlays: dict[str, Overlay] = {}
    for entry, seen in found.items():
        for events, as_written in ((seen.same, True), (seen.other, False)):
            overlays.update({event.id: _overlay(entry, today, as_written=as_written) for event in events})
    overlays.update(_left_out(stream, overlays))
    return AppliedBaseline(
        overlays,
        tuple(entry for entry in known_failures if found[entry].is_paid and not entry.flaky),
        tuple(entry for entry in known_failures if found[entry].other),
        tuple(entry for entry in known_failures if entry.expires < today),
    )


def _left_out(stream: EventStream, overlays: Mapping[str, Overlay]) -> Iterator[tuple[str, Overlay]]:
    """Yield the cases that were left out because their family died of a known failure."""
    for event in stream.cases:
        if (
            event.label == "not-run:same-as"
            and overlays.get(event.text.removeprefix("same as ")) == "expected"
        ):
            yield event.id, "expected"


def _overlay(entry: KnownFailure, today: date, *, as_written: bool) -> Overlay:
    if entry.expires < today:
        return "expired"
    return "expected" if as_written else "changed"


def check(
    known_failures: Iterable[KnownFailure], names: CaseNames, today: date, file: str = "baseline"
) -> tuple[list[str], list[str]]:
    """Return the faults of a baseline without a run, one line each: unknown ids, and dates in the past."""
    entries = list(known_failures)
    unknown = [
        f"{place(file, entry)}: {entry.id}: {NO_CASE}" for entry in entries if not names.present(entry)
    ]
    past = [
        f"{place(file, entry)}: {entry.id}: expired on {entry.expires.isoformat()}, {entry.who}"
        for entry in entries
        if entry.expires < today
    ]
    return unknown, past


# --- baseline writing ---
#
# Baselines as text: one is written from a run, and rewritten without the entries that are out of date.


def write(stream: EventStream, owner: str, reason: str, expires: date, issue: str = "") -> str:
    """Return a baseline of every failure of a run that would fail it; the user improves the reasons.

    A table has the failures of a format with one verdict, class and path; its comment names their rules.
    """
    tables: dict[tuple[str, ...], tuple[set[str], Counter[str]]] = {}
    for event, name in _folded([event for event in stream.cases if fails_run(event, stream.run)]):
        names, rules = tables.setdefault((event.format, *_way(event)), (set(), Counter()))
        names.add(name)
        rules[next(iter(event.deciding_rules), event.suite)] += 1
    texts = [
        f"\n# {_rules_text(rules)}\n"
        + table_text(
            KnownFailure(
                "", kind, cls, reason, owner, expires, issue, path=path, flaky=kind == f"fail:{FLAKY}"
            ),
            sorted(names),
        )
        for (_, kind, cls, path), (names, rules) in sorted(tables.items(), key=lambda table: table[0])
    ]
    head = f"owner = {_quoted(owner)}\nexpires = {expires.isoformat()}\nreason = {_quoted(reason)}\n"
    return "".join((head, *texts)) if texts else ""


def _way(event: CaseEvent) -> tuple[str, str, str]:
    """Return the verdict, class and path of a failure: what all cases of one table have in common.

    A case has one twin, so a blocked refusal needs no word about which one.
    """
    kind = event.verdict if event.verdict == "blocked" else event.label
    return kind, event.cls, event.signature_path


def _rules_text(rules: Counter[str]) -> str:
    """Return the most frequent rules, as many as fit on a line."""
    names = [name for name, _ in rules.most_common()]
    shown = list(
        takewhile(lambda number: len(", ".join(names[:number])) < LINE - 15, range(2, len(names) + 1))
    )
    number = shown[-1] if shown else 1
    more = f" and {len(names) - number} more" if number < len(names) else ""
    return ", ".join(names[:number]) + more


def _folded(gating: Sequence[CaseEvent]) -> Iterator[tuple[CaseEvent, str]]:
    """Yield each failure with the id or the pattern that covers it.

    The derived cases of a family that fail alike are one entry: of one fixture, if it alone fails so and its
    family in no other way, else of the whole topic; of all topics, if several fail at the same field.
    Generated examples are named without seed and number.
    """
    alike: dict[tuple[str, ...], set[str]] = {}
    topics: dict[tuple[str, ...], set[str]] = {}
    kinds: dict[tuple[str, str], set[tuple[str, ...]]] = {}
    for event in gating:
        parent, family = _parts(event)
        alike.setdefault((event.suite, family, *_way(event)), set()).add(parent)
        topics.setdefault((event.format_id, family, *_way(event)), set()).add(event.suite)
        kinds.setdefault((parent, family), set()).add(_way(event))
    for event in gating:
        parent, family = _parts(event)
        if event.is_property:
            yield event, f"{parent}~*"
        elif not family:
            yield event, event.id
        elif event.signature_path and len(topics[event.format_id, family, *_way(event)]) > MAX_TOPICS:
            yield event, f"{event.format_id}/**~{family}:*"
        else:
            one = len(alike[event.suite, family, *_way(event)]) == len(kinds[parent, family]) == 1
            yield event, f"{parent if one else f'{event.suite}/*'}~{family}:*"


def _parts(event: CaseEvent) -> tuple[str, str]:
    """Split an id into that of its fixture and its family, which a golden case does not have."""
    parent, _, derived = event.id.partition("~")
    return parent, derived.partition(":")[0]


def table_text(entry: KnownFailure, names: Sequence[str], shared: Sequence[str] = SHARED) -> str:
    """Return the table of some ids and the other fields of an entry, without the `shared` ones."""
    texts = {"kind": entry.kind, "class": entry.cls, "reason": entry.reason, "owner": entry.owner,
             PATH: entry.path, "issue": entry.issue, "fault": entry.fault}  # fmt: skip
    lines = [f"id = {_ids_text(names)}"]
    lines += [f"{name} = {_quoted(text)}" for name, text in texts.items() if text and name not in shared]
    lines += [] if "expires" in shared else [f"expires = {entry.expires.isoformat()}"]
    lines += [f"{mark} = true" for mark in MARKS if getattr(entry, mark)]
    return "\n".join(("[[known-failure]]", *lines, ""))


def _ids_text(names: Sequence[str]) -> str:
    """Return one id as a text, several as a list with as many on a line as fit after `id = [`."""
    if len(names) == 1:
        return _quoted(names[0])
    indent = " " * len("id = [")
    words = textwrap.fill(
        ", ".join(map(_quoted, names)), LINE - len("]"), break_long_words=False, break_on_hyphens=False,
        initial_indent=indent, subsequent_indent=indent,
    )  # fmt: skip
    return f"[{words.strip()}]"


def _quoted(text: str) -> str:
    """Return a basic string of TOML."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(c if c >= " " and c != "\x7f" else f"\\u{ord(c):04x}" for c in escaped) + '"'


@frozen
class Rewritten:
    """A baseline that was rewritten, and what was done.

    Attributes:
        text: the file.
        removed: entries whose cases pass.
        renamed: by former id, the present one.
        changed: by id, the verdict and kind with which the case fails now.
        kept: all other entries.
        unjudged: those of them that no run says anything about.
        mixed: those of them that cover several cases, some of which fail in another way.
    """

    text: str
    removed: tuple[KnownFailure, ...]
    renamed: Mapping[str, str]
    changed: Mapping[str, str]
    kept: int
    unjudged: int
    mixed: tuple[KnownFailure, ...]


def fix(text: str, streams: Sequence[EventStream], names: CaseNames, name: str = "baseline") -> Rewritten:
    """Rewrite a file without its stale entries, the changed ones as they fail now, with present ids.

    Comments, reasons, issues, owners, dates and order stay. Nothing is added: a baseline only shrinks. A case
    counts as judged if any of the runs judged it, and fails if it fails in any.

    Raises:
        BaselineError: the file is not valid, or a run cannot show which entries are stale: it is incomplete,
            or of another implementation or version than the others.
        EventError: shards do not belong together.
    """
    check_runs(streams)
    written = parse_tables(text, name)
    present = names.all_present((entry for table in written for entry in table), name)
    head, blocks = _blocks(text)
    if len(blocks) != len(written):
        raise BaselineError(
            f"{name}: has entries in a form that cannot be rewritten; use [[known-failure]] tables"
        )
    rest = iter(present)
    tables = [[next(rest) for _ in table] for table in written]
    former = {
        now.id: was.id
        for table, entries in zip(written, tables, strict=True)
        for was, now in zip(table, entries, strict=True)
    }
    found = evidence(streams, present)
    removed = tuple(entry for entry in present if found[entry].is_paid and not entry.flaky)
    other = [entry for entry in present if found[entry].other]
    ways = {entry: _way(found[entry].other[-1]) for entry in other if _has_other_way(entry, found[entry])}
    plan = _Plan(frozenset(removed), ways, former)
    untouched = [entry for entry in present if entry not in plan.removed and entry not in ways]
    return Rewritten(
        head + "".join(_kept(tables, blocks, plan)),
        removed,
        {was: now for now, was in former.items() if was != now},
        {entry.id: kind for entry, (kind, *_) in ways.items()},
        len(untouched),
        sum(not (found[entry].same or found[entry].other or found[entry].passed) for entry in untouched),
        tuple(entry for entry in other if entry not in ways),
    )


def _has_other_way(entry: KnownFailure, seen: Evidence) -> bool:
    """Return whether an entry of one case is to be rewritten: it fails in another way in each run."""
    return not (entry.prefix or entry.flaky or seen.same)


OF_ONE_BASELINE: Final = ("adapter", "version", "suite")
"""The fields in which the runs are equal that rewrite a baseline."""


def check_runs(streams: Sequence[EventStream]) -> None:
    """Raise `BaselineError` for runs that say nothing about known failures, or not about the same ones."""
    for stream in streams:
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
        former: by present id, the id in the file.
    """

    removed: frozenset[KnownFailure]
    ways: Mapping[KnownFailure, tuple[str, str, str]]
    former: Mapping[str, str]


@frozen
class _EntryText:
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


def _blocks(text: str) -> tuple[str, list[_EntryText]]:
    """Return the text above the first entry and its comments, and the entries."""
    lines = text.splitlines(keepends=True)
    heads = head_lines(lines)
    starts = [head - sum(1 for _ in _comments_above(lines, head)) for head in heads]
    rows = zip(heads, pairwise([*starts, len(lines)]), strict=True)
    blocks = [_cut(lines[start:head], lines[head:end]) for head, (start, end) in rows]
    return "".join(lines[: starts[0] if starts else len(lines)]), blocks


def _comments_above(lines: Sequence[str], head: int) -> Iterator[int]:
    return takewhile(lambda at: lines[at - 1].lstrip().startswith("#"), range(head, 0, -1))


def _cut(lead: Sequence[str], rest: Sequence[str]) -> _EntryText:
    loose = sum(1 for _ in takewhile(lambda line: not line.partition("#")[0].strip(), reversed(rest)))
    last = len(rest) - loose
    return _EntryText("".join(lead), "".join(rest[:last]), "".join(rest[last:]))


def _kept(
    tables: Sequence[Sequence[KnownFailure]], blocks: Sequence[_EntryText], plan: _Plan
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
        alike = len(kept) == len(table) and all(plan.former[entry.id] == entry.id for entry in kept)
        text = block.entry if alike else _with_ids(block.entry, kept, plan.former)
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


def _with_ids(block: str, entries: Sequence[KnownFailure], former: Mapping[str, str] | None = None) -> str:
    """Return the table with other ids, by present id the one that it has; comments between them stay."""
    was = {former[entry.id] if former else entry.id: entry.id for entry in entries}
    found = _IDS.search(block)
    if found is None:
        raise BaselineError(
            f"the ids of the table with {entries[0].id} are in a form that cannot be rewritten"
        )
    if "#" in QUOTED.sub("", found[1]):
        names = "".join(_kept_line(line, was) for line in found[1].splitlines(keepends=True))
    else:
        names = _ids_text(list(was.values()))
    return f"{block[: found.start()]}id = {names}{block[found.end() :]}"


def _kept_line(line: str, was: Mapping[str, str]) -> str:
    """Return a line of a list of ids with those that stay; its comment goes if all of its ids do."""
    code = line[: len(line) - len(QUOTED.sub(lambda text: "_" * len(text[0]), line).partition("#")[2])]
    ids = [double or single for double, single in QUOTED.findall(code)]
    if ids and not was.keys() & set(ids):
        return ("[" if code.startswith("[") else "") + ("]" if code.rstrip("#\r\n ").endswith("]") else "")
    kept = re.sub(
        r"(\"[^\"\n]*\"|'[^'\n]*')(\s*,[ \t]*)?",
        lambda text: _quoted(was[text[1][1:-1]]) + (text[2] or "") if text[1][1:-1] in was else "",
        code,
    )
    return kept + line[len(code) :]


def _with(block: str, name: str, value: str) -> str:
    """Return the table with one of its lines rewritten; a comment at the end of the line stays."""
    was = re.compile(rf"^{name}\s*=\s*(\"[^\"\n]*\"|'[^'\n]*')", re.MULTILINE)
    line = f"{name} = {_quoted(value)}"
    if name == PATH and not value:  # a path is never empty
        return re.sub(rf"^{name}\b.*\n", "", block, count=1, flags=re.MULTILINE)
    if not was.search(block):  # only a class may be missing
        return re.sub(r"^kind\b.*", lambda kind: f"{kind[0]}\n{line}", block, count=1, flags=re.MULTILINE)
    return was.sub(lambda _: line, block, count=1)
