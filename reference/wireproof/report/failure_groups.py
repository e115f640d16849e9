"""Findings grouped by signature, for all views of the failures of a run."""

import re
import shlex
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Final, TypeAlias

from attrs import frozen

from wireproof.cases.case import ROBUSTNESS, Case
from wireproof.cases.rules import Basis
from wireproof.inspect.hexdump import excerpt_of
from wireproof.judge.differences import MAX_OUTPUT, UNREADABLE, shorten
from wireproof.judge.signature import Signature, without_indices
from wireproof.judge.verdicts import ROWS
from wireproof.run.baselines.baseline import Overlay
from wireproof.run.events import CaseEvent, EventStream, Run, fails_run
from wireproof.wire.text import counted

SEVEREST: Final = (
    frozenset({"crash", "timeout", "resource", "stalled"}),
    frozenset({"adapter-error", "suite-bug"}),
)
"""Verdicts that are shown before all failures, in this order."""

LEVELS: Final = ("must", "should", "may", "info")
"""The levels of failures, the most severe first; security is before them."""

Lookup: TypeAlias = Callable[[CaseEvent], Case | None]
"""Returns the case of an event, by id or by token; None if it is not available."""

BasisLookup: TypeAlias = Callable[[CaseEvent, Case | None], Basis]
"""Returns what the expectation of an event rests on; its case helps where the event has no rules."""


def no_lookup(_: CaseEvent) -> None:
    """Look nothing up, for callers that have only the stream."""


def no_basis(event: CaseEvent, _: Case | None) -> Basis:
    return Basis(event.deciding_rules)


Kind: TypeAlias = tuple[str, str]
"""A kind of failure: the text of its signature; for blocked refusals also their twin, else nothing."""


@frozen
class FailureGroup:
    """Failures with the same signature.

    Attributes:
        first: the one to show: preferably a security case, then a golden one.
        others: the rest, in plan order.
        blocks: refusals that count for nothing until `first` is fixed.
    """

    signature: Signature
    first: CaseEvent
    others: tuple[CaseEvent, ...] = ()
    blocks: int = 0

    @property
    def kind(self) -> Kind:
        return kind_of(self.first, self.signature)


def count_verdicts(stream: EventStream) -> dict[str, int]:
    """Count the cases by verdict, in the order of the verdict table."""
    seen = dict.fromkeys(ROWS, 0)
    for event in stream.cases:
        seen[event.verdict] += 1
    return {name: number for name, number in seen.items() if number}


def sets_exit_code(event: CaseEvent, run: Run) -> bool:
    return ROWS[event.verdict].gate in ("suite", "adapter") or fails_run(event, run)


def failure_groups_of(
    stream: EventStream, overlays: Mapping[str, Overlay] | None = None
) -> tuple[FailureGroup, ...]:
    """Return the failures of a run that no baseline expects, the most severe first.

    Blocked cases are shown once, with the failure of their twin; they are a group of their own only if the
    twin did not fail in this run.
    """
    known = overlays or {}
    loud = [
        event
        for event in stream.cases
        if sets_exit_code(event, stream.run) and known.get(event.id) != "expected"
    ]
    roots = {event.id for event in loud if event.verdict != "blocked"}
    found: dict[Kind, tuple[Signature, list[CaseEvent]]] = {}
    blocks: dict[str, int] = {}
    for event in loud:
        if event.verdict == "blocked" and event.kind in roots:
            blocks[event.kind] = blocks.get(event.kind, 0) + 1
        else:
            signature = event.signature(stream.run.adapter)
            found.setdefault(kind_of(event, signature), (signature, []))[1].append(event)
    groups = []
    for signature, events in found.values():
        first = min(events, key=lambda event: (not event.is_security, "~" in event.id))
        others = tuple(event for event in events if event is not first)
        groups.append(FailureGroup(signature, first, others, sum(blocks.get(one.id, 0) for one in events)))
    return tuple(sorted(groups, key=severity))


def severity(group: FailureGroup) -> tuple[int, int, bool, int]:
    """Return the key that sorts the most severe group first, then the largest.

    Valid data that is refused or read otherwise is before damaged data that is accepted.
    """
    event = group.first
    rank = next((rank for rank, names in enumerate(SEVEREST) if event.verdict in names), len(SEVEREST))
    level = LEVELS.index(event.level) if event.level in LEVELS else len(LEVELS)
    return rank, level - event.is_security * len(LEVELS), event.kind == "wrong-accept", -len(group.others)


def known_security_failures(stream: EventStream, overlays: Mapping[str, Overlay]) -> tuple[CaseEvent, ...]:
    """Return the security failures that a baseline expects; they are shown nevertheless."""
    return tuple(one for one in stream.cases if one.is_security and overlays.get(one.id) == "expected")


def kind_of(event: CaseEvent, signature: Signature) -> Kind:
    return str(signature), event.kind if event.verdict == "blocked" else ""


# --- failure block ---


LINES: Final = 13
"""Lines of a block, its heading included."""

MARGIN: Final = 10
"""Characters before the text of a line."""

_EXACT: Final = frozenset({"bytes", "", "replay", "source"})
"""Rows that must stay as they are: the caret is below its byte; a token or a link must be complete."""


def failure_lines(
    group: FailureGroup,
    run: Run,
    lookup: Lookup,
    twins: Lookup,
    width: int = sys.maxsize,
    basis: BasisLookup = no_basis,
    origin: str = "",
) -> list[str]:
    """Return the lines of a failure: heading, explanation, and the replay command.

    Lines of text are cut at `width`; bytes and commands stay whole. `origin` says why no baseline has it.
    """
    event = group.first
    lines = explanation(event, lookup(event), twins, width, basis, origin)
    more = f"{len(group.others)} more like it: {group.signature}" if group.others else ""
    blocked = f"blocks {counted(group.blocks, 'refusal')}, whose twin it is" if group.blocks else ""
    like = "; ".join(filter(None, (more, blocked)))
    ends = _rows([("like", like), ("replay", replay_command(event, run))], width)
    return [heading(event), *lines, *ends][:LINES]


def explanation(
    event: CaseEvent,
    case: Case | None,
    twins: Lookup,
    width: int = sys.maxsize,
    basis: BasisLookup = no_basis,
    origin: str = "",
) -> list[str]:
    """Return what is to know of a failure: title, rule, source, want and got, and the bytes, marked."""
    rests_on = basis(event, case)
    named = ", ".join(rests_on.rules) + (" (likely)" if rests_on.likely and rests_on.rules else "")
    rule = event.broken or "   ".join(filter(None, (named, case.source.document if case else "")))
    # the text of the verdict, unless `got` has it, and the other fields that differ
    text = "" if event.text.removeprefix("died with ") in event.got else event.text
    also = f"also differ: {', '.join(event.fields[1:])}" if len(event.fields) > 1 else ""
    source = ""  # the link, after the title of the document where the line has room for both
    if place := rests_on.place:
        both = f"{place.title}: {place.url}"
        source = both if MARGIN + len(both) <= width else place.url
    excerpt = []
    if case is not None and (found := excerpt_of(case, event.at, event.path, twins(event))):
        # A name that does not fit beside the caret has a row of its own.
        fits = MARGIN + len(found.caret) <= width
        carets = [found.caret] if fits else found.caret.split("; ", 1)
        excerpt = [("bytes", found.bytes), *(("", text) for text in carets)]
    rows = [
        ("title", event.title),
        ("origin", origin),
        ("rule", rule),
        ("source", source),
        ("want", event.want),
        ("got", event.got),
        ("note", "; ".join(filter(None, (text, also)))),
        *excerpt,
    ]
    return _rows(rows, width)


def _rows(rows: Iterable[tuple[str, str]], width: int) -> list[str]:
    most = max(MARGIN, min(MAX_OUTPUT, width - MARGIN))
    return [f"  {name:<7} {text if name in _EXACT else shorten(text, most)}" for name, text in rows if text]


def heading(event: CaseEvent) -> str:
    """Return verdict, id, kind, cause, level, profile, and the flags that say how much it matters."""
    mark = "".join(f" {flag}" for flag in event.flags if flag in {"security", ROBUSTNESS})
    own = "" if event.verdict == "fail" and event.broken else event.kind
    named = " ".join(filter(None, (own, cause_of(event))))
    kind = f"{named}  " if named else ""
    return f"{event.verdict.upper():<5} {event.id}  {kind}{event.level} {event.profile}{mark}"


def cause_of(event: CaseEvent) -> str:
    """Return why a failure is one, as far as it is known; what follows from it stands below the heading.

    It is the broken rule, the class of what cannot be read, the class of the refusal that is missing or
    wrong, or the first field that differs.
    """
    if event.broken or event.verdict != "fail":
        return event.broken
    # A live server's answer says in this field why a consumer refuses what it delivers.
    if unreadable := re.search(rf'\b{UNREADABLE} = "([a-z-]+)', event.got):
        return f"{UNREADABLE}: {unreadable[1]}"
    return event.cls if event.cls not in ("", "other") else without_indices(event.path)


def replay_command(event: CaseEvent, run: Run) -> str:
    return f"wireproof replay {shlex.quote(event.token or event.id)} {shlex.quote(run.spec)}"
