"""The two sides of `check`: a task that judges one adapter, and the collector of the messages of all tasks.

A message is a `Run`, which begins a stream, `CaseCount`, a tuple of rows of `CaseEvent`, or `EngineNotes`.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from operator import attrgetter
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Final, Self, TypeAlias

from attrs import define, evolve, field, fields, frozen

from wireproof.adapters.recording import Recording
from wireproof.cases.case import Case, Level
from wireproof.cases.fixtures import Suite
from wireproof.cli.progress import ProgressBars
from wireproof.files import open_locked
from wireproof.fuzz import property_run
from wireproof.runner.engine import Engine
from wireproof.runner.events import (
    CaseEvent,
    EventStream,
    EventWriter,
    Examples,
    Footer,
    Requirements,
    Run,
    run_event,
)
from wireproof.runner.families import Families
from wireproof.runner.known_failures import KnownFailure
from wireproof.runner.property_suite import FEW_CANDIDATES, MAX_CANDIDATES, PropertySettings
from wireproof.runner.run import Selection, concerns, run
from wireproof.runner.run_manifest import manifest_fields
from wireproof.runner.shard import Shard

BATCH: Final = 64
"""Events of derived cases that are sent at once; those of golden ones are sent one by one."""

BATCH_SECONDS: Final = 0.1
"""Seconds after which a smaller batch is sent."""

Row: TypeAlias = tuple[Any, ...]
_ROW: Final[Callable[[CaseEvent], Row]] = attrgetter(*(a.name for a in fields(CaseEvent)))
"""A `CaseEvent` as a tuple, which costs a fifth of the object when it is sent to another process."""


@frozen
class CheckOptions:
    """The options of one `check`, for all its adapters.

    Attributes:
        cases: the selected fixtures.
        left_out: large fixtures that the selection has too, and that only `--large` runs.
    """

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
    known_failures: tuple[KnownFailure, ...] | None
    recording: Recording = field(factory=Recording)
    requirements: Requirements | None = None
    shard: Shard | None = None

    @property
    def golden_cases(self) -> tuple[Case, ...]:
        """Return the fixtures to judge; those of known failures are judged even with `--no-golden`."""
        if self.golden:
            return self.cases
        known = {entry.fixture for entry in self.known_failures or ()}
        return tuple(case for case in self.cases if case.id in known)

    @property
    def rows(self) -> frozenset[str]:
        """Return the formats of the selection, whose properties are checked."""
        return frozenset(case.format_id for case in self.cases)


@frozen
class EngineNotes:
    """The last message of an adapter that was judged: notes for the user that no event contains."""

    lines: tuple[str, ...]


@frozen
class CaseCount:
    """The message after the `Run` of an adapter: its number of golden cases, and if it has families too."""

    golden: int
    families: bool


@frozen
class CheckTask:
    """Judges the adapter with a number and sends messages about it; a task of `runner.workers`."""

    asked: CheckOptions
    specs: tuple[str, ...]
    families: Families

    def __call__(self, number: int) -> Iterator[Any]:
        """Judge the adapter and yield messages; raise `AdapterError` if it does not start."""
        asked, spec = self.asked, self.specs[number]
        with (
            asked.recording.recorder(number, spec) as recorder,
            Engine(
                spec,
                recorder=recorder,
                in_process=asked.in_process,
                seed=asked.seed,
                timeout_scale=asked.scale,
            ) as engine,
        ):
            left_out = {case.id: case.level for case in asked.left_out if concerns(engine.hello, case)}
            head = run_event(
                engine.hello, spec=spec, fixtures=asked.fixtures, seed=asked.seed, level=asked.level,
                filters=asked.filters, requirements=asked.requirements,
                shard=str(asked.shard or ""), examples=asked.examples, left_out=left_out, **manifest_fields(),
            )  # fmt: skip
            yield head
            plan = self._plan(engine)
            yield CaseCount(len(plan.golden) + len(plan.large), plan.families)
            yield from _batches(self._events(engine, head, plan))
            engine.close()
            yield EngineNotes(tuple(engine.notes))

    def _plan(self, engine: Engine) -> Selection:
        """Return the plan or its shard; a requirement set has the cases of unclaimed formats too."""
        asked = self.asked
        whole = (
            Selection(asked.cases, asked.suite.by_id, families=False)
            if asked.requirements
            else Selection.of(engine.hello, asked.golden_cases, asked.suite, families=asked.families)
        )
        plan = whole.large_last()
        if not asked.shard:
            return plan
        return evolve(plan, golden=asked.shard.part([*plan.golden, *plan.large])).large_last()

    def _events(self, engine: Engine, head: Run, plan: Selection) -> Iterator[CaseEvent]:
        """Yield the events of fixtures and families, then of properties, without those of known failures."""
        asked = self.asked
        seen: list[CaseEvent] = []
        for event in run(engine, plan, self.families):
            if asked.examples:
                seen.append(event)
            yield evolve(event, seq=asked.shard.place(event.seq)) if asked.shard else event
        if not asked.examples:
            return
        today, listed = datetime.now(tz=UTC).date(), asked.known_failures or ()
        known = property_run.known_signatures(engine.hello, EventStream(head, tuple(seen)), listed, today)
        ask = PropertySettings(
            asked.examples.count, asked.examples.seed, asked.rows, known,
            tuple(entry for entry in listed if entry.of_examples),
            _most_candidates(engine, asked.examples),
        )  # fmt: skip
        yield from property_run.run(engine, ask, len(seen), asked.level)


def _most_candidates(engine: Engine, examples: Examples) -> int:
    """Return how many candidates may be tried to shrink a failure; a run that asked for none stays short."""
    if not examples.by_default:
        return MAX_CANDIDATES
    return 0 if engine.hello.cost == "slow" else FEW_CANDIDATES


def _batches(events: Iterator[CaseEvent]) -> Iterator[tuple[Row, ...]]:
    """Yield rows in batches; rows from before an error or an interrupt come first."""
    rows: list[Row] = []
    sent = time.monotonic()
    try:
        for event in events:
            rows.append(_ROW(event))
            if "~" not in event.id or len(rows) >= BATCH or time.monotonic() - sent > BATCH_SECONDS:
                yield tuple(rows)
                rows, sent = [], time.monotonic()
    except GeneratorExit:  # nobody takes what is left
        raise
    except BaseException:
        yield tuple(rows)
        raise
    yield tuple(rows)


# --- the receiving side ---


@define
class AdapterResult:
    """The results of one adapter so far.

    Attributes:
        error: the reason why it was not judged, or not completely.
        ended: True if no more messages follow.
    """

    spec: str
    head: Run | None = None
    events: list[CaseEvent] = field(factory=list)
    footer: Footer | None = None
    notes: tuple[str, ...] = ()
    error: BaseException | None = None
    ended: bool = False
    writer: EventWriter | None = None

    @property
    def stream(self) -> EventStream | None:
        """Return the run as a stream; None if it never began."""
        return None if self.head is None else EventStream(self.head, tuple(self.events), self.footer)


@define
class ResultCollector:
    """Collects the messages of adapters that are judged in parallel, and writes their streams in order.

    Attributes:
        show: shows events as soon as they are here.
    """

    specs: Sequence[str]
    show: Callable[[Run, Sequence[CaseEvent]], None] = lambda _run, _events: None
    bars: ProgressBars | None = None
    file: "OrderedFile | None" = None
    judged: list[AdapterResult] = field(init=False)

    def __attrs_post_init__(self) -> None:
        """Make an empty result for every adapter."""
        self.judged = [AdapterResult(spec) for spec in self.specs]

    def receive(self, number: int, message: Any) -> None:  # noqa: ANN401 - a message, see the module
        """Store one message of the adapter with a number."""
        one = self.judged[number]
        match message:
            case Run():
                one.head = message
                one.writer = EventWriter(self.file.part(number), message) if self.file else None
            case CaseCount(golden, families):
                if self.bars:
                    self.bars.expect(number, golden, families=families)
            case tuple():
                self._events(number, one, [CaseEvent(*row) for row in message])
            case EngineNotes(lines):
                complete = not any(event.verdict == "not-run" for event in one.events)
                footer = one.writer.footer(complete=complete) if one.writer else None
                one.notes, one.footer = lines, footer or Footer({}, complete)

    def end(self, number: int, error: BaseException | None) -> None:
        """Record that no more messages of an adapter follow."""
        self.judged[number].ended = True
        self.judged[number].error = error
        if self.bars:
            self.bars.end(number)
        if self.file:
            self.file.end(number)

    def _events(self, number: int, one: AdapterResult, events: list[CaseEvent]) -> None:
        if not events:
            return
        assert one.head is not None, "the first message of an adapter is its run"
        one.events.extend(events)
        self.show(one.head, events)
        if self.bars:
            self.bars.seen(number, events)
        if one.writer:
            for event in events:
                one.writer.case(event)


class OrderedFile:
    """A file of several streams in order, although they are written at the same time.

    The first stream that has not ended is written into the file itself, each later one into a file
    `<name>.<number>.part` beside it until its turn comes. After a kill, the events are in these files.
    """

    def __init__(self, path: Path) -> None:
        """Lock and empty the file at `path`; raise `OSError` on failure."""
        self.path = path
        self._stack = ExitStack()
        self._out = self._stack.enter_context(open_locked(path))
        self._parts: dict[int, _Part] = {}
        self._ended: set[int] = set()
        self._turn = 0

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Move the content of the parts into the file, in order, also of an interrupted run."""
        try:
            for number in sorted(self._parts):
                self._parts[number].move(self._out)
        finally:
            self._stack.close()

    def part(self, number: int) -> "_Part":
        """Open the text file for the stream with a number."""
        beside = self.path.with_name(f"{self.path.name}.{number + 1}.part")
        part = _Part(self._stack.enter_context(open_locked(beside)), beside)
        self._parts[number] = part
        if number == self._turn:
            part.move(self._out)
        return part

    def end(self, number: int) -> None:
        """Write the next stream that has not ended to the file itself from now on."""
        self._ended.add(number)
        while self._turn in self._ended:
            self._turn += 1
            if self._turn in self._parts:
                self._parts[self._turn].move(self._out)


@define
class _Part:
    """The output of one stream; a text file with the methods that `EventWriter` needs."""

    out: IO[str]
    beside: Path | None

    def write(self, text: str, /) -> int:
        """Write text."""
        return self.out.write(text)

    def flush(self) -> None:
        """Write the buffer to the file."""
        self.out.flush()

    def move(self, out: IO[str]) -> None:
        """Copy the content to `out`, and write there from now on."""
        if self.beside is None:
            return
        self.out.close()
        with self.beside.open(encoding="utf-8") as written:
            while text := written.read(1 << 20):
                out.write(text)
        self.beside.unlink()
        self.out, self.beside = out, None
