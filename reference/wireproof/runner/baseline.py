"""The effect of a baseline on a run: which failures are known, and which entries are out of date.

`known_failures` has the entries and their file, `baseline_writing` writes and rewrites it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from typing import Final, Literal

from attrs import frozen

from wireproof.cases.case import PROPERTY
from wireproof.formats import FORMATS
from wireproof.runner.event_files import EventStream
from wireproof.runner.events import EXAMPLE_OPS, CaseEvent
from wireproof.runner.known_failures import KnownFailure
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


def apply(stream: EventStream, known_failures: Sequence[KnownFailure], today: date) -> AppliedBaseline:
    """Apply the known failures to a run. In a filtered run an entry whose case was left out is not stale."""
    overlays: dict[str, Overlay] = {}
    found: dict[KnownFailure, dict[str, list[CaseEvent]]] = {
        entry: {"as": [], "other": [], "not": []} for entry in known_failures
    }
    single = {entry.id: entry for entry in known_failures if not entry.prefix and not entry.broad}
    families = sorted(
        (entry for entry in known_failures if entry.prefix or entry.broad),
        key=lambda entry: entry.broad,
    )
    for event in stream.cases:
        entry = single.get(event.id) or next((entry for entry in families if entry.covers(event)), None)
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
    """Return whether a run can prove an entry stale: for families only if all of them ran.

    That no example fails proves nothing, because another seed draws others.
    """
    if entry.of_examples:
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
