"""One HTML file that needs nothing else: the matrix, and behind each row its bytes, fields and replay line.

See `architecture.md#events`. The cases and answers of the page are data (`payload`), which its script sets as
text; the few words that stand in the page itself go through `html.escape`.
"""

from collections.abc import Iterator, Sequence
from html import escape
from importlib.resources import files
from string import Template
from typing import Final

from wireproof.report.failure_groups import count_verdicts
from wireproof.report.matrix import matrix
from wireproof.report.page_data import data_element, page_data_of
from wireproof.report.page_model import Board, Column, Page, verdict_class
from wireproof.report.sanitize import escape_unsafe
from wireproof.report.uncompared_fields import uncompared_lines
from wireproof.runner.event_files import EventStream

__all__ = ["Board", "Column", "Page", "html", "render_board"]

_TEMPLATES: Final = files("wireproof.report").joinpath("templates")


def _text(text: str) -> str:
    """Escape text for an element or an attribute."""
    return escape(escape_unsafe(text))


def html(streams: Sequence[EventStream], page: Page | None = None) -> str:
    """Render the HTML file of runs."""
    columns = [Column(stream.run, count_verdicts(stream), stream.complete) for stream in streams]
    hidden = [f"{stream.run.adapter}: {line}" for stream in streams for line in uncompared_lines(stream.run)]
    return render_board(Board(columns, matrix(streams), _about(streams), notes=tuple(hidden)), page or Page())


def render_board(board: Board, page: Page) -> str:
    """Render the HTML file of a board."""
    partial = [f"{column.name}: incomplete" for column in board.columns if not column.complete]
    return Template(_file("matrix.html")).substitute(
        title=_text(page.title),
        about=_text("; ".join([board.about, *partial])),
        style=_file("matrix.css"),
        script=_file("matrix.js"),
        summary="".join(_summary(board.columns)),
        notes="".join(f'<p class="dim">{_text(note)}</p>' for note in board.notes),
        charts="\n".join(board.charts),
        unit=_text(board.unit.removesuffix("s")),
        data=data_element(page_data_of(board, page)),
    )


def _file(name: str) -> str:
    return _TEMPLATES.joinpath(name).read_text(encoding="utf-8")


def _about(streams: Sequence[EventStream]) -> str:
    return "; ".join(
        sorted(
            {f"suite {one.run.suite}, fixtures {one.run.fixtures}, seed {one.run.seed}" for one in streams}
        )
    )


def _summary(shown: Sequence[Column]) -> Iterator[str]:
    names = list(dict.fromkeys(name for column in shown for name in column.counts))
    yield '<table><thead><tr><th scope="col">implementation</th>'
    yield "".join(f'<th scope="col">{_text(name)}</th>' for name in names) + "</tr></thead><tbody>"
    for column in shown:
        cells = "".join(
            f'<td class="{verdict_class(name)}">{column.counts.get(name, "")}</td>' for name in names
        )
        yield f'<tr><th scope="row">{_text(column.name)}</th>{cells}</tr>'
    yield "</tbody></table>"
