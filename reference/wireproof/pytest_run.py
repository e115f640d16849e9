"""The run of an adapter behind the items of the pytest plugin. It starts when the first item runs.

It is a run of `check` over the cases of the items that are left after pytest's own options such as `-k`.
"""

from collections.abc import Collection, Iterable, Iterator
from contextlib import closing, suppress
from datetime import UTC, datetime
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from attrs import define, field

from wireproof.adapters.contract import Hello
from wireproof.adapters.errors import AdapterError
from wireproof.cases.case import Case, Level
from wireproof.cases.case_json import FixtureError
from wireproof.cases.fixtures import Suite, load
from wireproof.cases.id_patterns import PatternError, select
from wireproof.cases.made_case import large_cases
from wireproof.cases.seeded_examples import PropertyError, property_examples
from wireproof.cli.check_plan import FAMILIES, GOLDEN, CheckPlan
from wireproof.cli.check_worker import CheckOptions, CheckWork
from wireproof.fuzz import property_run
from wireproof.report.failure_groups import FailureGroup, failure_groups_of, failure_lines, sets_exit_code
from wireproof.runner.baseline import AppliedBaseline, EntryLookup, Overlay
from wireproof.runner.case_lookup import CaseLookup
from wireproof.runner.conclusion import why_nothing_judged
from wireproof.runner.engine import Engine
from wireproof.runner.events import CaseEvent, EventStream
from wireproof.runner.known_failures import Baseline, BaselineError, KnownFailure, place
from wireproof.runner.origins import applied_baseline, known_origin_text
from wireproof.runner.property_suite import (
    PropertySettings,
    PropertyTarget,
    RedrawCounts,
    property_targets,
)
from wireproof.runner.run import Selection, concerns, golden_events
from wireproof.runner.signature import Signature
from wireproof.runner.workers import WorkerDiedError, core_count, run_parallel, run_serial

if TYPE_CHECKING:
    import pytest

USAGE_ERRORS: Final = (
    AdapterError,
    FixtureError,
    PatternError,
    BaselineError,
    PropertyError,
    OSError,
)
"""Errors that a user can cause before the first case runs; each message is one line."""


@define(slots=False)
class PytestRun:
    """The run of one adapter over the selected cases.

    Attributes:
        spec: the adapter, as given by `--codec`.
        suite: all cases.
        selected: the selected cases.
        left_out: large cases that the selection has too.
        filters: the patterns of `--codec-run`.
        families: True to run the derived families too.
        level: lowest level whose failures fail an item.
        expected: the file of known failures; an empty one without `--codec-baseline`.
        examples: number of generated examples of each format and operation.
        seed: random seed of the examples.
        chosen: names of the items that pytest runs.
        explained: ids of cases outside of the items whose failure was shown, as the cause of another one.
    """

    spec: str
    suite: Suite
    selected: tuple[Case, ...]
    left_out: tuple[Case, ...]
    filters: tuple[str, ...]
    families: bool
    level: Level
    expected: Baseline
    examples: int = 0
    seed: int = 0
    chosen: set[str] = field(factory=set)
    explained: set[str] = field(factory=set)

    @classmethod
    def of(cls, spec: str, config: "pytest.Config") -> "PytestRun":
        """Return the run that the options of pytest describe."""
        suite = load()
        patterns: list[str] = config.getoption("--codec-run")
        file: str | None = config.getoption("--codec-baseline")
        expected = Baseline.read(Path(file), suite) if file else Baseline(())
        selected = select(suite, patterns) if patterns else suite.cases
        left_out = () if config.getoption("--codec-large") else large_cases(selected, patterns)
        if left_out:
            ids = {case.id for case in left_out}
            selected = tuple(case for case in selected if case.id not in ids)
        families: Any = config.getoption("--codec-families")
        examples, seed = config.getoption("codec_property"), config.getoption("codec_seed")
        level: Level = config.getoption("--codec-level")
        return cls(
            spec, suite, selected, left_out, tuple(patterns), families, level, expected, examples, seed
        )

    @property
    def known_failures(self) -> tuple[KnownFailure, ...]:
        """Return the failures that are expected."""
        return self.expected.entries

    # --- items ---

    @cached_property
    def hello(self) -> Hello:
        """Return the hello of the adapter: its name, version and claims."""
        with Engine(self.spec) as engine:
            return engine.hello

    @cached_property
    def cases(self) -> tuple[Case, ...]:
        """Return the golden cases for the adapter, by its claims, each after its twin."""
        cases = Selection.of(self.hello, self.selected, self.suite).golden
        places: dict[str, float] = {case.id: number for number, case in enumerate(cases)}
        for case in cases:
            if case.twin in places:
                places[case.twin] = min(places[case.twin], places[case.id] - 0.5)
        return tuple(sorted(cases, key=lambda case: places[case.id]))

    @property
    def large(self) -> int:
        """Return the number of large cases for the adapter that are left out."""
        return sum(concerns(self.hello, case) for case in self.left_out)

    def names(self) -> list[str]:
        """Return the names of the items: the golden cases, the targets of examples, and the baseline."""
        return [*(case.id for case in self.cases), *self.targets, *self._baseline_items]

    @cached_property
    def targets(self) -> dict[str, PropertyTarget]:
        """Return the targets of generated examples, by the name of their item.

        Raises:
            PropertyError: examples cannot be generated.
        """
        if not self.examples:
            return {}
        formats = {case.format_id for case in self.selected}
        by_name = {
            f"{one.row.format_id}/property/{one.op}": one for one in property_targets(self.hello, formats)
        }
        for target in by_name.values():
            property_examples(target.row.format_id, self.seed)
        return by_name

    @cached_property
    def _baseline_items(self) -> list[str]:
        """Return the name of the item for the entries that are about the derived cases of several items."""
        broad = any(entry.broad and not entry.of_examples for entry in self.known_failures)
        return [f"baseline:{self.expected.file}"] if broad and self.families and self.cases else []

    # --- run ---

    def _options(self) -> CheckOptions:
        """Return the options of the run; for examples with the golden cases of all known failures."""
        wanted = set(self.chosen)
        if wanted & self.targets.keys():
            wanted.update(entry.fixture for entry in self.known_failures)
        cases = tuple(case for case in self.cases if case.id in wanted)
        deselected = () if len(cases) == len(self.cases) else tuple(sorted(wanted))
        return CheckOptions(
            suite=self.suite, fixtures=self.suite.hash_of(cases), cases=cases, left_out=self.left_out,
            families=self.families, examples=None, golden=True, in_process=False, seed=self.seed, scale=1.0,
            level=self.level, filters=(*self.filters, *deselected),
            baseline=self.expected if self.known_failures else None,
        )  # fmt: skip

    @cached_property
    def _judged(self) -> tuple[EventStream | None, str]:
        """Return the events of all cases, and why there are not more of them; the first access runs them."""
        options, specs = self._options(), (self.spec,)
        plan, work = CheckPlan(options, specs), CheckWork(options, specs)
        one_part = len(options.cases) <= (FAMILIES if self.families else GOLDEN)
        run_tasks = run_serial if one_part else partial(run_parallel, workers=core_count())
        with closing(run_tasks(plan.next_task, work)) as messages:
            for message in messages:
                plan.receive(*message)
        plan.end()
        (run,) = plan.runs
        if isinstance(run.error, AdapterError | WorkerDiedError):
            return run.stream, f"{self.spec}: {run.error}"
        if run.error is not None:
            raise run.error
        return run.stream, ""

    @property
    def stream(self) -> EventStream:
        """Return the events of all cases."""
        stream, error = self._judged
        assert stream is not None, error or "an adapter that was judged has a stream"
        return stream

    @cached_property
    def nothing_judged(self) -> str:
        """Return the reason why the run judged no case at all; empty if it judged any."""
        stream, error = self._judged
        if stream is None:
            return error
        if self.chosen & self.targets.keys():
            return ""
        why = why_nothing_judged(stream)
        return f"{self.spec}: {why}" if why else ""

    @cached_property
    def known(self) -> frozenset[Signature]:
        """Return the signatures of the known failures, from the cases of this run; examples avoid them."""
        if not self.known_failures:
            return frozenset()
        return property_run.known_signatures(
            self.hello, self.stream, self.known_failures, datetime.now(tz=UTC).date()
        )

    def _run_examples(self, name: str) -> list[CaseEvent]:
        """Run one item of generated examples and return its events."""
        held = tuple(entry for entry in self.known_failures if entry.of_examples)
        ask = PropertySettings(self.examples, self.seed, known=self.known, held=held)
        with Engine(self.spec, seed=self.seed) as engine:
            return list(
                property_run.target_events(engine, self.targets[name], ask, RedrawCounts(), self.level)
            )

    @cached_property
    def by_item(self) -> dict[str, list[CaseEvent]]:
        """Return the events of each item: of a golden case with its derived cases, or of examples."""
        events: dict[str, list[CaseEvent]] = {}
        for event in self.stream.cases:
            events.setdefault(event.id.partition("~")[0], []).append(event)
        return events

    def events(self, name: str) -> list[CaseEvent]:
        """Return the events of an item; generated examples run when their item does."""
        if name not in self.by_item and name in self.targets:
            self.by_item[name] = self._run_examples(name)
        return self.by_item.get(name, [])

    # --- results of items ---

    @cached_property
    def _applied(self) -> AppliedBaseline:
        return applied_baseline(self.stream, self.expected, self.suite)

    @cached_property
    def _entries(self) -> EntryLookup:
        return EntryLookup(self.known_failures)

    def _overlays(self, name: str) -> AppliedBaseline:
        """Return the effect of the baseline on an item."""
        if name not in self.targets:
            return self._applied
        return applied_baseline(
            EventStream(self.stream.run, tuple(self.events(name))), self.expected, self.suite
        )

    def failure(self, name: str) -> str:
        """Return why an item fails; empty if it does not.

        A case fails it that would fail `check` and that the baseline does not expect, and so does an entry
        of the baseline whose cases pass.
        """
        if why := self.nothing_judged:
            return why
        if name in self._baseline_items:
            return "\n".join(self._stale(entry for entry in self._applied.stale if entry.broad))
        events, overlays = self.events(name), self._overlays(name).overlays
        if not events and name not in self.targets:
            return self._judged[1]
        failing = [event for event in events if self._fails(event) and overlays.get(event.id) != "expected"]
        stale = self._stale(entry for entry in self._applied.stale if entry.fixture == name)
        notes = dict.fromkeys(filter(None, (self._note(event, overlays) for event in failing)))
        parts = ["\n".join(notes), *self._blocks(failing), "\n".join(stale)]
        return "\n\n".join(filter(None, parts))

    def known_failure(self, name: str) -> tuple[str, str]:
        """Return why an item is expected to fail, as its baseline says, and how it fails; empty if not."""
        overlays = self._overlays(name).overlays
        failing = [
            event
            for event in self.events(name)
            if self._fails(event) and overlays.get(event.id) == "expected"
        ]
        entries = dict.fromkeys(filter(None, map(self._entries.entry_of, failing)))
        reasons = [f"{place(self.expected.file, entry)}: {entry.reason} ({entry.who})" for entry in entries]
        return "; ".join(reasons), "\n\n".join(self._blocks(failing))

    def unsupported(self, name: str) -> str:
        """Return the reason why no case of an item was run; empty if one was."""
        events = self.events(name)
        if name in self._baseline_items:
            return ""
        if not events:
            return "no generated example fits the claims and avoids the known failures"
        return events[0].text if all(event.verdict == "unsupported" for event in events) else ""

    def _fails(self, event: CaseEvent) -> bool:
        return event.verdict == "not-run" or sets_exit_code(event, self.stream.run)

    def _note(self, event: CaseEvent, overlays: dict[str, Overlay]) -> str:
        """Return why an entry about a failing case does not hold."""
        entry, overlay = self._entries.entry_of(event), overlays.get(event.id)
        if entry is None or not overlay:
            return ""
        said = f"{place(self.expected.file, entry)}: {entry.id}"
        if overlay == "expired":
            return f"{said}: expired on {entry.expires.isoformat()}, {entry.who}"
        kind = f"{entry.kind} {entry.cls}".rstrip()
        return f"{said}: fails in another way than its entry says, {kind}; {self._mend('rewrites')}"

    def _stale(self, entries: Iterable[KnownFailure]) -> list[str]:
        """Return a line for each entry whose cases pass, as pytest says it of a strict xfail."""
        return [
            f"[XPASS(strict)] {place(self.expected.file, entry)}: {entry.id}: passes, although its entry "
            f"says {entry.kind}; {self._mend('removes')}"
            for entry in entries
        ]

    def _mend(self, what: str) -> str:
        return f"`wireproof baseline fix {self.expected.file} RUN` {what} it, with a RUN of `check --out`"

    # --- texts ---

    @cached_property
    def _lookups(self) -> CaseLookup:
        return CaseLookup(self.suite)

    def _blocks(self, failing: Collection[CaseEvent]) -> Iterator[str]:
        """Yield the text of each kind of failure, as in the terminal output of `check`, its cause first."""
        run = self.stream.run
        for twin in dict.fromkeys(event.kind for event in failing if event.verdict == "blocked"):
            yield from self._cause(twin)
        groups = failure_groups_of(EventStream(run, tuple(failing)))
        if failing and not groups:  # cases that were not run
            first, *others = failing
            groups = (FailureGroup(first.signature(run.adapter), first, tuple(others)),)
        yield from map(self._block, groups)

    def _block(self, group: FailureGroup) -> str:
        lookups, run = self._lookups, self.stream.run
        origin = known_origin_text(self._applied, group.first, run)
        lines = failure_lines(group, run, lookups.case, lookups.twin, source=lookups.source, origin=origin)
        return "\n".join(lines)

    def _cause(self, twin: str) -> Iterator[str]:
        """Yield which case blocks another one, and how it fails if no item shows that."""
        said = f"blocked by {twin}, which it does not accept either"
        if twin in self.chosen:
            why, _ = self.known_failure(twin)
            yield f"{said}: {why or 'see the item of that case'}"
            return
        yield f"{said}; that case is outside of the selection"
        if twin in self._causes and twin not in self.explained:
            self.explained.add(twin)
            event = self._causes[twin]
            yield self._block(FailureGroup(event.signature(self.stream.run.adapter), event))

    @cached_property
    def _causes(self) -> dict[str, CaseEvent]:
        """Return the verdicts on the cases outside of the items that block others, asked once more."""
        blocking = {event.kind for event in self.stream.cases if event.verdict == "blocked"} - self.chosen
        twins = [case for case in self.suite.cases if case.id in blocking]
        with suppress(AdapterError), Engine(self.spec, seed=self.seed) as engine:
            return {event.id: event for event in golden_events(engine, self.suite.by_id, twins, {})}
        return {}
