"""Why a run fails in cases that its baseline does not have: the suite changed, or the codec.

A baseline has the release of the cases that it was complete for, and `frozen.json` the release in which each
case was added or changed last. A derived case is judged only if its base passes, and a refusal only if its
twin does; so the repair of a codec shows failures that were there before.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from datetime import UTC, date, datetime
from typing import Final

from attrs import evolve

from wireproof.adapters.registry_entry import age
from wireproof.cases.case import Reject
from wireproof.cases.fixture_writer import ADDED, CHANGED, LEVEL, FrozenCase
from wireproof.cases.fixtures import Suite
from wireproof.runner.baseline import AppliedBaseline, Origin, OriginKind, apply, expiry_notices
from wireproof.runner.events import CaseEvent, EventStream, Run, fails_run
from wireproof.runner.known_failures import Baseline

BY_RELEASE: Final[tuple[tuple[str, OriginKind], ...]] = (
    (ADDED, "new-case"),
    (CHANGED, "expectation-changed"),
    (LEVEL, "level-changed"),
)
"""What may have happened to a case since a release; the first one that did explains a failure."""

REFUSING: Final = frozenset({"fail:wrong-reason", "fail:prefix-lost", "undocumented"})
"""Failures of a refusal, which is judged only if the twin is accepted; a wrong acceptance always is one."""

COUNTED: Final[Mapping[OriginKind, str]] = {
    "new-case": "in new cases",
    "expectation-changed": "in cases whose expectation changed",
    "level-changed": "in cases whose level changed",
    "base-passes": "in cases that are judged only now, because their base passes",
    "codec": "of the codec",
}
"""What a count of new failures says, by their origin."""


def applied_baseline(stream: EventStream, baseline: Baseline, suite: Suite) -> AppliedBaseline:
    """Return the effect of a baseline on a run on the day of the run, with the origin of each new failure."""
    day = _day(stream)
    applied = apply(stream, baseline.entries, day)
    origin = origin_lookup(baseline.suite, baseline.ids, suite)
    new = (
        event
        for event in stream.cases
        if applied.overlays.get(event.id) != "expected" and fails_run(event, stream.run)
    )
    origins = {event.id: origin(event, stream.run) for event in new}
    notices = tuple(expiry_notices(baseline.entries, day, baseline.file))
    return evolve(
        applied,
        origins=origins,
        notices=notices,
        file=baseline.file,
        suite=baseline.suite,
        cases=baseline.cases,
    )


def stored_baseline(stream: EventStream, suite: Suite) -> Baseline | None:
    """Return the baseline that a run was judged with; None without. Raises `BaselineError`."""
    stored = stream.baseline
    return Baseline.of(stored.text, stored.file, suite) if stored else None


def _day(stream: EventStream) -> date:
    """Return the day on which a run began, so that its report stays what it was."""
    try:
        return datetime.fromisoformat(stream.run.started).date()
    except ValueError:
        return datetime.now(tz=UTC).date()


def origin_lookup(before: str, failed: Collection[str], suite: Suite) -> Callable[[CaseEvent, Run], Origin]:
    """Return the function that says why a failure of a run is new.

    Args:
        before: the release of wireproof that is compared with; empty if it is not known.
        failed: the ids of the cases that failed then.
        suite: the present cases.
    """
    changed = dict(changed_since(before, suite)) if before else {}

    def origin(event: CaseEvent, run: Run) -> Origin:
        golden, derived, _ = event.id.partition("~")
        if before and event.is_property and age(run.suite) > age(before):  # their seed is the release
            return Origin("new-case", run.suite)
        if golden in changed:
            return changed[golden]
        if derived and (model := next(_models(event, changed, suite), "")):
            return Origin("level-changed", changed[model].release, model)
        refuses = event.label in REFUSING or event.path.startswith("before")
        bases = (golden if derived else "", event.twin if refuses else "")
        base = next((name for name in bases if name in failed), "")
        return Origin("base-passes", base=base) if base else Origin("codec")

    return origin


def changed_since(before: str, suite: Suite) -> Iterator[tuple[str, Origin]]:
    """Yield the golden cases that are new or changed since a release."""
    for name, text in suite.frozen.items():
        if "=" in text:  # few have a release
            releases = FrozenCase.parse(text).releases
            for part, kind in BY_RELEASE:
                if part in releases and age(releases[part]) > age(before):
                    yield name, Origin(kind, releases[part])
                    break


def _models(event: CaseEvent, changed: Iterable[str], suite: Suite) -> Iterator[str]:
    """Yield the changed golden cases that may give a derived case its level: refused as the same class."""
    for name in changed:
        case = suite.by_id.get(name) if name.startswith(f"{event.format_id}/") else None
        if case and isinstance(case.expect, Reject) and case.expect.cls == event.cls:
            yield name


def origin_text(origin: Origin | None, before: str, suite: str) -> str:
    """Say why a failure is new; empty if it is the codec's and the cases are the same as `before`."""
    if origin is None:
        return ""
    match origin.kind:
        case "new-case":
            return f"new case: added in {origin.release}, compared with {before}"
        case "expectation-changed" | "level-changed":
            part = origin.kind.removesuffix("-changed")
            if origin.base:
                return f"its {part} is that of {origin.base}, which changed in {origin.release}"
            return f"its {part} changed in {origin.release}, compared with {before}"
        case "base-passes":
            return f"judged only now: {origin.base} failed before, and passes"
    return "" if before in ("", suite) else f"the codec: the case is what it was in {before}"


def known_origin_text(applied: AppliedBaseline, event: CaseEvent, run: Run) -> str:
    """Say why a failure of a whole run is not in its baseline, as `origin_text`."""
    return origin_text(applied.origins.get(event.id), applied.suite, run.suite)


def new_failures_line(stream: EventStream, applied: AppliedBaseline) -> str:
    """Count the failures that a baseline does not have by their origin; empty if all are the codec's."""
    counts = Counter(origin.kind for origin in applied.origins.values())
    upgraded = applied.suite not in ("", stream.run.suite)
    others = not (upgraded or stream.filtered) and applied.cases not in ("", stream.run.fixtures)
    if not counts or not (upgraded or others or counts.keys() - {"codec"}):
        return ""
    parts = ", ".join(f"{counts[kind]:,} {words}" for kind, words in COUNTED.items() if kind in counts)
    releases = f" (baseline of {applied.suite}, cases of {stream.run.suite})" if upgraded else ""
    if others:  # between two releases nothing says what changed
        releases = f"; its cases are others than these, though both are of {stream.run.suite}"
    return f"not in the baseline: {parts}{releases}"


MAX_ENTRIES: Final = 20
"""Entries of each kind that are named; the others are counted."""


def baseline_lines(stream: EventStream, applied: AppliedBaseline) -> Iterator[str]:
    """Yield the entries of a baseline that are out of date, and what is not in it."""
    rows = (
        [f"stale    {entry.id} ({entry.kind}) passes now, {entry.who}" for entry in applied.stale],
        [f"changed  {entry.id} (was {entry.kind}), {entry.who}" for entry in applied.changed],
        [f"expired  {entry.id} on {entry.expires}, {entry.who}" for entry in applied.expired],
    )
    for lines in rows:
        yield from (f"baseline: {line}" for line in lines[:MAX_ENTRIES])
        if len(lines) > MAX_ENTRIES:
            yield f"baseline: {lines[0].split()[0]:<7}  and {len(lines) - MAX_ENTRIES:,} more entries"
    yield from applied.notices
    if line := new_failures_line(stream, applied):
        yield line
