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

from attrs import frozen

from wireproof.cases.case import PROPERTY
from wireproof.formats import FORMATS
from wireproof.runner.events import EXAMPLE_OPS, CaseEvent, EventStream, fails_run
from wireproof.runner.known_failures import (
    MARKS,
    PATH,
    SHARED,
    BaselineError,
    KnownFailure,
    parse_tables,
)
from wireproof.runner.verdicts import gates

Overlay = Literal["", "expected", "changed", "expired"]
"""The effect of the baseline on a case, beside its verdict."""


MOSTLY_ACCEPTED: Final = ("undocumented", "pass-unclassified")
"""The verdicts that fail only a run at `--level should`, or none."""


@frozen
class AppliedBaseline:
    """The effect of a baseline on a run.

    Attributes:
        overlays: by case id, for each case that the baseline covers.
        stale: entries that no case of a whole run fails any more.
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
        several = (entry for entry in known_failures if entry.prefix or entry.broad)
        self._single = {entry.id: entry for entry in known_failures if not (entry.prefix or entry.broad)}
        self._several = sorted(several, key=lambda entry: (entry.broad, not entry.path))

    def entry_of(self, event: CaseEvent) -> KnownFailure | None:
        """Return the entry; None if there is none."""
        return self._single.get(event.id) or next(filter(lambda one: one.covers(event), self._several), None)

    def expects(self, event: CaseEvent, today: date) -> bool:
        """Return whether an entry says that a case fails as it does."""
        entry = self.entry_of(event)
        return entry is not None and entry.fails_as_recorded(event) and entry.expires >= today


def apply(stream: EventStream, known_failures: Sequence[KnownFailure], today: date) -> AppliedBaseline:
    """Apply the known failures to a run. An entry whose case was left out of the run is not stale."""
    overlays: dict[str, Overlay] = {}
    found: dict[KnownFailure, dict[str, list[CaseEvent]]] = {
        entry: {"as": [], "other": [], "not": []} for entry in known_failures
    }
    lookup = EntryLookup(known_failures)
    for event in stream.cases:
        entry = lookup.entry_of(event)
        if entry is None:
            continue
        how = ("as" if entry.fails_as_recorded(event) else "other") if _is_about(entry, event) else "not"
        found[entry][how].append(event)
        if how != "not":
            overlays[event.id] = _overlay(entry, today, as_written=how == "as")
    overlays.update(_left_out(stream, overlays))
    return AppliedBaseline(
        overlays,
        tuple(
            entry
            for entry in known_failures
            if _is_seen(entry, stream) and _is_stale(found[entry], stream) and not entry.flaky
        ),
        tuple(entry for entry in known_failures if found[entry]["other"]),
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


def _is_about(entry: KnownFailure, event: CaseEvent) -> bool:
    """Return whether a verdict confirms or changes an entry; one that most runs accept changes no other."""
    return is_known_failure(event) and (event.verdict not in MOSTLY_ACCEPTED or entry.kind == event.verdict)


def _overlay(entry: KnownFailure, today: date, *, as_written: bool) -> Overlay:
    if entry.expires < today:
        return "expired"
    return "expected" if as_written else "changed"


def _is_seen(entry: KnownFailure, stream: EventStream) -> bool:
    """Return whether a run can prove an entry stale: its case must have run, for families all of them.

    That no example fails proves nothing, because another seed draws others.
    """
    if entry.of_examples or entry.fixture in stream.run.left_out:
        return False
    derived = ("~" in event.id and not event.is_property for event in stream.cases)
    return "~" not in entry.id or (not stream.sampled and any(derived))


def _is_stale(found: dict[str, list[CaseEvent]], stream: EventStream) -> bool:
    if found["as"] or found["other"]:
        return False
    if any(event.verdict == "not-run" for event in found["not"]):
        return False
    return bool(found["not"]) or (stream.complete and not stream.filtered)


def check(known_failures: Iterable[KnownFailure], known: Iterable[str], today: date) -> tuple[str, ...]:
    """Return the faults of a baseline without a run, one line each: unknown ids, dates in the past."""
    ids = {*known, *(f"{row.format_id}/{PROPERTY}/{op}" for row in FORMATS.values() for op in EXAMPLE_OPS)}
    problems = []
    for entry in known_failures:
        if entry.fixture not in ids and not any(map(entry.selects, ids)):
            problems.append(f"{entry.id}: no such case")
        if entry.expires < today:
            problems.append(f"{entry.id}: expired on {entry.expires.isoformat()}, {entry.who}")
    return tuple(problems)


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
        + table_text(KnownFailure("", kind, cls, reason, owner, expires, issue, path=path), sorted(names))
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


def fix(text: str, stream: EventStream, today: date) -> str:
    """Return the file without its stale entries and with the changed ones as they fail now.

    Comments, reasons, owners, dates and order stay. Nothing is added: a baseline only shrinks. Raises
    `BaselineError` for a run that is filtered or incomplete, which cannot show which entries are stale.
    """
    if stream.filtered or not stream.complete:
        raise BaselineError(
            "a baseline is rewritten from a whole run only: this one is filtered or incomplete"
        )
    tables = parse_tables(text)
    applied = apply(stream, [entry for table in tables for entry in table], today)
    head, blocks = _blocks(text)
    if len(blocks) != len(tables):
        raise BaselineError(
            "the baseline has entries in a form that cannot be rewritten; use [[known-failure]] tables"
        )
    return head + "".join(_kept(tables, blocks, applied, stream))


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
    heads = [
        number for number, line in enumerate(lines) if line.partition("#")[0].strip() == "[[known-failure]]"
    ]
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
    tables: Sequence[Sequence[KnownFailure]],
    blocks: Sequence[_EntryText],
    applied: AppliedBaseline,
    stream: EventStream,
) -> Iterator[str]:
    """Yield the tables that stay. A comment is removed with the last table that it belongs to."""
    waiting = ""
    stale = frozenset(applied.stale)
    for table, block in zip(tables, blocks, strict=True):
        lead = block.lead or waiting
        kept = [entry for entry in table if entry not in stale]
        if not kept:
            waiting = "" if block.ends_group else lead
            yield block.tail.lstrip("\r\n")
            continue
        waiting = ""
        text = block.entry if len(kept) == len(table) else _with_ids(block.entry, kept)
        yield lead + "\n".join(_fixed(kept, text, applied, stream)) + block.tail


def _fixed(
    table: Sequence[KnownFailure], text: str, applied: AppliedBaseline, stream: EventStream
) -> Iterator[str]:
    """Yield the text of a table; entries that fail in another way now get tables of their own."""
    changed = {entry for entry in table if entry in applied.changed and not entry.prefix}
    ways: dict[tuple[str, ...], list[KnownFailure]] = {}
    for event in stream.cases:
        for entry in changed:
            if entry.id == event.id:
                ways.setdefault(_way(event), []).append(entry)
    same = [entry for entry in table if entry not in changed]
    if same:
        yield _with_ids(text, same) if changed else text
    for (kind, cls, path), entries in ways.items():
        block = _with_ids(text, entries) if len(table) > 1 else text
        values = {"kind": kind, "class": cls, **({PATH: path} if entries[0].path else {})}
        for name, value in values.items():
            block = _with(block, name, value)
        yield block


def _with_ids(block: str, entries: Sequence[KnownFailure]) -> str:
    """Return the table with other ids."""
    names = _ids_text([entry.id for entry in entries])
    was = re.compile(r"^id\s*=\s*(\[[^\]]*\]|\"[^\"\n]*\"|'[^'\n]*')", re.MULTILINE)
    return was.sub(lambda _: f"id = {names}", block, count=1)


def _with(block: str, name: str, value: str) -> str:
    """Return the table with one of its lines rewritten; a comment at the end of the line stays."""
    was = re.compile(rf"^{name}\s*=\s*(\"[^\"\n]*\"|'[^'\n]*')", re.MULTILINE)
    line = f"{name} = {_quoted(value)}"
    if name == PATH and not value:  # a path is never empty
        return re.sub(rf"^{name}\b.*\n", "", block, count=1, flags=re.MULTILINE)
    if not was.search(block):  # only a class may be missing
        return re.sub(r"^kind\b.*", lambda kind: f"{kind[0]}\n{line}", block, count=1, flags=re.MULTILINE)
    return was.sub(lambda _: line, block, count=1)
