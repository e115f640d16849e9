"""Baselines as text: one is written from a run, and rewritten without the entries that are out of date."""

import re
from collections.abc import Iterator, Sequence
from datetime import date
from itertools import pairwise, takewhile

from attrs import frozen

from wireproof.runner.baseline import AppliedBaseline, apply
from wireproof.runner.event_files import EventStream
from wireproof.runner.events import CaseEvent, fails_run
from wireproof.runner.known_failures import FIELDS, PATH, BaselineError, KnownFailure, parse_baseline


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
