"""One HTML file that needs nothing else: the matrix, and behind each row its bytes, fields and replay line.

Design, section 5. Whatever comes from an adapter or a fixture goes through `html.escape`.
"""

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from importlib.resources import files
from string import Template
from typing import Final

from attrs import field, frozen

from wireproof.cases.case import Case
from wireproof.report.excerpt import data_of, layout_of
from wireproof.report.failure import replay
from wireproof.report.fieldtree import lines
from wireproof.report.groups import Lookup, counts, nowhere
from wireproof.report.matrix import Cell, Row, Topic, matrix
from wireproof.report.visible import visible
from wireproof.trial.events import CaseEvent, Run
from wireproof.trial.show import LINE, cut
from wireproof.trial.streams import Stream
from wireproof.wire.rejected import At

MOST_BYTES: Final = 512
"""Bytes that a row shows; more are counted."""

MOST_FIELDS: Final = 120
"""Fields that a row shows."""

MOST_IDS: Final = 200
"""Ids that a folded row lists."""

_COLOURS: Final = {
    "pass": "pass",
    "info": "info",
    "lenient": "mild",
    "pass-unclassified": "mild",
    "unsupported": "dim",
    "not-run": "dim",
    "frame": "pass",
    "tail": "mild",
}
"""How a verdict looks; the last two are what the reference says of the items of a scan."""


@frozen
class Page:
    """What the page shows besides the streams."""

    title: str = "wireproof"
    lookup: Lookup = nowhere


@frozen
class Column:
    """An implementation.

    Attributes:
        run: who it is, and how it was asked for.
        counts: cases by verdict.
        complete: whether it was asked everything.
        by_id: whether a case is asked again by its id; else only one that has a token.
    """

    run: Run
    counts: Mapping[str, int]
    complete: bool = True
    by_id: bool = True

    @property
    def name(self) -> str:
        """Name and version."""
        return f"{self.run.adapter} {self.run.version}".strip()


@frozen
class Board:
    """What the page is drawn from.

    Attributes:
        columns: the implementations.
        topics: the rows; each has a cell for each column.
        about: where it all comes from.
        charts: SVG, which stands above the matrix as it is.
        unit: what a row counts.
    """

    columns: Sequence[Column]
    topics: Sequence[Topic]
    about: str = ""
    charts: Sequence[str] = field(factory=tuple)
    unit: str = "cases"


def _text(text: str) -> str:
    """Text for an element or an attribute."""
    return escape(visible(text))


def html(streams: Sequence[Stream], page: Page | None = None) -> str:
    """The whole file, of runs of cases."""
    columns = [Column(stream.run, counts(stream), stream.complete) for stream in streams]
    return drawn(Board(columns, matrix(streams), _about(streams)), page or Page())


def drawn(board: Board, page: Page) -> str:
    """The whole file."""
    source = files("wireproof.report").joinpath("templates/matrix.html").read_text(encoding="utf-8")
    partial = [f"{column.name}: incomplete" for column in board.columns if not column.complete]
    return Template(source).substitute(
        title=_text(page.title),
        about=_text("; ".join([board.about, *partial])),
        summary="".join(_summary(board.columns)),
        charts="\n".join(board.charts),
        unit=_text(board.unit.removesuffix("s")),
        columns="".join(f"<th>{_text(column.name)}</th>" for column in board.columns),
        body="".join(part for topic in board.topics for part in _topic(topic, board, page)),
    )


def _about(streams: Sequence[Stream]) -> str:
    return "; ".join(
        sorted(
            {f"suite {one.run.suite}, fixtures {one.run.fixtures}, seed {one.run.seed}" for one in streams}
        )
    )


def _summary(shown: Sequence[Column]) -> Iterator[str]:
    names = list(dict.fromkeys(name for column in shown for name in column.counts))
    yield "<table><thead><tr><th>implementation</th>"
    yield "".join(f"<th>{_text(name)}</th>" for name in names) + "</tr></thead><tbody>"
    for column in shown:
        cells = "".join(f'<td class="{_colour(name)}">{column.counts.get(name, "")}</td>' for name in names)
        yield f"<tr><td>{_text(column.name)}</td>{cells}</tr>"
    yield "</tbody></table>"


def _colour(verdict: str) -> str:
    return _COLOURS.get(verdict, "bad")


def _topic(topic: Topic, board: Board, page: Page) -> Iterator[str]:
    total = sum(row.weight for row in topic.rows)
    yield '<tbody class="topic">'
    yield f'<tr class="head"><td colspan="{len(board.columns) + 1}">{_text(topic.name)}'
    yield f' <span class="dim">{total} {_text(board.unit)}</span></td></tr>\n'
    for row in topic.rows:
        yield from _row(row, topic.name, board, page)
    yield "</tbody>\n"


def _row(row: Row, topic: str, board: Board, page: Page) -> Iterator[str]:
    cells = [cell for cell in row.cells if cell is not None]
    words = {*row.ids, topic, *(c.event.label for c in cells), *(r for c in cells for r in c.event.rules)}
    quiet = ' data-quiet="1"' if row.quiet else ""
    yield f'<tr class="row" data-words="{_text(" ".join(sorted(words)).lower())}"{quiet}><td>'
    yield f'<details><summary class="id">{_text(_title(row, topic))}</summary>'
    yield from _details(row, board, page)
    yield "</details></td>"
    yield "".join(_cell(cell) for cell in row.cells) + "</tr>\n"


def _title(row: Row, topic: str) -> str:
    first = row.ids[0].removeprefix(f"{topic}/")
    return first if len(row.ids) == 1 else f"{first} and {len(row.ids) - 1} more with these results"


def _cell(cell: Cell | None) -> str:
    if cell is None:
        return '<td class="v dim">–</td>'
    times = f" ×{cell.count}" if cell.count > 1 else ""
    return f'<td class="v {_colour(cell.event.verdict)}">{_text(cell.event.label)}{times}</td>'


def _details(row: Row, board: Board, page: Page) -> Iterator[str]:
    loudest = next((c.event for c in row.cells if c is not None and _colour(c.event.verdict) == "bad"), None)
    event = loudest or next(c.event for c in row.cells if c is not None)
    case = page.lookup(event)
    yield "<dl>" + "".join(f"<dt>{_text(n)}</dt><dd>{_text(t)}</dd>" for n, t in _facts(event, case) if t)
    for column, cell in zip(board.columns, row.cells, strict=True):
        if cell is not None:
            yield f"<dt>{_text(column.run.adapter)}</dt><dd>{_said(cell.event, column)}</dd>"
    yield "</dl>"
    if case is not None:
        yield from _bytes(case, event.at)
    if len(row.ids) > 1:
        more = "" if len(row.ids) <= MOST_IDS else f"\n… {len(row.ids) - MOST_IDS} more"
        yield f'<pre class="wrap">{_text(" ".join(row.ids[:MOST_IDS]) + more)}</pre>'


def _facts(event: CaseEvent, case: Case | None) -> list[tuple[str, str]]:
    facts = [
        ("case", event.id),
        ("title", event.title),
        ("level", event.level),
        ("rule", ", ".join(event.rules)),
    ]
    if case is not None:
        witnesses = ", ".join(f"{w.name} {w.version}".strip() for w in case.source.witnesses)
        facts += [
            ("why", case.why),
            ("source", case.source.document or case.source.origin),
            ("ran on", witnesses),
        ]
    return [*facts, ("twin", event.twin), ("want", event.want)]


def _said(event: CaseEvent, column: Column) -> str:
    parts = (event.label, "" if column.by_id else event.cls, event.got, cut(event.text, LINE))
    text = _text(" — ".join(part for part in parts if part))
    if not (event.token or column.by_id):
        return text
    return f"{text}<br><code>{_text(replay(event, column.run))}</code>"


def _bytes(case: Case, at: At | None) -> Iterator[str]:
    data = data_of(case)
    if data is None:
        return
    yield f'<pre class="wrap">{_hex(data)}</pre>'
    layout = layout_of(case)
    if layout is None:
        return
    yield "<pre>"
    for number, line in enumerate(lines(layout, at)):
        if number == MOST_FIELDS:
            yield "…"
            break
        text = _text(str(line))
        yield (f'<span class="mark">{text}</span>' if line.marked else text) + "\n"
    yield "</pre>"


def _hex(data: bytes) -> str:
    more = "" if len(data) <= MOST_BYTES else f" … {len(data) - MOST_BYTES} more bytes"
    return data[:MOST_BYTES].hex(" ") + more
