"""The effect of a baseline on a run: which failures are known, and which entries are out of date.

`known_failures` has the entries and their file, `baseline_adding` and `baseline_writing` change it.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Final, Literal, cast

from attrs import evolve, field, frozen

from wireproof.adapters.registry.registered import age
from wireproof.cases.case import Reject
from wireproof.cases.fixture_writer import ADDED, CHANGED, LEVEL, FrozenCase
from wireproof.cases.fixtures import Suite
from wireproof.judge.verdicts import PASSING, ROWS, gates
from wireproof.run.baselines.known_failures import NO_CASE, Baseline, CaseNames, KnownFailure, place
from wireproof.run.events import CaseEvent, EventStream, Run, fails_run, joined
from wireproof.wire.text import counted

Overlay = Literal["", "expected", "changed", "expired"]
"""The effect of the baseline on a case, beside its verdict."""


OriginKind = Literal["new-case", "expectation-changed", "level-changed", "base-passes", "codec"]
"""Why a failure is new; `baseline add` takes these words."""


@frozen
class Origin:
    """Why a baseline does not have a failure.

    Attributes:
        kind: `codec` if the case is the same as before.
        release: in which the case was added or changed.
        base: the case that fails no more, so that this one is judged for the first time; or the golden case
            that gives a derived one its level.
    """

    kind: OriginKind
    release: str = ""
    base: str = ""


@frozen
class AppliedBaseline:
    """The effect of a baseline on a run.

    Attributes:
        overlays: by case id, for each case that the baseline covers.
        stale: entries whose cases were judged, and pass.
        changed: entries whose case fails in another way.
        expired: entries past their date; their cases count as if there were no entry.
        origins: by case id, why a failure that it does not have is new.
        notices: lines about the entries that expire within two weeks.
        file: its name; empty without a baseline.
        suite, cases: the release for which it was complete, and the digest of its cases; or empty.
    """

    overlays: dict[str, Overlay]
    stale: tuple[KnownFailure, ...] = ()
    changed: tuple[KnownFailure, ...] = ()
    expired: tuple[KnownFailure, ...] = ()
    origins: Mapping[str, Origin] = field(factory=dict)
    notices: tuple[str, ...] = ()
    file: str = ""
    suite: str = ""
    cases: str = ""


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
        self._about: dict[tuple[str, str], tuple[KnownFailure, ...]] = {}

    def broad_about(self, name: str) -> tuple[KnownFailure, ...]:
        """Return the patterns that are about a case; all cases of one family of a fixture have the same."""
        parent, _, derived = name.partition("~")
        if not derived:
            return ()
        key = parent, derived.partition(":")[0]
        if key not in self._about:
            self._about[key] = tuple(entry for entry in self._broad if entry.is_about(name))
        return self._about[key]

    def entry_of(self, event: CaseEvent) -> KnownFailure | None:
        parent, derived, rest = event.id.partition("~")
        family = f"{parent}~{rest.partition(':')[0]}:" if derived else ""
        narrow = self._narrow.get(event.id) or self._narrow.get(family)
        broad = (entry for entry in self.broad_about(event.id) if entry.fails_as_recorded(event))
        return narrow or next(broad, None)

    def expects(self, event: CaseEvent, today: date) -> bool:
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
    unseen = {
        entry for entry, seen in found.items() if entry.broad and not entry.of_examples and not seen.same
    }
    for stream in whole if unseen else ():
        for event in stream.cases:
            for entry in lookup.broad_about(event.id):
                if entry in unseen and not is_known_failure(event):
                    found[entry].add(entry, event, stream.run)
    return found


def apply(stream: EventStream, known_failures: Sequence[KnownFailure], today: date) -> AppliedBaseline:
    """Apply the known failures to a run; a requirement set allows no failure at `must`, known or not."""
    found = evidence([stream], known_failures)
    overlays: dict[str, Overlay] = {}
    for entry, seen in found.items():
        for events, overlay in ((seen.same, "expected"), (seen.other, "changed")):
            for event in events:
                if not (stream.run.requirements and event.level == "must"):
                    overlays[event.id] = "expired" if entry.expires < today else cast("Overlay", overlay)
    for event in stream.cases:  # those that were left out because their family died of a known failure
        cause = event.text.removeprefix("same as ")
        if event.label == "not-run:same-as" and overlays.get(cause) == "expected":
            overlays[event.id] = "expected"
    return AppliedBaseline(
        overlays,
        tuple(entry for entry in known_failures if found[entry].is_paid and not entry.flaky),
        tuple(entry for entry in known_failures if found[entry].other),
        tuple(entry for entry in known_failures if entry.expires < today),
    )


def check(
    known_failures: Iterable[KnownFailure], names: CaseNames, today: date, file: str = "baseline"
) -> tuple[list[str], list[str]]:
    """Return the faults of a baseline without a run, one line each: unknown ids, and dates in the past."""
    entries = list(known_failures)
    unknown = [f"{place(file, entry)}: {entry.id}: {NO_CASE}" for entry in entries if not names.has(entry)]
    past = [
        f"{place(file, entry)}: {entry.id}: expired on {entry.expires.isoformat()}, {entry.who}"
        for entry in entries
        if entry.expires < today
    ]
    return unknown, past


WARNING: Final = timedelta(days=14)
"""How long before its last day an entry is named."""


def expiring(known_failures: Iterable[KnownFailure], today: date) -> tuple[KnownFailure, ...]:
    soon = (entry for entry in known_failures if today <= entry.expires <= today + WARNING)
    return tuple(sorted(soon, key=lambda entry: entry.expires))


def expiry_notices(known_failures: Iterable[KnownFailure], today: date, file: str = "baseline") -> list[str]:
    """Return a line for each day and owner of the entries that expire within two weeks."""
    groups: dict[tuple[date, str], list[KnownFailure]] = {}
    for entry in expiring(known_failures, today):
        groups.setdefault((entry.expires, entry.owner), []).append(entry)
    return [
        f"{place(file, first)}: expires after {day.isoformat()}, owner {owner}: {first.id}"
        + (f" and {len(rest):,} more" if rest else "")
        + f"; `wireproof baseline extend {file} --until DATE` sets a later day"
        for (day, owner), (first, *rest) in groups.items()
    ]


# --- origins: why a run fails in cases that its baseline does not have, results.md#after-an-upgrade ---


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
    """Return the effect of a baseline on the day of a run, with the origin of each new failure."""
    try:
        day = datetime.fromisoformat(stream.run.started).date()
    except ValueError:
        day = datetime.now(tz=UTC).date()
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


def origin_lookup(before: str, failed: Collection[str], suite: Suite) -> Callable[[CaseEvent, Run], Origin]:
    """Return the function that says why a failure of a run is new.

    It compares with the release `before`, empty if it is not known, in which the cases `failed`.
    """
    changed = dict(changed_since(before, suite)) if before else {}

    def origin(event: CaseEvent, run: Run) -> Origin:
        golden, derived, _ = event.id.partition("~")
        if before and event.is_property and age(run.suite) > age(before):  # their seed is the release
            return Origin("new-case", run.suite)
        if golden in changed:
            return changed[golden]
        if derived and (model := _model(event, changed, suite)):
            return Origin("level-changed", changed[model].release, model)
        refuses = event.label in REFUSING or event.path.startswith("before")
        bases = (golden if derived else "", event.twin if refuses else "")
        base = next((name for name in bases if name in failed), "")
        return Origin("base-passes", base=base) if base else Origin("codec")

    return origin


def changed_since(before: str, suite: Suite) -> Iterator[tuple[str, Origin]]:
    for name, text in suite.frozen.items():
        if "=" in text:  # few have a release
            releases = FrozenCase.parse(text).releases
            for part, kind in BY_RELEASE:
                if part in releases and age(releases[part]) > age(before):
                    yield name, Origin(kind, releases[part])
                    break


def _model(event: CaseEvent, changed: Iterable[str], suite: Suite) -> str:
    """Return a changed golden case that may give a derived one its level: it is refused as the same class."""
    of_format = (name for name in changed if name.startswith(f"{event.format_id}/"))
    cases = filter(None, map(suite.by_id.get, of_format))
    refused = (case for case in cases if isinstance(case.expect, Reject) and case.expect.cls == event.cls)
    return next((case.id for case in refused), "")


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
            more = counted(len(lines) - MAX_ENTRIES, "more entry", "more entries")
            yield f"baseline: {lines[0].split()[0]:<7}  and {more}"
    yield from applied.notices
    if line := new_failures_line(stream, applied):
        yield line
