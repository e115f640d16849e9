"""The table at the end of a run: a row for each format, a column for each verdict.

A terminal too narrow for all verdicts shows fewer columns. The others are added up in the column `other`,
which a line below the table explains.
"""

from collections.abc import Sequence
from typing import Final

from rich.box import SIMPLE_HEAD
from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from wireproof.report.failure_groups import count_verdicts
from wireproof.runner.events import EventStream
from wireproof.wire.safe_text import escape_unsafe

STYLES: Final = {
    "pass": "green",
    "info": "cyan",
    "lenient": "yellow",
    "pass-unclassified": "yellow",
    "undocumented": "yellow",
    "unsupported": "dim",
    "not-run": "dim",
    "other": "dim",
}

OTHER: Final = "other"
"""The heading of the column that adds up the verdicts for which there is no room."""

WIDEST: Final = 10_000
"""Width of an output that is no terminal, in characters: lines are never cut there."""


class VerdictTable:
    """The verdicts of one run by format, as wide as the console allows; rich renders it."""

    def __init__(self, stream: EventStream) -> None:
        """Count the verdicts of `stream`."""
        self.title = escape_unsafe(f"{stream.run.adapter} {stream.run.version}".strip())
        self.total = count_verdicts(stream)
        self.rows = {name: count_verdicts(part) for name, part in by_format(stream).items()}

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the title, the table and the line about the column `other`."""
        yield Text(self.title, style="bold")
        shown, other = list(self.total), list[str]()
        while _width(table := self._table(shown, other), console) > options.max_width and len(shown) > 1:
            other.append(shown.pop(shown.index(_least(shown))))
        yield table
        if other:
            named = sorted(other, key=list(self.total).index)
            yield Text(f"{OTHER}: " + ", ".join(f"{self.total[name]} {name}" for name in named) + "\n")

    def _table(self, shown: Sequence[str], other: Sequence[str]) -> Table:
        columns = [*shown, *([OTHER] if other else [])]
        table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 0, 0, 1), show_footer=len(self.rows) > 1)
        table.add_column("", "all", no_wrap=True)
        total = _cells(self.total, shown, other)
        for name, number in zip(columns, total, strict=True):
            table.add_column(name, number, justify="right", style=STYLES.get(name, "red"), no_wrap=True)
        for name, seen in self.rows.items():
            table.add_row(Text(escape_unsafe(name)), *_cells(seen, shown, other))
        return table


def _cells(seen: dict[str, int], shown: Sequence[str], other: Sequence[str]) -> list[str]:
    """Return the numbers of a row; a verdict that did not occur is left empty."""
    numbers = [seen.get(name, 0) for name in shown] + (
        [sum(seen.get(name, 0) for name in other)] if other else []
    )
    return [str(number) if number else "" for number in numbers]


def _width(table: Table, console: Console) -> int:
    """Return the columns that a table needs if nothing in it is cut."""
    return Measurement.get(console, console.options.update(max_width=WIDEST), table).maximum


def _least(names: Sequence[str]) -> str:
    """Return the verdict whose column is removed first, if possible one that is no failure."""
    order = ["unsupported", "pass-unclassified", "undocumented", "info", "lenient", "not-run"]
    return next((name for name in order if name in names), names[-1])


def by_format(stream: EventStream) -> dict[str, EventStream]:
    """Split a run by format and revision."""
    parts: dict[str, list[int]] = {}
    for number, event in enumerate(stream.cases):
        parts.setdefault(event.format_id, []).append(number)
    return {
        name: EventStream(stream.run, tuple(stream.cases[number] for number in numbers), stream.footer)
        for name, numbers in sorted(parts.items())
    }
