"""One HTML file that needs nothing else: the matrix, and behind each row its bytes, fields and replay line.

See `architecture.md#events`. The cases and answers of the page are data (`page_data`), which its script shows
as text. The template escapes the few words that are in the page itself.
"""

from collections.abc import Sequence

from wireproof.report.below_level import below_level_lines
from wireproof.report.corrected_cases import corrected_lines
from wireproof.report.failure_groups import count_verdicts
from wireproof.report.html_template import render_template, safe_html, template_file
from wireproof.report.matrix import matrix
from wireproof.report.page_data import data_element, page_data_of
from wireproof.report.page_model import Board, Column, Page, verdict_class
from wireproof.report.provisional import provisional_lines
from wireproof.report.uncompared_fields import uncompared_lines
from wireproof.runner.conclusion import conclusion_sentence, examples_line
from wireproof.runner.event_files import EventStream

__all__ = ["Board", "Column", "Page", "about_runs", "html", "render_board"]


def html(streams: Sequence[EventStream], page: Page | None = None) -> str:
    """Render the HTML file of runs."""
    columns = [Column(stream.run, count_verdicts(stream), stream.complete) for stream in streams]
    provisional = dict.fromkeys(line for stream in streams for line in provisional_lines(stream))
    hidden = [f"{stream.run.adapter}: {line}" for stream in streams for line in uncompared_lines(stream)]
    corrected = [
        f"{stream.run.adapter}: {line}" for stream in streams for line in corrected_lines(stream.run)
    ]
    met = [
        f"{stream.run.adapter}: {conclusion_sentence(stream)}"
        for stream in streams
        if stream.run.requirements
    ]
    below = [f"{stream.run.adapter}: {line}" for stream in streams for line in below_level_lines(stream)]
    drawn = [f"{stream.run.adapter}: {line}" for stream in streams if (line := examples_line(stream))]
    notes = (*met, *provisional, *hidden, *corrected, *below, *drawn)
    return render_board(Board(columns, matrix(streams), about_runs(streams), notes=notes), page or Page())


def render_board(board: Board, page: Page) -> str:
    """Render the HTML file of a board."""
    partial = [f"{column.name}: incomplete" for column in board.columns if not column.complete]
    return render_template(
        "matrix.html",
        title=page.title,
        about="; ".join([board.about, *partial]),
        style=template_file("matrix.css"),
        script=template_file("matrix.js"),
        columns=board.columns,
        verdicts=list(dict.fromkeys(name for column in board.columns for name in column.counts)),
        verdict_class=verdict_class,
        notes=board.notes,
        charts=board.charts,
        unit=board.unit.removesuffix("s"),
        data=safe_html(data_element(page_data_of(board, page))),  # it escapes `<`, which alone ends a script
    )


def about_runs(streams: Sequence[EventStream]) -> str:
    """Return the version of the suite, the digest of its fixtures and the seed of runs."""
    return "; ".join(
        sorted(
            {f"suite {one.run.suite}, fixtures {one.run.fixtures}, seed {one.run.seed}" for one in streams}
        )
    )
