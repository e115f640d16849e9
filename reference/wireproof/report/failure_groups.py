"""Findings grouped by signature, for all views of the failures of a run."""

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from attrs import frozen

from wireproof.cases.case import Case
from wireproof.cases.sources import Citation
from wireproof.runner.baseline import Overlay
from wireproof.runner.event_files import EventStream
from wireproof.runner.events import CaseEvent, fails_run
from wireproof.runner.signature import Signature
from wireproof.runner.verdicts import ROWS

SEVEREST: Final = (
    frozenset({"crash", "timeout", "resource", "stalled"}),
    frozenset({"adapter-error", "suite-bug"}),
)
"""Verdicts that are shown before all failures, in this order."""

LEVELS: Final = ("must", "should", "may", "info")
"""The levels of failures, the most severe first; security is before them."""

Lookup: TypeAlias = Callable[[CaseEvent], Case | None]
"""Returns the case of an event, by id or by token; None if it is not available."""

SourceLookup: TypeAlias = Callable[[CaseEvent], Citation | None]
"""Returns the place that the rules of an event cite; None if they cite none."""


def no_lookup(_: CaseEvent) -> None:
    """Return None: the lookup for callers that have only the stream."""
    return


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


def count_verdicts(stream: EventStream) -> dict[str, int]:
    """Count the cases by verdict, in the order of the verdict table."""
    seen = dict.fromkeys(ROWS, 0)
    for event in stream.cases:
        seen[event.verdict] += 1
    return {name: number for name, number in seen.items() if number}


def sets_exit_code(event: CaseEvent, stream: EventStream) -> bool:
    """Return whether a verdict ends the run with an exit code other than 0."""
    return ROWS[event.verdict].gate in ("suite", "adapter") or fails_run(event, stream.run)


def failure_groups_of(
    stream: EventStream, overlays: Mapping[str, Overlay] | None = None
) -> tuple[FailureGroup, ...]:
    """Return the failures of a run that no baseline expects, the most severe first.

    Blocked cases are shown once, with the failure of their twin; they are a group of their own only if the
    twin did not fail in this run.
    """
    known = overlays or {}
    loud = [
        event for event in stream.cases if sets_exit_code(event, stream) and known.get(event.id) != "expected"
    ]
    roots = {event.id for event in loud if event.verdict != "blocked"}
    found: dict[tuple[Signature, str], list[CaseEvent]] = {}
    blocks: dict[str, int] = {}
    for event in loud:
        if event.verdict == "blocked" and event.kind in roots:
            blocks[event.kind] = blocks.get(event.kind, 0) + 1
        else:
            found.setdefault((event.signature(stream.run.adapter), _root(event)), []).append(event)
    made = (_group(key[0], events, blocks) for key, events in found.items())
    return tuple(sorted(made, key=_severity))


def _severity(group: FailureGroup) -> tuple[int, int, int]:
    """Return the key that sorts the most severe group first, then the largest."""
    event = group.first
    rank = next((rank for rank, names in enumerate(SEVEREST) if event.verdict in names), len(SEVEREST))
    level = LEVELS.index(event.level) if event.level in LEVELS else len(LEVELS)
    return rank, level - event.is_security * len(LEVELS), -len(group.others)


def known_security_failures(stream: EventStream, overlays: Mapping[str, Overlay]) -> tuple[CaseEvent, ...]:
    """Return the security failures that a baseline expects; they are shown nevertheless."""
    return tuple(one for one in stream.cases if one.is_security and overlays.get(one.id) == "expected")


def _root(event: CaseEvent) -> str:
    return event.kind if event.verdict == "blocked" else ""


def _group(signature: Signature, events: list[CaseEvent], blocks: Mapping[str, int]) -> FailureGroup:
    first = min(events, key=lambda event: (not event.is_security, "~" in event.id))
    others = tuple(event for event in events if event is not first)
    return FailureGroup(signature, first, others, sum(blocks.get(event.id, 0) for event in events))
