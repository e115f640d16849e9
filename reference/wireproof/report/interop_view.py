"""The view of the results of `interop`: the matrix and the failures.

The terminal shows plain text. The HTML page has the same parts, and the matrix of any run.
"""

from collections.abc import Iterator
from typing import Final

from attrs import frozen
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table

from wireproof.report.failure_groups import (
    Lookup,
    count_verdicts,
    failure_groups_of,
    failure_lines,
    no_lookup,
)
from wireproof.report.html import Board, render_board
from wireproof.report.matrix import Column, Page, matrix
from wireproof.report.overview import Grid, GridCell, findings, tally
from wireproof.report.terminal import MAX_FINDINGS, WIDEST, plain_text
from wireproof.run.events import EventStream
from wireproof.run.interop import InteropRun, ReadCounts, RelayReport
from wireproof.wire.text import counted

LEGEND: Final = (
    "=: all read alike; =n: all n that were read; n: so many read wrong; n°: where the format is open"
)


@frozen
class InteropView:
    """The results that both views show; `lookup` returns the case of an event."""

    found: InteropRun
    lookup: Lookup
    relay: RelayReport | None = None

    @property
    def judged(self) -> list[EventStream]:
        """Return the runs of the adapters, and that of the server."""
        server = [] if self.relay is None else [self.found.stream_of(self.relay.server)]
        return [*self.found.streams, *server]


# --- the matrix ---


def grids(found: InteropRun) -> Iterator[Grid]:
    """Yield the matrix of producers and readers of each format; producers have a note of what they wrote."""
    tallies, written = found.tallies, {one.spec: one.written for one in found.participants}
    for format_id in found.encoded_messages:
        producers = [one for one in written if any((format_id, one, two) in tallies for two in written)]
        readers = [two for two in written if any((format_id, one, two) in tallies for one in written)]
        rows = []
        for one in producers:
            wrote, of = written[one][format_id]
            cells = [_cell(tallies.get((format_id, one, two)), wrote) for two in readers]
            rows.append((one, f"{WROTE} {wrote}" + (f"/{of}" if wrote < of else ""), cells))
        yield Grid(format_id, "writes ↓ reads →", readers, rows)


def _cell(tally: ReadCounts | None, wrote: int) -> GridCell:
    """Return a cell: all read alike, or the number of different readings; a sign if there was no request."""
    if tally is None:
        return GridCell("–", "dim")
    words = f"{tally.all:,} read, {tally.wrong:,} of them wrong, {tally.other:,} where the format is open"
    part = f"/{tally.all}" if tally.all < wrote else ""
    if tally.wrong:
        return GridCell(f"{tally.wrong}{part}", "bad", words)
    if tally.other:
        return GridCell(f"{tally.other}°{part}", "mild", words)
    return GridCell(f"={tally.all if part else ''}", "pass", words)


WROTE: Final = "wrote"
"""The heading of the numbers of values that producers encoded."""

_STYLES: Final = {"dim": "dim", "bad": "red", "mild": "yellow", "pass": "green"}


def print_interop(shown: InteropView, console: Console) -> None:
    numbers = {one.spec: number for number, one in enumerate(shown.found.participants, 1)}
    for participant in shown.found.participants:
        line = f"{numbers[participant.spec]:>3}  {participant.spec} {participant.hello.version}"
        console.print(plain_text(line), soft_wrap=True)
    for grid in grids(shown.found):
        table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 0, 0, 1))
        table.add_column(f"{grid.title}, read by", no_wrap=True)
        table.add_column(WROTE, justify="right", no_wrap=True, style="dim")
        for reader in grid.heads:
            table.add_column(str(numbers[reader]), justify="right", no_wrap=True)
        for producer, note, cells in grid.rows:
            table.add_row(
                plain_text(f"{numbers[producer]:>3}  {producer}"),
                note.removeprefix(f"{WROTE} "),
                *(plain_text(cell.text, _STYLES[cell.style]) for cell in cells),
            )
        whole = console.options.update(max_width=WIDEST)
        console.width = max(console.width, Measurement.get(console, whole, table).maximum)
        console.print(table)
    console.print(plain_text(LEGEND, "dim"), soft_wrap=True)
    for line in lines_below(shown, console.width):
        console.print(plain_text(line), soft_wrap=True)


# --- the lines below ---


def lines_below(shown: InteropView, width: int = WIDEST) -> Iterator[str]:
    """Yield the lines below the matrix: what the server stored, the failures, and the notes."""
    yield from shown.relay.lines() if shown.relay is not None else ()
    found = [(stream.run, group) for stream in shown.judged for group in failure_groups_of(stream)]
    for run, group in found[:MAX_FINDINGS]:
        head, *body = failure_lines(group, run, shown.lookup, no_lookup, width)
        yield from ("", f"{run.spec}: {head}", *body)
    if len(found) > MAX_FINDINGS:
        yield f"… and {counted(len(found) - MAX_FINDINGS, 'more kind')} of failure: --out has them all"
    yield from _notes(shown)


def _notes(shown: InteropView) -> Iterator[str]:
    for participant in shown.found.participants:
        yield from (f"note: {participant.spec}: {note}" for note in participant.notes)


# --- the page ---


def interop_page(shown: InteropView, page: Page) -> str:
    """Render the HTML file: producers × readers as heat maps, the findings, then the matrix of all cases."""
    judged, streams = shown.judged, shown.found.streams
    columns = [Column(stream.run, count_verdicts(stream), stream.complete, by_id=False) for stream in streams]
    board = Board(
        columns,
        matrix(streams),
        f"{counted(shown.found.settings.count, 'value')} of each format, seed {shown.found.settings.seed}",
        notes=[*(shown.relay.lines() if shown.relay is not None else ()), *_notes(shown)],
        sums=[tally(stream.cases, stream.run) for stream in streams],
        found=findings(judged, [Column(stream.run, {}).name for stream in judged]),
        grids=list(grids(shown.found)),
        grids_title="Who reads what others wrote",
        grids_note=LEGEND,
    )
    return render_board(board, page)
