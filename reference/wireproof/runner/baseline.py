"""The effect of a baseline on a run: which failures are known, and which entries are out of date.

`known_failures` has the entries and their file, `baseline_writing` writes and rewrites it.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from itertools import pairwise, takewhile
from typing import Final, Literal

from attrs import frozen

from wireproof.cases.case import PROPERTY
from wireproof.formats import FORMATS
from wireproof.runner.events import EXAMPLE_OPS, CaseEvent, EventStream, fails_run
from wireproof.runner.known_failures import FIELDS, PATH, BaselineError, KnownFailure, parse_baseline
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


NO_BASELINE: Final = AppliedBaseline({})


def is_known_failure(event: CaseEvent) -> bool:
    """Return whether a verdict can be a known failure: one that gates at some level."""
    return gates(event.verdict, event.level, hold="should", security=event.is_security)


class EntryLookup:
    """Finds the known failure that covers a case."""

    def __init__(self, known_failures: Sequence[KnownFailure]) -> None:
        """Sort the entries: one case before one family, and that before a pattern."""
        several = (entry for entry in known_failures if entry.prefix or entry.broad)
        self._single = {entry.id: entry for entry in known_failures if not (entry.prefix or entry.broad)}
        self._several = sorted(several, key=lambda entry: entry.broad)

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
    """Return a baseline of every failure of a run that would fail it; the user improves the reasons."""
    gating = [event for event in stream.cases if fails_run(event, stream.run)]
    names = {
        (pattern, event.label, event.cls, event.signature_path if event.is_property else "")
        for event, pattern in _folded(gating)
    }
    return "\n".join(
        _block(KnownFailure(name, kind, cls, reason, owner, expires, issue, path=path))
        for name, kind, cls, path in sorted(names)
    )


def _folded(gating: Sequence[CaseEvent]) -> Iterator[tuple[CaseEvent, str]]:
    """Yield each failure with the id or the pattern that covers it.

    The derived cases of a family that fail alike are one entry: of one fixture, if it alone fails so and its
    family in no other way, else of the whole topic. Generated examples are named without seed and number.
    """
    alike: dict[tuple[str, ...], set[str]] = {}
    kinds: dict[tuple[str, str], set[tuple[str, str]]] = {}
    for event in gating:
        parent, family = _parts(event)
        alike.setdefault((event.suite, family, event.label, event.cls), set()).add(parent)
        kinds.setdefault((parent, family), set()).add((event.label, event.cls))
    for event in gating:
        parent, family = _parts(event)
        if event.is_property:
            yield event, f"{parent}~*"
            continue
        one = len(alike[event.suite, family, event.label, event.cls]) == len(kinds[parent, family]) == 1
        fixture = parent if one else f"{event.suite}/*"
        yield event, f"{fixture}~{family}:*" if family else event.id


def _parts(event: CaseEvent) -> tuple[str, str]:
    """Split an id into that of its fixture and its family, which a golden case does not have."""
    parent, _, derived = event.id.partition("~")
    return parent, derived.partition(":")[0]


def _block(entry: KnownFailure) -> str:
    pairs = (
        entry.id,
        entry.kind,
        entry.cls,
        entry.reason,
        entry.owner,
    )
    lines = [f"{name} = {_quoted(text)}" for name, text in zip(FIELDS, pairs, strict=False)]
    lines.append(f"expires = {entry.expires.isoformat()}")
    optional = {PATH: entry.path, "issue": entry.issue, "fault": entry.fault}
    lines += [f"{name} = {_quoted(text)}" for name, text in optional.items() if text]
    return "\n".join(("[[known-failure]]", *lines, ""))


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
    known_failures = parse_baseline(text)
    applied = apply(stream, known_failures, today)
    head, blocks = _blocks(text)
    if len(blocks) != len(known_failures):
        raise BaselineError(
            "the baseline has entries in a form that cannot be rewritten; use [[known-failure]] tables"
        )
    return head + "".join(_kept(known_failures, blocks, applied, stream))


@frozen
class _EntryText:
    """An entry as text of the file.

    Attributes:
        lead: the comments right above it, which belong to it and to the following entries without comments.
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
    known_failures: Sequence[KnownFailure],
    blocks: Sequence[_EntryText],
    applied: AppliedBaseline,
    stream: EventStream,
) -> Iterator[str]:
    """Yield the entries that stay. A comment is removed with the last entry that it belongs to."""
    waiting = ""
    for entry, block in zip(known_failures, blocks, strict=True):
        lead = block.lead or waiting
        if entry in applied.stale:
            waiting = "" if block.ends_group else lead
            yield block.tail.lstrip("\r\n")
            continue
        waiting = ""
        yield lead + _fixed(entry, block.entry, applied, stream) + block.tail


def _fixed(entry: KnownFailure, text: str, applied: AppliedBaseline, stream: EventStream) -> str:
    if entry not in applied.changed or entry.prefix:
        return text
    event = next(event for event in stream.cases if event.id == entry.id)
    return _with(_with(text, "kind", event.label), "class", event.cls)


def _with(block: str, name: str, value: str) -> str:
    """Return the entry with one of its lines rewritten; a comment at the end of the line stays."""
    was = re.compile(rf"^{name}\s*=\s*(\"[^\"\n]*\"|'[^'\n]*')", re.MULTILINE)
    return was.sub(lambda _: f"{name} = {_quoted(value)}", block, count=1)
