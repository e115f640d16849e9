"""The view of the results of `interop`: the matrix and the disagreements.

The terminal shows plain text. The HTML page has the same parts, and the matrix of any run.
"""

import shlex
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from attrs import frozen
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table

from wireproof.report.failure_groups import count_verdicts
from wireproof.report.html import Board, Column, Page, render_board
from wireproof.report.html_template import render_template
from wireproof.report.matrix import matrix
from wireproof.report.relay_lines import relay_lines
from wireproof.report.terminal import plain_text
from wireproof.runner.disagreements import DisagreementGroup
from wireproof.runner.interop import EncodeResult, InteropRun
from wireproof.runner.interop_relay import RelayReport
from wireproof.runner.interop_results import InteropResults, ReadCounts, Token
from wireproof.runner.signature import without_indices
from wireproof.runner.summaries import MAX_OUTPUT, shorten
from wireproof.runner.verdicts import gates

if TYPE_CHECKING:
    from markupsafe import Markup

MAX_FINDINGS: Final = 12
"""Number of findings of one kind that are shown; the others are counted."""

MAX_NAMES: Final = 12
"""Names in one line."""

WIDEST: Final = 1000
"""Width of the matrix in characters: it is never cut."""

LEGEND: Final = (
    "=: all read alike; =n: all n that were read; n: so many read wrong; n°: where the format is open"
)


@frozen
class InteropView:
    """The results that both views show."""

    exchanged: InteropRun
    results: InteropResults
    groups: Sequence[DisagreementGroup]
    token: Token
    relay: RelayReport | None = None

    def apart(self, *, wrong: bool) -> list[DisagreementGroup]:
        """Return the groups in which an adapter fails, or those where the format allows several answers."""
        return [group for group in self.groups if _fails(group) == wrong]

    @property
    def written_wrong(self) -> list[tuple[str, list[EncodeResult]]]:
        """Return the values that each adapter encoded wrong, grouped by the kind of failure."""
        found: dict[tuple[str, str, str, str], list[EncodeResult]] = {}
        for participant in self.exchanged.participants:
            for format_id, some in participant.written.items():
                for one in (one for one in some if gates(one.verdict.name, "must")):
                    key = participant.spec, format_id, one.verdict.label, without_indices(one.verdict.path)
                    found.setdefault(key, []).append(one)
        return [(key[0], some) for key, some in found.items()]


def _fails(group: DisagreementGroup) -> bool:
    """Return whether an adapter is wrong: one of the minority, or the majority."""
    return any(gates(one.read.verdict.name, "must") for one in (group.heard, group.first.majority[0]))


# --- the matrix ---


@frozen
class FormatMatrix:
    """The matrix of producers and readers of one format; a cell is None if there was no request.

    Attributes:
        wrote: the number of values that each producer encoded, and the number of requests.
    """

    format_id: str
    producers: tuple[str, ...]
    wrote: tuple[tuple[int, int], ...]
    readers: tuple[str, ...]
    cells: tuple[tuple[ReadCounts | None, ...], ...]


def format_matrices(shown: InteropView) -> Iterator[FormatMatrix]:
    """Yield a matrix for each format."""
    tallies = shown.results.tallies
    specs = [participant.spec for participant in shown.exchanged.participants]
    written = {participant.spec: participant.written for participant in shown.exchanged.participants}
    for format_id in shown.exchanged.encoded_messages:
        producers = tuple(one for one in specs if any((format_id, one, two) in tallies for two in specs))
        readers = tuple(two for two in specs if any((format_id, one, two) in tallies for one in specs))
        cells = tuple(tuple(tallies.get((format_id, one, two)) for two in readers) for one in producers)
        wrote = tuple(_wrote_of(written[one][format_id]) for one in producers)
        yield FormatMatrix(format_id, producers, wrote, readers, cells)


def _wrote_of(some: list[EncodeResult]) -> tuple[int, int]:
    return sum(one.data is not None for one in some), len(some)


def _of(done: int, asked: int) -> str:
    return str(done) if done == asked else f"{done}/{asked}"


def _word(tally: ReadCounts | None, wrote: int) -> tuple[str, str]:
    """Return the text and the style of a cell: all read alike, or the number of different readings."""
    if tally is None:
        return "–", "dim"
    part = f"/{tally.all}" if tally.all < wrote else ""
    if tally.wrong:
        return f"{tally.wrong}{part}", "bad"
    if tally.other:
        return f"{tally.other}°{part}", "mild"
    return f"={tally.all if part else ''}", "pass"


_STYLES: Final = {"dim": "dim", "bad": "red", "mild": "yellow", "pass": "green"}


def print_interop(shown: InteropView, console: Console) -> None:
    """Print the results."""
    for number, participant in enumerate(shown.exchanged.participants, 1):
        console.print(
            plain_text(f"{number:>3}  {participant.spec} {participant.hello.version}"), soft_wrap=True
        )
    for sheet in format_matrices(shown):
        table = _table(sheet, [participant.spec for participant in shown.exchanged.participants])
        whole = console.options.update(max_width=WIDEST)
        console.width = max(console.width, Measurement.get(console, whole, table).maximum)
        console.print(table)
    console.print(plain_text(LEGEND, "dim"), soft_wrap=True)
    for line in lines_below(shown):
        console.print(plain_text(line), soft_wrap=True)


def _table(sheet: FormatMatrix, specs: list[str]) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 0, 0, 1))
    table.add_column(f"{sheet.format_id}, read by", no_wrap=True)
    table.add_column("wrote", justify="right", no_wrap=True, style="dim")
    for reader in sheet.readers:
        table.add_column(str(specs.index(reader) + 1), justify="right", no_wrap=True)
    for producer, wrote, cells in zip(sheet.producers, sheet.wrote, sheet.cells, strict=True):
        words = [_word(cell, wrote[0]) for cell in cells]
        table.add_row(
            plain_text(f"{specs.index(producer) + 1:>3}  {producer}"),
            _of(*wrote),
            *(plain_text(text, _STYLES[style]) for text, style in words),
        )
    return table


# --- the lines below ---


def lines_below(shown: InteropView) -> Iterator[str]:
    """Yield the lines below the matrix."""
    if shown.relay is not None:
        yield from relay_lines(shown.relay, shown.token)
    for head, wrong in (("APART", True), ("OPEN", False)):
        for format_id in shown.exchanged.encoded_messages:
            some = [group for group in shown.apart(wrong=wrong) if group.format_id == format_id]
            for group in some[:MAX_FINDINGS]:
                yield from _group(head, group, shown.token)
            yield from _more(len(some), f"{head} {format_id}")
    wrote = sorted(shown.written_wrong, key=lambda row: -len(row[1]))
    for spec, values in wrote[:MAX_FINDINGS]:
        yield from _wrote(spec, values, shown.token)
    yield from _more(len(wrote), "WRONG")
    for participant in shown.exchanged.participants:
        yield from (f"note: {participant.spec}: {note}" for note in participant.notes)


def _more(count: int, what: str) -> Iterator[str]:
    if count > MAX_FINDINGS:
        yield f"… and {count - MAX_FINDINGS} more of {what}: --out has them all"


def _group(head: str, group: DisagreementGroup, token: Token) -> Iterator[str]:
    split, heard = group.first, group.heard
    who = ", ".join(f"{name} {_number(len(some), 'time')}" for name, some in group.members.items())
    yield f"{head:<6}{group.format_id}: {group.reason}: {who}; written by {_names(group.producers)}"
    yield f"  {heard.adapter}: {shorten(split.difference(heard), MAX_OUTPUT)}"
    label = split.majority[0].read.verdict.label
    yield f"  alike   {_names([one.adapter for one in split.majority])} ({label})"
    if others := [one.adapter for one in split.apart if one is not heard]:
        yield f"  apart   {_names(others)}"
    loud = heard if gates(heard.read.verdict.name, "must") else split.majority[0]
    yield f"  replay  {_replay(token(split.encoded_message.case), loud.adapter)}"


def _wrote(spec: str, some: list[EncodeResult], token: Token) -> Iterator[str]:
    first = some[0]
    verdict, case = first.verdict, first.post.case
    values = _number(len(some), "value")
    yield " ".join(
        part for part in ("WRONG", spec, f"writes {case.format_id}:", values, verdict.path) if part
    )
    yield f"  want    {verdict.want}"
    yield f"  got     {verdict.got} ({verdict.label})"
    yield f"  replay  {_replay(token(case), spec)}"


def _replay(token: str, spec: str) -> str:
    return f"wireproof replay {shlex.quote(token)} {shlex.quote(spec)}"


def _number(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _names(names: Sequence[str]) -> str:
    more = f" and {len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else ""
    return ", ".join(names[:MAX_NAMES]) + more


# --- the page ---


def interop_page(shown: InteropView, page: Page) -> str:
    """Render the HTML file: the matrix of producers and readers, then the matrix of all cases."""
    streams = shown.results.streams
    columns = [Column(stream.run, count_verdicts(stream), stream.complete, by_id=False) for stream in streams]
    about = f"{_number(shown.exchanged.ask.count, 'value')} of each format, seed {shown.exchanged.ask.seed}"
    findings = render_template("interop_findings.html", lines=list(lines_below(shown)))
    charts = [*map(_matrix_html, format_matrices(shown)), findings]
    return render_board(Board(columns, matrix(streams), about, charts), page)


def _matrix_html(sheet: FormatMatrix) -> "Markup":
    """Render the matrix of one format as an HTML table."""
    rows = [
        (producer, _of(*wrote), [_word(cell, wrote[0]) for cell in cells])
        for producer, wrote, cells in zip(sheet.producers, sheet.wrote, sheet.cells, strict=True)
    ]
    return render_template("interop_matrix.html", sheet=sheet, rows=rows)
