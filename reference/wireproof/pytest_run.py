"""The run of an adapter behind the items of the pytest plugin: each item is asked when it is due.

One engine asks all items of a process, such as a worker of pytest-xdist. What an item needs of other cases,
which another process may have, is asked again: the case that a rejection waits for, and known failures.
"""

from collections.abc import Collection, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from datetime import UTC, datetime
from functools import cached_property, partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from attrs import define, evolve, field

from wireproof.adapters.contract import Hello
from wireproof.adapters.errors import AdapterError
from wireproof.adapters.registry.registry import resolve
from wireproof.adapters.requests import DerivedSample
from wireproof.cases.case import Case, Level
from wireproof.cases.case_json import FixtureError
from wireproof.cases.fixtures import Suite, load
from wireproof.cases.id_patterns import PatternError, select
from wireproof.cases.made_case import is_large, large_cases
from wireproof.derive.derived import derived_cases
from wireproof.derive.seeded_examples import PropertyError, property_examples
from wireproof.fuzz import property_run
from wireproof.fuzz.property_run import (
    PropertySettings,
    PropertyTarget,
    RedrawCounts,
    property_targets,
)
from wireproof.judge.signature import Signature
from wireproof.judge.verdicts import Verdict
from wireproof.report.failure_groups import FailureGroup, failure_groups_of, failure_lines, sets_exit_code
from wireproof.run.baselines.baseline import (
    NO_BASELINE,
    AppliedBaseline,
    EntryLookup,
    applied_baseline,
    known_origin_text,
)
from wireproof.run.baselines.known_failures import Baseline, BaselineError, KnownFailure, place
from wireproof.run.case_lookup import CaseLookup
from wireproof.run.engine import Engine
from wireproof.run.events import CaseEvent, EventStream, Footer, Run, manifest_fields, run_event
from wireproof.run.run import (
    Retries,
    concerns,
    derived_events,
    fresh_processes,
    golden_events,
    in_turn,
    parents,
)

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
        selected: the selected cases, with the large ones.
        named: the ids, and other patterns, whose large cases run; None runs all of them.
        filters: the patterns of `--codec-run`.
        expected: the file of known failures; an empty one without `--codec-baseline`.
        examples, seed: number of generated examples of each format and op, and their seed.
        chosen: names of the items that pytest runs.
        explained: ids of cases outside of the items whose failure was shown, as the cause of another one.
        judged: the events of each item that was asked: of a golden case with its derived cases, or of
            examples.
        verdicts: on the golden cases that were asked.
        error: why no further item is asked; empty while they are.
    """

    spec: str
    suite: Suite
    selected: tuple[Case, ...]
    named: frozenset[str] | None
    filters: tuple[str, ...]
    families: bool
    level: Level
    expected: Baseline
    examples: int = 0
    seed: int = 0
    chosen: set[str] = field(factory=set)
    explained: set[str] = field(factory=set)
    judged: dict[str, tuple[CaseEvent, ...]] = field(factory=dict)
    verdicts: dict[str, Verdict] = field(factory=dict)
    error: str = ""

    @classmethod
    def of(cls, spec: str, config: "pytest.Config", named: Collection[str] = ()) -> "PytestRun":
        """Return the run that the options of pytest describe; `named` are ids that the user has typed."""
        suite = load()
        patterns: list[str] = config.getoption("--codec-run")
        file: str | None = config.getoption("--codec-baseline")
        expected = Baseline.read(Path(file), suite) if file else Baseline(())
        selected = select(suite, patterns) if patterns else suite.cases
        large = None if config.getoption("--codec-large") else frozenset({*patterns, *named})
        families: Any = config.getoption("--codec-families")
        examples, seed = config.getoption("codec_property"), config.getoption("codec_seed")
        level: Level = config.getoption("--codec-level")
        return cls(spec, suite, selected, large, tuple(patterns), families, level, expected, examples, seed)

    @property
    def known_failures(self) -> tuple[KnownFailure, ...]:
        return self.expected.entries

    @property
    def hello(self) -> Hello:
        """Return the hello of the adapter: its name, version and claims."""
        return self.engine.hello

    @cached_property
    def cases(self) -> tuple[Case, ...]:
        """Return the golden cases for the adapter, by its claims, each after its twin."""
        left_out = {case.id for case in self.left_out}
        cases = [case for case in self._claimed if case.id not in left_out]
        places: dict[str, float] = {case.id: number for number, case in enumerate(cases)}
        for case in cases:
            if case.twin in places:
                places[case.twin] = min(places[case.twin], places[case.id] - 0.5)
        return tuple(sorted(cases, key=lambda case: places[case.id]))

    @cached_property
    def _claimed(self) -> list[Case]:
        return [case for case in self.selected if concerns(self.hello, case)]

    @cached_property
    def left_out(self) -> tuple[Case, ...]:
        return () if self.named is None else large_cases(self._claimed, self.named)

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

    @cached_property
    def engine(self) -> Engine:
        """Return the engine of this process; the first access starts the adapter."""
        return Engine(self.spec, seed=self.seed).__enter__()

    def end(self) -> None:
        """End the adapter; raises `AdapterError` if it answered after its last answer."""
        self.__dict__.pop("_retries", None)
        engine: Engine | None = self.__dict__.pop("engine", None)
        if engine is not None:
            engine.close()

    @cached_property
    def head(self) -> Run:
        """Return the manifest of the run of the items that are left after pytest's own options."""
        cases = tuple(case for case in self.cases if case.id in self.chosen)
        deselected = () if len(cases) == len(self.cases) else tuple(sorted(self.chosen))
        return run_event(
            self.hello, spec=self.spec, fixtures=self.suite.hash_of(cases), seed=self.seed, level=self.level,
            filters=(*self.filters, *deselected), **manifest_fields(),
        )  # fmt: skip

    @cached_property
    def _retries(self) -> AbstractContextManager[Retries | None]:
        """Return what asks unexpected failures again; a live server never is."""
        if resolve(self.spec).cleanup:
            return nullcontext()
        today = datetime.now(tz=UTC).date()
        has_baseline = bool(self.known_failures)
        starts = fresh_processes(len(self.chosen), has_baseline=has_baseline)
        return Retries(
            self.engine, partial(Engine, self.spec, seed=self.seed), self.level,
            lambda event: self._entries.expects(event, today), starts,
        )  # fmt: skip

    def events(self, name: str) -> tuple[CaseEvent, ...]:
        """Return the events of an item, which is asked if it was not; none if the adapter has an error."""
        if name not in self.judged and not self.error:
            try:
                ask = self._examples if name in self.targets else self._golden
                self.judged[name] = tuple(ask(name))
            except AdapterError as error:
                self.error = f"{self.spec}: {error}"
        return self.judged.get(name, ())

    def _golden(self, name: str) -> Iterator[CaseEvent]:
        case = self.suite.by_id[name]
        twin = case.twin or ""
        found = {twin: self.verdicts[twin]} if twin in self.verdicts else {}
        with self._retries as retries:
            yield from in_turn(golden_events(self.engine, self.suite.by_id, (case,), found, retries=retries))
            self.verdicts.update(found)
            if self.families and name in self.chosen and not is_large(case):
                families = ((parent, derived_cases(parent)) for parent in parents((case,), found))
                yield from in_turn(
                    derived_events(self.engine, families, found, DerivedSample(), retries=retries)
                )

    def _examples(self, name: str) -> Iterator[CaseEvent]:
        """Ask generated examples, in an order that does not depend on the items before."""
        held = tuple(entry for entry in self.known_failures if entry.of_examples)
        ask = PropertySettings(self.examples, self.seed, known=self.known, held=held)
        self.engine.begin(name)
        return property_run.target_events(self.engine, self.targets[name], ask, RedrawCounts(), self.level)

    @cached_property
    def known(self) -> frozenset[Signature]:
        """Return the signatures of the known failures, whose cases are asked first; examples avoid them."""
        fixtures = {entry.fixture for entry in self.known_failures}
        stream = self._stream(case.id for case in self.cases if case.id in fixtures)
        return property_run.known_signatures(
            self.hello, stream, self.known_failures, datetime.now(tz=UTC).date()
        )

    def _stream(self, names: Iterable[str]) -> EventStream:
        """Return the events of some items, which are asked if they were not."""
        events = tuple(chain.from_iterable(map(self.events, names)))
        complete = not any(event.verdict == "not-run" for event in events)
        return EventStream(self.head, events, Footer({}, complete=complete))

    @cached_property
    def _entries(self) -> EntryLookup:
        return EntryLookup(self.known_failures)

    @cached_property
    def _known_items(self) -> frozenset[str]:
        return frozenset(entry.fixture for entry in self.known_failures)

    def _applied(self, name: str) -> AppliedBaseline:
        """Return the effect of the baseline on an item; most have neither an entry nor a failure."""
        if name not in self._known_items and not any(map(self._fails, self.events(name))):
            return NO_BASELINE
        return applied_baseline(self._stream([name]), self.expected, self.suite)

    def failure(self, name: str) -> str:
        """Return why an item fails; empty if it does not.

        A case fails it that would fail `check` and that the baseline does not expect, and so does an entry
        of the baseline whose cases pass.
        """
        if name in self._baseline_items:  # the entries that are about several items, if all of these run
            broad = tuple(entry for entry in self.known_failures if entry.broad and not entry.of_examples)
            names = (case.id for case in self.cases if any(entry.selects(case.id) for entry in broad))
            if self.head.filters:
                return self.error
            all_items = applied_baseline(
                self._stream(names), evolve(self.expected, entries=broad), self.suite
            )
            return "\n".join(self._stale(all_items.stale)) or self.error
        events, applied = self.events(name), self._applied(name)
        if not events:
            return self.error
        overlays = applied.overlays
        failing = [event for event in events if self._fails(event) and overlays.get(event.id) != "expected"]
        stale = self._stale(entry for entry in applied.stale if entry.fixture == name)
        notes: dict[str, None] = {}  # why an entry about a failing case does not hold
        for event in failing:
            entry, overlay = self._entries.entry_of(event), overlays.get(event.id)
            if entry is not None and overlay:
                said = f"{place(self.expected.file, entry)}: {entry.id}"
                kind = f"{entry.kind} {entry.cls}".rstrip()
                notes[
                    f"{said}: expired on {entry.expires.isoformat()}, {entry.who}"
                    if overlay == "expired"
                    else f"{said}: fails in another way than its entry says, {kind}; {self._mend('rewrites')}"
                ] = None
        parts = ["\n".join(notes), *self._blocks(failing, applied), "\n".join(stale)]
        return "\n\n".join(filter(None, parts))

    def known_failure(self, name: str) -> tuple[str, str]:
        """Return why an item is expected to fail, as its baseline says, and how it fails; empty if not."""
        if name in self._baseline_items:
            return "", ""
        applied = self._applied(name)
        failing = [
            event
            for event in self.events(name)
            if self._fails(event) and applied.overlays.get(event.id) == "expected"
        ]
        entries = dict.fromkeys(filter(None, map(self._entries.entry_of, failing)))
        reasons = [f"{place(self.expected.file, entry)}: {entry.reason} ({entry.who})" for entry in entries]
        return "; ".join(reasons), "\n\n".join(self._blocks(failing, applied))

    def unsupported(self, name: str) -> str:
        """Return the reason why no case of an item was run; empty if one was."""
        if name in self._baseline_items:
            return ""
        events = self.events(name)
        if not events:
            return "no generated example fits the claims and avoids the known failures"
        return events[0].text if all(event.verdict == "unsupported" for event in events) else ""

    def _fails(self, event: CaseEvent) -> bool:
        return event.verdict == "not-run" or sets_exit_code(event, self.head)

    def _stale(self, entries: Iterable[KnownFailure]) -> list[str]:
        """Return a line for each entry whose cases pass, as pytest says it of a strict xfail."""
        return [
            f"[XPASS(strict)] {place(self.expected.file, entry)}: {entry.id}: passes, although its entry "
            f"says {entry.kind}; {self._mend('removes')}"
            for entry in entries
        ]

    def _mend(self, what: str) -> str:
        return f"`wireproof baseline fix {self.expected.file} RUN` {what} it, with a RUN of `check --out`"

    @cached_property
    def _lookups(self) -> CaseLookup:
        return CaseLookup(self.suite)

    def _blocks(self, failing: Collection[CaseEvent], applied: AppliedBaseline) -> Iterator[str]:
        """Yield the text of each kind of failure, as in the terminal output of `check`, its cause first."""
        for twin in dict.fromkeys(event.kind for event in failing if event.verdict == "blocked"):
            said = f"blocked by {twin}, which it does not accept either"
            if twin in self.chosen:
                why = self.known_failure(twin)[0] if twin in self._known_items else ""
                yield f"{said}: {why or 'see the item of that case'}"
                continue
            yield f"{said}; that case is outside of the selection"
            if twin in self.suite.by_id and twin not in self.explained:
                self.explained.add(twin)
                for event in self.events(twin):
                    yield self._block(FailureGroup(event.signature(self.head.adapter), event))
        groups = failure_groups_of(EventStream(self.head, tuple(failing)))
        if failing and not groups:  # cases that were not run
            first, *others = failing
            groups = (FailureGroup(first.signature(self.head.adapter), first, tuple(others)),)
        yield from (self._block(group, applied) for group in groups)

    def _block(self, group: FailureGroup, applied: AppliedBaseline = NO_BASELINE) -> str:
        lookups, run = self._lookups, self.head
        origin = known_origin_text(applied, group.first, run)
        lines = failure_lines(group, run, lookups.case, lookups.twin, basis=lookups.basis, origin=origin)
        return "\n".join(lines)
