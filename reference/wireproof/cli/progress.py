"""A progress bar on a terminal, nothing elsewhere: a log has the events."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from wireproof.trial.events import CaseEvent
from wireproof.trial.verdicts import PASSING


def watched(events: Iterator[CaseEvent], console: Console, spec: str) -> Iterator[CaseEvent]:
    """The events as they come; on a terminal with the count, the findings and the current topic."""
    if not console.is_terminal:
        yield from events
        return
    told = TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[said]}")
    columns = (SpinnerColumn(), *told, TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task(spec, total=None, said="")
        findings = 0
        for number, event in enumerate(events, 1):
            findings += event.verdict not in PASSING and event.verdict != "unsupported"
            if number % 64 == 0:
                progress.update(task, said=f"{number} cases, {findings} findings, {event.suite}")
            yield event


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
