"""Progress bars, on a terminal only: a log contains the events."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol

from attrs import define, field
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from wireproof.runner.events import CaseEvent
from wireproof.runner.verdicts import PASSING


@define
class ProgressBars:
    """A line for each adapter that is judged now: its share of the cases, its findings and its topic.

    The number of derived cases is unknown before they are derived. A bar therefore counts each golden case
    twice: when it is judged, and when its family is reached.
    """

    specs: Sequence[str]
    progress: Progress
    tasks: dict[int, TaskID] = field(factory=dict)
    states: "dict[int, _State]" = field(factory=dict)

    def start(self) -> None:
        """Show a line for each adapter before its first answer: a driver may have to be built."""
        for number, spec in enumerate(self.specs):
            self.tasks[number] = self.progress.add_task(spec, total=None, said="waiting for its hello")

    def expect(self, number: int, golden: int, *, families: bool) -> None:
        """Set the total of an adapter: its golden cases, and as many families."""
        self.states[number] = _State(golden)
        self.progress.update(self.tasks[number], total=golden * (1 + families), completed=0)

    def seen(self, number: int, events: Sequence[CaseEvent]) -> None:
        """Show further events of an adapter."""
        if number not in self.tasks or number not in self.states:
            return
        state = self.states[number]
        for event in events:
            state.add(event)
        text = f"{state.cases} cases, {state.findings} findings, {events[-1].suite}"
        self.progress.update(self.tasks[number], completed=state.done, said=text)

    def end(self, number: int) -> None:
        """Remove the line of an adapter."""
        if number in self.tasks:
            self.progress.remove_task(self.tasks.pop(number))


@define
class _State:
    """The progress of the run of one adapter.

    Attributes:
        golden: the number of its golden cases.
        done: golden cases that were judged, and families that were reached.
    """

    golden: int
    done: int = 0
    cases: int = 0
    findings: int = 0
    places: dict[str, int] = field(factory=dict)

    def add(self, event: CaseEvent) -> None:
        """Count an event; golden cases come before all families, which are in order."""
        self.cases += 1
        self.findings += event.verdict not in PASSING and event.verdict != "unsupported"
        parent, _, derived = event.id.partition("~")
        if derived:
            self.done = max(self.done, self.golden + self.places.get(parent, 0))
        elif len(self.places) < self.golden:
            self.places[event.id] = self.done = len(self.places) + 1


@contextmanager
def progress_bars(console: Console, specs: Sequence[str]) -> Iterator[ProgressBars]:
    """Show the progress of each adapter, on a terminal."""
    shown = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[said]}", markup=False),
    )
    columns = (SpinnerColumn(), *shown, TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        found = ProgressBars(specs, progress)
        found.start()
        yield found


@contextmanager
def step_bar(console: Console, name: str) -> Iterator[Callable[[str, int, int], None]]:
    """Show a bar of steps; yields a function of a step's name, its number and the number of steps."""
    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.description}", markup=False),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task(name, total=None)

        def step(name: str, done: int, total: int) -> None:
            progress.update(task, description=name, completed=done, total=total)

        yield step


class Tasks(Protocol):
    """The phase of a job, and the numbers of its tasks as a cluster reports them."""

    @property
    def phase(self) -> str:
        """Return what the job does, in a few words."""

    @property
    def all(self) -> int:
        """Count all tasks; 0 until the cluster reports them."""

    @property
    def running(self) -> int:
        """Count the running tasks."""

    @property
    def done(self) -> int:
        """Count the tasks that succeeded."""

    @property
    def failed(self) -> int:
        """Count the attempts that failed."""


@contextmanager
def job_bar(
    console: Console, name: str, *columns: ProgressColumn
) -> Iterator[Callable[[int, int, Tasks], None]]:
    """Show a bar over a job of known size; yields a function to which the job reports its progress.

    `columns` show the size in its unit. A resumed job begins where it stopped: earlier work counts for the
    bar, but not for the speed.
    """
    shown = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        *columns,
        TextColumn("{task.fields[said]}", markup=False),
    )
    clocks = (TimeElapsedColumn(), TimeRemainingColumn())
    with Progress(*shown, *clocks, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(name, total=None, said="")

        def report_progress(done: int, total: int, tasks: Tasks) -> None:
            if bar.tasks[0].total is None:
                bar.reset(task, total=total, completed=done)
            bar.update(task, completed=done, said=tasks_text(tasks))

        yield report_progress


def tasks_text(tasks: Tasks) -> str:
    """Describe the tasks in a few words; where none is known, the phase of the job."""
    if not tasks.all:
        return tasks.phase
    failed = f", {tasks.failed} failed" if tasks.failed else ""
    return f"{tasks.done} of {tasks.all} tasks, {tasks.running} running{failed}"
