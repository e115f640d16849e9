"""One failure in at most 12 lines of plain text."""

import shlex
import sys
from typing import Final

from wireproof.cases.case import ROBUSTNESS, Case
from wireproof.cases.sources import Citation
from wireproof.report.failure_groups import FailureGroup, Lookup, SourceLookup, no_lookup
from wireproof.report.hexdump import excerpt_of
from wireproof.runner.events import CaseEvent, Run
from wireproof.runner.summaries import MAX_OUTPUT, shorten

LINES: Final = 12
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
    source: SourceLookup = no_lookup,
) -> list[str]:
    """Return the lines of a failure: title, rule, source, want and got, bytes, and the replay command.

    Lines of text are cut at `width`; bytes and commands stay whole.
    """
    event = group.first
    case = lookup(event)
    rows = [
        ("title", event.title),
        ("rule", _rule(event, case)),
        ("source", _source(source(event), width)),
        ("want", event.want),
        ("got", event.got),
        ("note", _note(event)),
        *_bytes(event, case, twins, width),
        ("like", _like(group)),
        ("replay", replay_command(event, run)),
    ]
    most = max(MARGIN, min(MAX_OUTPUT, width - MARGIN))
    body = [f"  {name:<7} {text if name in _EXACT else shorten(text, most)}" for name, text in rows if text]
    return [heading(event), *body][:LINES]


def heading(event: CaseEvent) -> str:
    """Return verdict, id, kind or broken rule, level, profile, and the flags that say how much it matters."""
    mark = "".join(f" {flag}" for flag in event.flags if flag in {"security", ROBUSTNESS})
    named = event.broken if event.verdict == "fail" and event.broken else event.kind
    kind = f"{named}  " if named else ""
    return f"{event.verdict.upper():<5} {event.id}  {kind}{event.level} {event.profile}{mark}"


def replay_command(event: CaseEvent, run: Run) -> str:
    """Return the command that judges the case again."""
    return f"wireproof replay {shlex.quote(event.token or event.id)} {shlex.quote(run.spec)}"


def _note(event: CaseEvent) -> str:
    """Return the text of the verdict, unless `got` has it, and the other fields that differ."""
    text = "" if event.text.removeprefix("died with ") in event.got else event.text
    also = f"also differ: {', '.join(event.fields[1:])}" if len(event.fields) > 1 else ""
    return "; ".join(filter(None, (text, also)))


def _rule(event: CaseEvent, case: Case | None) -> str:
    """Return the rule and its source."""
    source = case.source.document if case is not None else ""
    return event.broken or "   ".join(part for part in (", ".join(event.rules), source) if part)


def _source(place: Citation | None, width: int) -> str:
    """Return the link of a citation, after the title of the document where the line has room for both."""
    if place is None:
        return ""
    both = f"{place.title}: {place.url}"
    return both if MARGIN + len(both) <= width else place.url


def _like(group: FailureGroup) -> str:
    """Return the number of similar failures and the number of cases that this one blocks."""
    more = f"{len(group.others)} more like it: {group.signature}" if group.others else ""
    blocked = f"blocks {group.blocks} refusals, whose twin it is" if group.blocks else ""
    return "; ".join(part for part in (more, blocked) if part)


def _bytes(event: CaseEvent, case: Case | None, twins: Lookup, width: int) -> list[tuple[str, str]]:
    """Return two rows, the bytes and the caret; a name that does not fit beside the caret has a third row."""
    found = excerpt_of(case, event.at, event.path, twins(event)) if case is not None else None
    if found is None:
        return []
    if MARGIN + len(found.caret) <= width or "; " not in found.caret:
        return [("bytes", found.bytes), ("", found.caret)]
    caret, _, note = found.caret.partition("; ")
    return [("bytes", found.bytes), ("", caret), ("", note)]
