"""A progress bar on a terminal, nothing elsewhere: a log has the events."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol

from attrs import define, field
from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from wireproof.trial.events import CaseEvent
from wireproof.trial.verdicts import PASSING


@define
class Bars:
    """A line for each adapter that is judged now, with its count, its findings and its current topic."""

    specs: Sequence[str]
    progress: Progress
    tasks: dict[int, TaskID] = field(factory=dict)
    counts: dict[int, int] = field(factory=dict)
    findings: dict[int, int] = field(factory=dict)

    def seen(self, number: int, events: Sequence[CaseEvent]) -> None:
        """Show further events of an adapter."""
        if number not in self.tasks:
            self.tasks[number] = self.progress.add_task(self.specs[number], total=None, said="")
        count = self.counts[number] = self.counts.get(number, 0) + len(events)
        found = sum(event.verdict not in PASSING and event.verdict != "unsupported" for event in events)
        findings = self.findings[number] = self.findings.get(number, 0) + found
        self.progress.update(
            self.tasks[number], said=f"{count} cases, {findings} findings, {events[-1].suite}"
        )

    def end(self, number: int) -> None:
        """Take the line of an adapter away."""
        if number in self.tasks:
            self.progress.remove_task(self.tasks.pop(number))


@contextmanager
def bars(console: Console, specs: Sequence[str]) -> Iterator[Bars]:
    """Show how far each adapter is, on a terminal."""
    shown = TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[said]}")
    columns = (SpinnerColumn(), *shown, TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        yield Bars(specs, progress)


class Tasks(Protocol):
    """What a cluster says of the tasks of a job."""

    @property
    def all(self) -> int:
        """How many there are; 0 as long as the cluster does not say."""

    @property
    def running(self) -> int:
        """Those that run."""

    @property
    def done(self) -> int:
        """Those that ended well."""

    @property
    def failed(self) -> int:
        """Attempts that did not."""


@contextmanager
def worked(
    console: Console, name: str, *columns: ProgressColumn
) -> Iterator[Callable[[int, int, Tasks], None]]:
    """A bar over a job of known size, and what is to be told of it; `columns` show the size in its unit.

    A job that goes on begins where it was: what was done before is in the bar and not in its speed.
    """
    shown = (TextColumn("{task.description}"), BarColumn(), *columns, TextColumn("{task.fields[said]}"))
    clocks = (TimeElapsedColumn(), TimeRemainingColumn())
    with Progress(*shown, *clocks, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(name, total=None, said="")

        def tell(done: int, total: int, tasks: Tasks) -> None:
            if bar.tasks[0].total is None:
                bar.reset(task, total=total, completed=done)
            bar.update(task, completed=done, said=said(tasks))

        yield tell


def said(tasks: Tasks) -> str:
    """The tasks in some words."""
    if not tasks.all:
        return "waiting for Spark"
    failed = f", {tasks.failed} failed" if tasks.failed else ""
    return f"{tasks.done} of {tasks.all} tasks, {tasks.running} running{failed}"
