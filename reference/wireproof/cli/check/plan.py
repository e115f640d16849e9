"""The parent's side of `check`: which worker does which part of the runs, and the runs put together in order.

The run of an adapter has parts: its golden cases, `GOLDEN` at a time, the families of `FAMILIES` golden cases
each, the large cases, and generated examples. Workers judge them in any order, the golden ones of all
adapters first. Events are shown when they arrive, and numbered and stored in the order of the parts: so the
streams do not depend on the number of processes.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from itertools import count
from typing import Final

from attrs import define, evolve, field

from wireproof.adapters.contract import Hello
from wireproof.adapters.errors import AdapterError, AdapterStartError
from wireproof.adapters.process.recording import Recording
from wireproof.adapters.registry.registry import resolve
from wireproof.adapters.requests import DerivedSample, FailureBudget, blocks
from wireproof.cases.case import Case
from wireproof.cases.made_case import is_large
from wireproof.cases.outcome import NotRun
from wireproof.cli.check.worker import (
    Ask,
    CheckOptions,
    End,
    Ended,
    Failed,
    Judged,
    Message,
    Part,
    PartEnded,
    Row,
    Start,
    Started,
    Task,
)
from wireproof.cli.common.progress import ProgressBars
from wireproof.fuzz import property_run
from wireproof.fuzz.property_run import FEW_CANDIDATES, MAX_CANDIDATES, PropertySettings
from wireproof.judge.verdicts import Verdict
from wireproof.run.events import (
    BaselineText,
    CaseEvent,
    EventStream,
    EventWriter,
    Footer,
    LineWriter,
    Run,
    manifest_fields,
    run_event,
)
from wireproof.run.run import Selection, concerns, fresh_processes, left_out_notes
from wireproof.run.workers import TaskEnded, WorkerDiedError

GOLDEN: Final = 128
"""Golden cases of a part: few twins of its cases lie in another part, which are asked there too."""

FAMILIES: Final = 8
"""Golden cases whose families are a part."""

LARGE: Final = 8
"""Large golden cases of a part."""

_numbers: Final = count(1)
"""Numbers of parts, never used twice: a part may be replaced while messages about it are under way."""


@define(eq=False)
class RunPart:
    """A part of the run of an adapter.

    Attributes:
        cases: the golden cases to judge, or those whose families are judged; none for generated examples.
        chunk: the number of the golden cases whose families are judged, which is that of other adapters too;
            -1 for other parts.
        stopped: why nothing is run any more.
        first: the place of its first case in the run; -1 as long as an earlier part may have any number.
        worker: the worker that judges it now, or did; -1 before.
        events: by their places in the part, which is counted from 0.
        shown: how many of them were shown.
        end: the last message about it.
    """

    cases: Sequence[Case]
    chunk: int = -1
    stopped: NotRun | None = None
    first: int = -1
    number: int = field(factory=lambda: next(_numbers))
    worker: int = -1
    events: dict[int, CaseEvent] = field(factory=dict)
    shown: int = 0
    end: PartEnded | None = None


@define(eq=False)
class AdapterRun:
    """The run of one adapter so far.

    Attributes:
        alone: whether only the worker that started it may keep it: a live server, or a recorded run.
        parts: of the run, in order; the first `stored` of them are in `events`.
        golden: how many parts have small golden cases; they come first.
        starts: how many fresh processes may still be started for failures; None: none is asked again.
        error: the reason why it was not judged, or not completely.
        ended: True if no more messages follow.
        baseline: its known failures, as a run stores them.
        unwritten: the events that are not in the file yet, in the order in which they were judged.
    """

    number: int
    spec: str
    alone: bool
    starts: int | None = None
    begun: bool = False
    hello: Hello | None = None
    head: Run | None = None
    workers: set[int] = field(factory=set)
    ending: set[int] = field(factory=set)
    parts: list[RunPart] = field(factory=list)
    stored: int = 0
    golden: int = 0
    events: list[CaseEvent] = field(factory=list)
    budget: FailureBudget = field(factory=FailureBudget)
    sample: DerivedSample = field(factory=DerivedSample)
    undigested: int = 0
    notes: list[str] = field(factory=list)
    error: BaseException | None = None
    ended: bool = False
    footer: Footer | None = None
    baseline: BaselineText | None = None
    writer: EventWriter | None = None
    unwritten: list[CaseEvent] = field(factory=list)

    @property
    def stream(self) -> EventStream | None:
        """Return the run as a stream; None if it never began."""
        if self.head is None:
            return None
        lacks = (self.footer.error,) if self.footer and self.footer.error else ()
        return EventStream(self.head, tuple(self.events), self.footer, lacks, self.baseline)

    @property
    def golden_is_judged(self) -> bool:
        return self.hello is not None and all(part.end for part in self.parts[: self.golden])

    @property
    def is_stored(self) -> bool:
        return self.hello is not None and self.stored == len(self.parts)

    def accepted(self, cases: Sequence[Case]) -> dict[str, Verdict]:
        ends = [part.end for part in self.parts[: self.golden] if part.end]
        return {case.id: end.verdicts[case.id] for case in cases for end in ends if case.id in end.verdicts}

    def is_worth(self, worker: int, parts: Sequence[RunPart]) -> bool:
        """Return whether a worker may judge these parts: a start takes as long as a part, and needs two."""
        if worker in self.workers:
            return bool(parts)
        return not self.alone and len(parts) >= (2 if self.workers else 1)

    def waiting(self, start: int = 0, end: int | None = None) -> list[RunPart]:
        """Return the parts from `start` on, and before `end`, that no worker has taken."""
        return [part for part in self.parts[start:end] if part.worker < 0]


@define
class CheckPlan:
    """The runs of all adapters of a `check`, whose events it shows at once, and writes to `file` in order."""

    options: CheckOptions
    specs: Sequence[str]
    show: Callable[[Run, Sequence[CaseEvent]], None] = lambda _run, _events: None
    bars: ProgressBars | None = None
    file: LineWriter | None = None
    runs: list[AdapterRun] = field(init=False)
    turn: int = 0

    def __attrs_post_init__(self) -> None:
        baseline, recorded = self.options.stored_baseline, self.options.recording != Recording()
        self.runs = []
        for number, spec in enumerate(self.specs):
            live = False  # a live server, whose state all its cases share
            with suppress(AdapterError):  # its start reports it
                live = bool(resolve(spec).cleanup)
            starts = None if live else 0
            run = AdapterRun(number, spec, alone=recorded or live, starts=starts, baseline=baseline)
            self.runs.append(run)

    # --- tasks ---

    def next_task(self, worker: int) -> Task | None:
        """Return the next task for a worker; None if there is none for now."""
        steps = (self._end, self._own_golden, self._start, self._other_golden, self._families, self._last)
        tasks = (step(worker) for step in steps)
        return next((task for task in tasks if task), None)

    @property
    def _open(self) -> Iterator[AdapterRun]:
        return (run for run in self.runs if not run.ended)

    def _end(self, worker: int) -> Task | None:
        for run in self._open:
            if run.is_stored and worker in run.workers - run.ending:
                run.ending.add(worker)
                return End(run.number)
        return None

    def _own_golden(self, worker: int) -> Task | None:
        for run in self._open:
            if worker in run.workers and (parts := run.waiting(0, run.golden)):
                return self._golden(worker, run, parts[0])
        return None

    def _start(self, worker: int) -> Task | None:
        for run in self._open:
            if not run.begun:
                run.begun = True
                run.workers.add(worker)
                if self.bars:
                    self.bars.says(run.number, "waiting for its hello")
                return Start(run.number)
        return None

    def _other_golden(self, worker: int) -> Task | None:
        """Return golden cases of the adapter that has most of them left."""
        left = [(run, run.waiting(0, run.golden)) for run in self._open]
        worth = [(run, parts) for run, parts in left if run.is_worth(worker, parts)]
        if not worth:
            return None
        run, parts = max(worth, key=lambda one: len(one[1]))
        return self._golden(worker, run, parts[0])

    def _golden(self, worker: int, run: AdapterRun, part: RunPart) -> Task:
        names = tuple(case.id for case in part.cases)
        return Ask("golden", {run.number: self._taken(worker, run, part)}, names)

    def _families(self, worker: int) -> Task | None:
        """Return the first families that an adapter waits for, with all adapters that wait for them too."""
        waiting: list[tuple[int, AdapterRun, RunPart]] = []
        for run in self._open:
            parts = [part for part in run.waiting(run.golden) if part.chunk >= 0]
            if run.golden_is_judged and run.is_worth(worker, parts):
                waiting += ((part.chunk, run, part) for part in parts)
        first = min((chunk for chunk, _, _ in waiting), default=-1)
        chosen = [(run, part) for chunk, run, part in waiting if chunk == first]
        if not chosen:
            return None
        asked = {
            run.number: evolve(self._taken(worker, run, part), verdicts=run.accepted(part.cases))
            for run, part in chosen
        }
        names = (case.id for _, part in chosen for case in part.cases)
        wanted = {name for one in asked.values() for name in one.verdicts}
        return Ask("families", asked, tuple(name for name in dict.fromkeys(names) if name in wanted))

    def _last(self, worker: int) -> Task | None:
        """Return large cases, or the generated examples of a run that has nothing else left."""
        for run in sorted(self._open, key=lambda run: worker not in run.workers):
            parts = run.waiting(run.golden)
            if not (run.golden_is_judged and run.is_worth(worker, parts)):
                continue
            for part in parts:
                if part.cases and part.chunk < 0:
                    return self._golden(worker, run, part)
                if not part.cases and part is run.parts[run.stored]:
                    asked = {run.number: self._taken(worker, run, part)}
                    return Ask("examples", asked, settings=self._settings(run))
        return None

    def _taken(self, worker: int, run: AdapterRun, part: RunPart) -> Part:
        assert run.hello is not None, "an adapter with parts has said hello"
        part.worker = worker
        run.workers.add(worker)
        granted = run.starts
        if run.starts is not None:  # half of them, for other workers have parts at the same time
            granted = (run.starts + 1) // 2 if part.cases else 0
            run.starts -= granted
        return Part(part.number, run.parts.index(part), run.hello, part.stopped, granted)

    def _settings(self, run: AdapterRun) -> PropertySettings:
        examples, listed = self.options.examples, self.options.known_failures
        assert examples is not None and run.hello is not None and run.stream is not None  # noqa: PT018 - one fact
        known = property_run.known_signatures(run.hello, run.stream, listed, datetime.now(tz=UTC).date())
        most = MAX_CANDIDATES
        if examples.by_default:  # a run that asked for none stays short
            most = 0 if run.hello.cost == "slow" else FEW_CANDIDATES
        held = tuple(entry for entry in listed if entry.of_examples)
        return PropertySettings(examples.count, examples.seed, self.options.rows, known, held, most)

    # --- messages ---

    def receive(self, worker: int, task: Task, message: Message | TaskEnded) -> None:
        """Take a message of a worker; what is about a run that has ended comes too late."""
        if not isinstance(message, TaskEnded) and self.runs[message.number].ended:
            return
        match message:
            case TaskEnded(error):
                self._task_ended(worker, task, error)
            case Started(number, hello, notes):
                self._started(self.runs[number], hello, notes)
            case Judged(number, part, rows, settled):
                self._judged(self.runs[number], part, rows, settled=settled)
            case PartEnded(number):
                self._part_ended(self.runs[number], message)
            case Failed(number, error, at_start):
                self._failed(worker, self.runs[number], error, at_start=at_start)
            case Ended(number, notes):
                run = self.runs[number]
                run.workers.discard(worker)
                run.notes += notes
                if not run.workers:
                    self._finish(run)
        self._write()

    def _task_ended(self, worker: int, task: Task, error: BaseException | None) -> None:
        """End the runs whose task ended with an error, which is a fault of the suite or of the machine."""
        if error is None:
            return
        for run in self.runs:
            if run.number in numbers_of(task):
                self._fail(run, error)
            elif isinstance(error, WorkerDiedError) and worker in run.workers:
                run.workers.discard(worker)
                if run.is_stored and not run.workers:
                    self._finish(run)
                elif run.alone and not run.workers:
                    self._fail(run, error)

    def end(self) -> None:
        """End the runs that no worker is left to judge, with an error: none may be missing without a word."""
        for run in self._open:
            self._fail(run, WorkerDiedError("no process was left to judge it"))
        self._write()

    def flush(self) -> None:
        for run in self.runs:
            self._store_rest(run)
        for run in self.runs[self.turn :]:
            self._write_events(run)

    def _started(self, run: AdapterRun, hello: Hello, notes: Sequence[str]) -> None:
        """Make the parts of a run; a requirement set has the cases of unclaimed formats too."""
        options = self.options
        left_out = {case.id: case.level for case in options.left_out if concerns(hello, case)}
        run.hello = hello
        run.notes += notes
        run.head = evolve(self._head(run.spec, hello), examples=options.examples, left_out=left_out)
        plan = (
            Selection(options.cases, options.suite.by_id, families=False)
            if options.requirements
            else Selection.of(hello, options.golden_cases, options.suite, families=options.families)
        ).large_last()
        if options.shard:
            plan = evolve(plan, golden=options.shard.part([*plan.golden, *plan.large])).large_last()
        if run.starts is not None:
            has_baseline = options.baseline is not None
            run.starts = fresh_processes(len(plan.golden), has_baseline=has_baseline)
        size = max(len(plan.golden), 1) if run.alone else GOLDEN
        firsts = count(0, size)
        run.parts = [RunPart(cases, first=next(firsts)) for cases in blocks(plan.golden, size)]
        run.golden = len(run.parts)
        if plan.families:
            mine = {case.id for case in plan.golden}
            for chunk, cases in enumerate(blocks(options.golden_cases, FAMILIES)):
                if own := [case for case in cases if case.id in mine]:
                    run.parts.append(RunPart(own, chunk))
        run.parts += [RunPart(cases) for cases in blocks(plan.large, LARGE)]
        if options.examples:
            run.parts.append(RunPart(()))
        if run.parts:
            run.parts[0].first = 0
        if self.bars:
            self.bars.expect(run.number, sum(map(_weight, run.parts)))

    def _head(self, spec: str, hello: Hello) -> Run:
        options = self.options
        return run_event(
            hello, spec=spec, fixtures=options.fixtures, seed=options.seed, level=options.level,
            filters=options.filters, requirements=options.requirements, shard=str(options.shard or ""),
            **manifest_fields(),
        )  # fmt: skip

    def _judged(self, run: AdapterRun, number: int, rows: Sequence[Row], *, settled: bool) -> None:
        """Take events, which are written at once, and shown in their order as soon as they are settled."""
        part = next((part for part in run.parts if part.number == number), None)
        if part is None or run.head is None:
            return
        first = max(part.first, 0)
        events = {row[0]: CaseEvent(self._place(first + row[0]), *row[1:]) for row in rows}
        part.events |= events
        if part.first >= 0:
            run.unwritten += events.values()
        shown: list[CaseEvent] = []
        while settled and part.shown in part.events:
            shown.append(part.events[part.shown])
            part.shown += 1
        self.show(run.head, shown)
        if self.bars:
            self.bars.seen(run.number, shown, 0 if part.chunk >= 0 else len(shown) * _weight_of_case(part))

    def _part_ended(self, run: AdapterRun, end: PartEnded) -> None:
        if run.starts is not None:
            run.starts += end.starts
        part = next((part for part in run.parts if part.number == end.part), None)
        if part is None:
            return
        part.end = end
        if self.bars and part.chunk >= 0:
            self.bars.seen(run.number, (), _weight(part))
        while run.stored < len(run.parts) and (stored := run.parts[run.stored].end):
            self._take_events(run, run.parts[run.stored])
            run.budget.merge(stored.deaths, run.events[-1].id if run.events else "")
            run.notes += stored.notes
            run.undigested += stored.undigested
            run.sample.kept += stored.sample.kept
            run.sample.seen += stored.sample.seen
            run.stored += 1
            if run.budget.stopped:  # whatever other workers have found meanwhile
                for place, later in enumerate(run.parts[run.stored :], run.stored):
                    if not later.stopped:
                        run.parts[place] = RunPart(later.cases, later.chunk, run.budget.stopped, later.first)
            if run.stored < len(run.parts):
                self._place_part(run, run.parts[run.stored])

    def _place_part(self, run: AdapterRun, part: RunPart) -> None:
        """Give the events of a part their places in the run, once all parts before it are stored."""
        if part.first < 0:
            part.first = len(run.events)
            part.events = {
                at: evolve(event, seq=self._place(part.first + at)) for at, event in part.events.items()
            }
            run.unwritten += part.events.values()

    def _take_events(self, run: AdapterRun, part: RunPart) -> None:
        self._place_part(run, part)
        run.events += (part.events[at] for at in sorted(part.events))
        part.events = {}

    def _place(self, seq: int) -> int:
        return self.options.shard.place(seq) if self.options.shard else seq

    def _failed(self, worker: int, run: AdapterRun, error: Exception, *, at_start: bool) -> None:
        """End a run, unless the adapter only does not start a second time beside another worker."""
        run.workers.discard(worker)
        if not (at_start and isinstance(error, AdapterStartError) and run.workers):
            self._fail(run, error)
            return
        run.alone = True
        for part in run.parts:
            if part.worker == worker and part.end is None:
                part.worker = -1

    def _fail(self, run: AdapterRun, error: BaseException | None) -> None:
        if not run.ended:
            self._store_rest(run)
            run.error = error
            self._finish(run)

    def _store_rest(self, run: AdapterRun) -> None:
        for part in run.parts[run.stored :]:
            self._take_events(run, part)

    def _finish(self, run: AdapterRun) -> None:
        run.ended = True
        if run.error is None:
            run.notes = list(dict.fromkeys((*run.notes, *left_out_notes(run.undigested, run.sample))))
            run.footer = Footer({}, complete=not any(event.verdict == "not-run" for event in run.events))
        elif isinstance(run.error, AdapterError | WorkerDiedError):
            run.head = run.head or self._head(run.spec, Hello(run.spec, ""))
            run.footer = Footer({}, complete=False, error=str(run.error))
        if self.bars:
            self.bars.end(run.number)

    # --- file ---

    def _write(self) -> None:
        while self.turn < len(self.runs):
            run = self.runs[self.turn]
            self._write_events(run)
            if not run.ended:
                return
            if run.writer and run.footer:
                run.footer = run.writer.footer(complete=run.footer.complete, error=run.footer.error)
            self.turn += 1

    def _write_events(self, run: AdapterRun) -> None:
        if self.file is None or run.head is None:
            return
        if run.writer is None:
            run.writer = EventWriter(self.file, run.head, run.baseline)
        for event in run.unwritten:
            run.writer.case(event)
        run.unwritten.clear()


def numbers_of(task: Task) -> tuple[int, ...]:
    return tuple(task.parts) if isinstance(task, Ask) else (task.number,)


def _weight_of_case(part: RunPart) -> int:
    """Return the share of a case of a part in the progress: a small golden case is 1."""
    if part.chunk >= 0:  # a family
        return 5
    return 20 if part.cases and is_large(part.cases[0]) else 1


def _weight(part: RunPart) -> int:
    return len(part.cases) * _weight_of_case(part)
