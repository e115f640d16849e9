"""Progress bars, on a terminal only: a log contains the events."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from attrs import define, field
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    TaskID,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from wireproof.judge.verdicts import PASSING
from wireproof.run.events import CaseEvent
from wireproof.wire.text import counted

if TYPE_CHECKING:  # Spark is an extra
    from wireproof.spark.batches import TaskCounts


@define
class ProgressBars:
    """A line for each adapter: its share of the work, its cases and findings so far, and its topic."""

    specs: Sequence[str]
    progress: Progress
    tasks: dict[int, TaskID] = field(factory=dict)
    cases: Counter[int] = field(factory=Counter)
    findings: Counter[int] = field(factory=Counter)

    def __attrs_post_init__(self) -> None:
        for number, spec in enumerate(self.specs):
            self.tasks[number] = self.progress.add_task(spec, total=None, said="queued")

    def says(self, number: int, text: str) -> None:
        """Show what an adapter does that is not judged yet: a driver may have to be built."""
        self.progress.update(self.tasks[number], said=text)

    def expect(self, number: int, total: int) -> None:
        self.progress.reset(self.tasks[number], total=total)

    def seen(self, number: int, events: Sequence[CaseEvent], done: int) -> None:
        """Show further events of an adapter, and that so much more of the work is done."""
        if number not in self.tasks:
            return
        self.progress.advance(self.tasks[number], done)
        if events:
            self.cases[number] += len(events)
            failed = (one.verdict not in PASSING and one.verdict != "unsupported" for one in events)
            self.findings[number] += sum(failed)
            cases, found = self.cases[number], self.findings[number]
            text = f"{counted(cases, 'case')}, {counted(found, 'finding')}, {events[-1].suite}"
            self.progress.update(self.tasks[number], said=text)

    def end(self, number: int) -> None:
        if number in self.tasks:
            self.progress.remove_task(self.tasks.pop(number))


@contextmanager
def progress_bars(console: Console, specs: Sequence[str]) -> Iterator[ProgressBars]:
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[said]}", markup=False),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        yield ProgressBars(specs, progress)


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


@contextmanager
def job_bar(
    console: Console, name: str, *columns: ProgressColumn
) -> Iterator[Callable[[int, int, "TaskCounts"], None]]:
    """Show a bar over a job, whose size `columns` show; yields a function to which it reports its progress.

    A resumed job begins where it stopped: earlier work counts for the bar, but not for the speed.
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

        def report_progress(done: int, total: int, tasks: "TaskCounts") -> None:
            if bar.tasks[0].total is None:
                bar.reset(task, total=total, completed=done)
            bar.update(task, completed=done, said=tasks_text(tasks))

        yield report_progress


def tasks_text(tasks: "TaskCounts") -> str:
    """Describe the tasks in a few words; where none is known, the phase of the job."""
    if not tasks.all:
        return tasks.phase
    failed = f", {tasks.failed} failed" if tasks.failed else ""
    return f"{tasks.done} of {tasks.all} tasks, {tasks.running} running{failed}"
