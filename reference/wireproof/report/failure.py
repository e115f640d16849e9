"""One failure, whole, in at most 12 lines of plain text. Design, section 5."""

import shlex
from typing import Final

from wireproof.cases.case import Case
from wireproof.report.excerpt import excerpt
from wireproof.report.groups import Group, Lookup
from wireproof.trial.events import CaseEvent, Run
from wireproof.trial.show import LINE, cut

LINES: Final = 12
"""Lines of a block, its heading included."""

WIDTH: Final = 100

_EXACT: Final = frozenset({"bytes", "", "replay"})
"""Rows that must stay as they are: the caret stands below its byte, and a token is used whole."""


def block(group: Group, run: Run, lookup: Lookup, twins: Lookup) -> list[str]:
    """The lines of a failure: what, by which rule, want and got, the bytes, how often, how to replay it."""
    event = group.first
    case = lookup(event)
    rows = [
        ("title", event.title),
        ("rule", _rule(event, case)),
        ("want", event.want),
        ("got", event.got),
        ("note", "" if event.text in event.got else event.text),
        *_bytes(event, case, twins),
        ("like", _like(group)),
        ("replay", replay(event, run)),
    ]
    body = [f"  {name:<7} {text if name in _EXACT else cut(text, LINE)}" for name, text in rows if text]
    return [heading(event), *body][:LINES]


def heading(event: CaseEvent) -> str:
    """Return verdict, id, kind, level and profile, and whether security is at stake."""
    mark = "  security" if event.secures else ""
    kind = event.kind or event.verdict
    return (
        f"{event.verdict.upper():<5} {event.id:<{WIDTH - 40}} {kind:<15} {event.level} {event.profile}{mark}"
    )


def replay(event: CaseEvent, run: Run) -> str:
    """The command that judges the case again."""
    return f"wireproof replay {shlex.quote(event.token or event.id)} {shlex.quote(run.spec)}"


def _rule(event: CaseEvent, case: Case | None) -> str:
    """The rule and its source."""
    source = case.source.document if case is not None else ""
    return "   ".join(part for part in (", ".join(event.rules), source) if part)


def _like(group: Group) -> str:
    """How many more there are, and what hangs on this one."""
    more = f"{len(group.others)} more like it: {group.signature}" if group.others else ""
    blocked = f"{group.blocks} refusals stand blocked behind it" if group.blocks else ""
    return "; ".join(part for part in (more, blocked) if part)


def _bytes(event: CaseEvent, case: Case | None, twins: Lookup) -> list[tuple[str, str]]:
    """Two rows: the bytes, and the caret below them."""
    found = excerpt(case, event.at, event.path, twins(event)) if case is not None else None
    return [] if found is None else [("bytes", found.bytes), ("", found.caret)]
