"""A progress bar on a terminal, nothing elsewhere: a log has the events."""

from collections.abc import Iterator

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

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
