"""One HTML file that needs nothing else: the matrix, and behind each row its bytes, fields and replay line.

Design, section 5. Whatever comes from an adapter or a fixture goes through `html.escape`.
"""

from collections.abc import Iterator, Sequence
from html import escape
from importlib.resources import files
from string import Template
from typing import Final

from attrs import frozen

from wireproof.cases.case import Case
from wireproof.report.excerpt import data_of, layout_of
from wireproof.report.failure import replay
from wireproof.report.fieldtree import lines
from wireproof.report.groups import Lookup, counts, nowhere
from wireproof.report.matrix import Cell, Row, Topic, matrix
from wireproof.report.visible import visible
from wireproof.trial.events import CaseEvent
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
}


@frozen
class Page:
    """What the page shows besides the streams."""

    title: str = "wireproof"
    lookup: Lookup = nowhere


def _text(text: str) -> str:
    """Text for an element or an attribute."""
    return escape(visible(text))


def html(streams: Sequence[Stream], page: Page | None = None) -> str:
    """The whole file."""
    page = page or Page()
    source = files("wireproof.report").joinpath("templates/matrix.html").read_text(encoding="utf-8")
    return Template(source).substitute(
        title=_text(page.title),
        about=_text(_about(streams)),
        summary="".join(_summary(streams)),
        columns="".join(f"<th>{_text(_name(stream))}</th>" for stream in streams),
        body="".join(part for topic in matrix(streams) for part in _topic(topic, streams, page)),
    )


def _name(stream: Stream) -> str:
    return f"{stream.run.adapter} {stream.run.version}".strip()


def _about(streams: Sequence[Stream]) -> str:
    facts = {f"suite {run.run.suite}, fixtures {run.run.fixtures}, seed {run.run.seed}" for run in streams}
    partial = [_name(run) for run in streams if not run.complete]
    return "; ".join([*sorted(facts), *(f"{name}: incomplete" for name in partial)])


def _summary(streams: Sequence[Stream]) -> Iterator[str]:
    columns = list(dict.fromkeys(name for stream in streams for name in counts(stream)))
    yield "<table><thead><tr><th>implementation</th>"
    yield "".join(f"<th>{_text(name)}</th>" for name in columns) + "</tr></thead><tbody>"
    for stream in streams:
        seen = counts(stream)
        cells = "".join(f'<td class="{_colour(name)}">{seen.get(name, "")}</td>' for name in columns)
        yield f"<tr><td>{_text(_name(stream))}</td>{cells}</tr>"
    yield "</tbody></table>"


def _colour(verdict: str) -> str:
    return _COLOURS.get(verdict, "bad")


def _topic(topic: Topic, streams: Sequence[Stream], page: Page) -> Iterator[str]:
    total = sum(len(row.ids) for row in topic.rows)
    yield '<tbody class="topic">'
    yield f'<tr class="head"><td colspan="{len(streams) + 1}">{_text(topic.name)}'
    yield f' <span class="dim">{total} cases</span></td></tr>\n'
    for row in topic.rows:
        yield from _row(row, topic.name, streams, page)
    yield "</tbody>\n"


def _row(row: Row, topic: str, streams: Sequence[Stream], page: Page) -> Iterator[str]:
    cells = [cell for cell in row.cells if cell is not None]
    words = {*row.ids, topic, *(c.event.label for c in cells), *(r for c in cells for r in c.event.rules)}
    quiet = ' data-quiet="1"' if row.quiet else ""
    yield f'<tr class="row" data-words="{_text(" ".join(sorted(words)).lower())}"{quiet}><td>'
    yield f'<details><summary class="id">{_text(_title(row, topic))}</summary>'
    yield from _details(row, streams, page)
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


def _details(row: Row, streams: Sequence[Stream], page: Page) -> Iterator[str]:
    loudest = next((c.event for c in row.cells if c is not None and _colour(c.event.verdict) == "bad"), None)
    event = loudest or next(c.event for c in row.cells if c is not None)
    case = page.lookup(event)
    yield "<dl>" + "".join(f"<dt>{_text(n)}</dt><dd>{_text(t)}</dd>" for n, t in _facts(event, case) if t)
    for stream, cell in zip(streams, row.cells, strict=True):
        if cell is not None:
            yield f"<dt>{_text(stream.run.adapter)}</dt><dd>{_said(cell.event, stream)}</dd>"
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


def _said(event: CaseEvent, stream: Stream) -> str:
    text = " — ".join(part for part in (event.label, event.got, cut(event.text, LINE)) if part)
    return f"{_text(text)}<br><code>{_text(replay(event, stream.run))}</code>"


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
