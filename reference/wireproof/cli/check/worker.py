"""The worker's side of `check`: the tasks of a run, and the adapters that a worker keeps for them.

A task is a part of a run: the start of an adapter, some golden cases, the families of some golden cases for
every adapter that is ready for them, generated examples, or the end of an adapter. What it finds does not
depend on the worker, nor on the tasks that this one did before: `check.plan` puts the parts together.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from datetime import UTC, datetime
from functools import cached_property, partial
from operator import attrgetter
from typing import Any, Final, Literal, TypeAlias

from attrs import field, fields, frozen

from wireproof.adapters.contract import Hello
from wireproof.adapters.errors import AdapterError
from wireproof.adapters.process.recording import Recorder, Recording
from wireproof.adapters.requests import DerivedSample, FailureBudget
from wireproof.cases.case import Case, Data, Level
from wireproof.cases.fixtures import Suite
from wireproof.cases.outcome import NotRun
from wireproof.derive.derived import derived_cases
from wireproof.fuzz import property_run
from wireproof.fuzz.property_run import PropertySettings
from wireproof.judge.verdicts import Verdict
from wireproof.run.baselines.baseline import EntryLookup
from wireproof.run.baselines.known_failures import Baseline, KnownFailure
from wireproof.run.engine import Engine
from wireproof.run.events import BaselineText, CaseEvent, Examples, Requirements, Shard
from wireproof.run.run import (
    FRESH,
    FRESH_OBJECT,
    Retries,
    Told,
    derived_events,
    golden_events,
    parents,
    undigested,
)

Families: TypeAlias = Iterable[tuple[Case, Iterable[Case]]]
"""Golden cases, each with the cases derived from it."""

Row: TypeAlias = tuple[Any, ...]
"""The fields of a `CaseEvent`."""

_ROW: Final[Callable[[CaseEvent], Row]] = attrgetter(*(a.name for a in fields(CaseEvent)))
"""A `CaseEvent` as a tuple, which costs a fifth of the object when it is sent to another process."""


@frozen
class CheckOptions:
    """The options of one `check`, for all its adapters; `left_out` are cases for `--large` alone."""

    suite: Suite
    fixtures: str
    cases: tuple[Case, ...]
    left_out: tuple[Case, ...]
    families: bool
    examples: Examples | None
    golden: bool
    in_process: bool
    seed: int
    scale: float
    level: Level
    filters: tuple[str, ...]
    baseline: Baseline | None
    recording: Recording = field(factory=Recording)
    requirements: Requirements | None = None
    shard: Shard | None = None

    @property
    def known_failures(self) -> tuple[KnownFailure, ...]:
        return self.baseline.entries if self.baseline else ()

    @property
    def stored_baseline(self) -> BaselineText | None:
        return BaselineText(self.baseline.file, self.baseline.text) if self.baseline else None

    @property
    def golden_cases(self) -> tuple[Case, ...]:
        """Return the fixtures to judge; those of known failures are judged even with `--no-golden`."""
        if self.golden:
            return self.cases
        known = {entry.fixture for entry in self.known_failures}
        return tuple(case for case in self.cases if case.id in known)

    @cached_property
    def expects(self) -> Callable[[CaseEvent], bool]:
        entries, today = EntryLookup(self.known_failures), datetime.now(tz=UTC).date()
        required = self.requirements is not None  # a set allows no failure at `must`
        return lambda event: not (required and event.level == "must") and entries.expects(event, today)

    @property
    def rows(self) -> frozenset[str]:
        return frozenset(case.format_id for case in self.cases)


# --- tasks ---


@frozen
class Start:
    """Start the adapter of a number."""

    number: int


@frozen
class Part:
    """A part of the run of an adapter.

    Attributes:
        place: in the run, which decides the order of the cases.
        hello: what the adapter said at its first start.
        stopped: why no case is run any more; None if they are run.
        starts: how many fresh processes may be started for failures; None: none is asked again.
        verdicts: on the golden cases whose families are judged, by id.
    """

    number: int
    place: int
    hello: Hello
    stopped: NotRun | None = None
    starts: int | None = None
    verdicts: Mapping[str, Verdict] = field(factory=dict)


@frozen
class Ask:
    """Judge golden cases of adapters, families of golden cases that are derived once for all, or examples."""

    kind: Literal["golden", "families", "examples"]
    parts: Mapping[int, Part]
    cases: tuple[str, ...] = ()
    settings: PropertySettings | None = None


@frozen
class End:
    """End the adapter of a number in this worker."""

    number: int


Task: TypeAlias = Start | Ask | End


# --- messages ---


@frozen
class Started:
    """The hello of an adapter, and notes for the user."""

    number: int
    hello: Hello
    notes: tuple[str, ...]


@frozen
class Judged:
    """Rows of `CaseEvent` of a part, in which their places begin at 0; `settled` as of `Told`."""

    number: int
    part: int
    rows: tuple[Row, ...]
    settled: bool = False


@frozen
class PartEnded:
    """The end of a part of a run.

    Attributes:
        verdicts: on the golden cases whose families are to be run, by id.
        undigested: the number of cases of large values that were not asked.
        sample: counts the derived cases of a slow adapter.
        starts: how many of the fresh processes that it was granted are left.
    """

    number: int
    part: int
    notes: tuple[str, ...]
    deaths: FailureBudget
    verdicts: Mapping[str, Verdict] = field(factory=dict)
    undigested: int = 0
    sample: DerivedSample = field(factory=DerivedSample)
    starts: int = 0


@frozen
class Failed:
    """The error of an adapter that could not be judged; `at_start` if it did not start in this worker."""

    number: int
    error: Exception
    at_start: bool


@frozen
class Ended:
    """The adapter of a number has ended in this worker."""

    number: int
    notes: tuple[str, ...]


Message: TypeAlias = Started | Judged | PartEnded | Failed | Ended


# --- worker ---


@frozen
class CheckWork:
    """Opens a worker of `run.workers` for the adapters `specs`, which are closed at its end."""

    options: CheckOptions
    specs: tuple[str, ...]

    @contextmanager
    def __call__(self) -> Iterator[Callable[[Task], Iterator[Message]]]:
        worker = _Worker(self.options, self.specs, {case.id: case for case in self.options.cases})
        try:
            yield worker.messages
        finally:
            for _, stack in worker.kept.values():
                stack.close()


@frozen
class _Worker:
    """A worker with the adapters that it has `kept`, by number, each with what is closed after it."""

    options: CheckOptions
    specs: tuple[str, ...]
    by_id: Mapping[str, Case]
    kept: dict[int, tuple[Engine, ExitStack]] = field(factory=dict)

    def messages(self, task: Task) -> Iterator[Message]:
        """Do a task and yield messages; the error of an adapter is one, and the last of this adapter."""
        if not isinstance(task, Ask):
            do = self._started if isinstance(task, Start) else self._ended
            yield from self._until_error(task.number, do(task.number))
            return
        families = self._families(task) if task.kind == "families" else None
        for number, part in task.parts.items():
            yield from self._until_error(number, self._asked(task, number, part, families))

    def _until_error(self, number: int, messages: Iterator[Message]) -> Iterator[Message]:
        try:
            yield from messages
        except AdapterError as error:
            at_start = number not in self.kept
            if kept := self.kept.pop(number, None):
                kept[1].close()
            yield Failed(number, error, at_start)

    def _engine(self, number: int, first: Hello | None = None) -> Engine:
        """Return the running engine of an adapter; raise `AdapterError`, also if its hello is not `first`."""
        if number in self.kept:
            return self.kept[number][0]
        with ExitStack() as stack:
            recorder = stack.enter_context(self.options.recording.recorder(number, self.specs[number]))
            engine = stack.enter_context(self._new_engine(number, recorder))
            if first is not None:
                engine.check_same(first, engine.hello)
                engine.notes.clear()  # the first start has shown them
            self.kept[number] = engine, stack.pop_all()
        return engine

    def _new_engine(self, number: int, recorder: Recorder | None = None) -> Engine:
        options = self.options
        return Engine(
            self.specs[number], recorder=recorder, in_process=options.in_process, seed=options.seed,
            timeout_scale=options.scale,
        )  # fmt: skip

    def _retries(self, number: int, part: Part, engine: Engine) -> AbstractContextManager[Retries | None]:
        if part.starts is None:
            return nullcontext()
        options, fresh = self.options, partial(self._new_engine, number)
        starts = part.starts if options.recording == Recording() else None  # a record has one conversation
        where = FRESH_OBJECT if options.in_process else FRESH
        return Retries(engine, fresh, options.level, options.expects, starts, where)

    def _started(self, number: int) -> Iterator[Message]:
        engine = self._engine(number)
        yield Started(number, engine.hello, _notes(engine))

    def _ended(self, number: int) -> Iterator[Message]:
        engine, stack = self.kept[number]
        engine.close()
        yield Ended(number, _notes(engine))
        del self.kept[number]
        stack.close()

    def _asked(
        self, task: Ask, number: int, part: Part, families: Callable[[], Families] | None
    ) -> Iterator[Message]:
        engine, sample = self._engine(number, part.hello), DerivedSample()
        engine.begin(str(part.place))
        if part.stopped:
            engine.deaths.stop(part.stopped.text, part.stopped.cause)
        cases = [self.by_id[name] for name in task.cases] if task.kind == "golden" else []
        found: dict[str, Verdict] = {}
        with self._retries(number, part, engine) as retries:
            told: Iterator[Told]
            if families:
                own = ((case, family) for case, family in families() if case.id in part.verdicts)
                told = derived_events(engine, own, dict(part.verdicts), sample, retries=retries)
            elif task.settings:
                events = property_run.run(engine, task.settings, 0, self.options.level)
                told = (Told((event,), settled=True) for event in events)
            else:
                told = golden_events(engine, self.options.suite.by_id, cases, found, retries=retries)
            for some in told:
                rows = tuple(map(_ROW, some.events))
                yield Judged(number, part.number, rows, some.settled)
        verdicts = {case.id: found[case.id] for case in cases}
        accepted = {case.id: verdicts[case.id] for case in parents(cases, verdicts)}
        yield PartEnded(
            number, part.number, _notes(engine), engine.deaths, accepted, undigested(verdicts), sample,
            (retries and retries.starts) or 0,
        )  # fmt: skip

    def _families(self, task: Ask) -> Callable[[], Families]:
        """Return a function that gives the families of a task: derived once if they are small."""
        cases = [self.by_id[name] for name in task.cases]
        size = sum(len(case.input.data) for case in cases if isinstance(case.input, Data))
        if len(task.parts) == 1 or size > 256 << 10:  # families are some hundred times as large
            return lambda: ((case, derived_cases(case)) for case in cases)
        held = [(case, tuple(derived_cases(case))) for case in cases]
        return lambda: held


def _notes(engine: Engine) -> tuple[str, ...]:
    notes = tuple(engine.notes)
    engine.notes.clear()
    return notes
