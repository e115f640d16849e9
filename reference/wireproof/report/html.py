"""One HTML file that needs nothing else: the matrix, and behind each row its bytes, fields and replay line.

See `architecture.md#events`. The cases and answers of the page are data (`page_data`), which its script shows
as text. The template escapes the few words that are in the page itself.
"""

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final

from wireproof.wire.safe_text import escape_unsafe

if TYPE_CHECKING:
    from jinja2 import BaseLoader, Environment
    from markupsafe import Markup
from collections.abc import Sequence

from wireproof.report.closing_lines import (
    below_level_lines,
    corrected_lines,
    provisional_lines,
    uncompared_lines,
)
from wireproof.report.failure_groups import count_verdicts
from wireproof.report.matrix import Board, Column, Page, data_element, matrix, page_data_of, verdict_class
from wireproof.runner.conclusion import conclusion_sentence, examples_line
from wireproof.runner.events import EventStream

# --- html template ---
#
# The Jinja2 environment of every HTML page: it escapes each value that a template shows.
#
# Jinja2 is imported when a page is written, not before: other commands must start without it.


PACKAGE: Final = "wireproof.report"


def template_environment(loader: "BaseLoader") -> "Environment":
    """Return an environment that escapes every value; a name without a value is an error."""
    from jinja2 import Environment, StrictUndefined  # noqa: PLC0415 - see the docstring of the module

    return Environment(
        loader=loader,
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: escape_unsafe(value) if type(value) is str else value,
    )


def render_template(name: str, **values: Any) -> "Markup":  # noqa: ANN401 - the values of a template
    """Render a template of the folder `templates`. Other templates show the result without another escape."""
    return safe_html(_templates().get_template(name).render(**values))


def template_file(name: str) -> "Markup":
    """Return a file of the folder `templates` as it is: a style sheet or a script."""
    return safe_html(files(PACKAGE).joinpath("templates", name).read_text(encoding="utf-8"))


def safe_html(text: str) -> "Markup":
    """Mark text as HTML, which templates do not escape: its caller has escaped the values in it."""
    from markupsafe import Markup  # noqa: PLC0415 - it comes with Jinja2

    return Markup(text)  # noqa: S704 - used for our own files, rendered templates and escaped JSON


@cache
def _templates() -> "Environment":
    from jinja2 import PackageLoader  # noqa: PLC0415 - see the docstring of the module

    return template_environment(PackageLoader(PACKAGE, "templates"))


# --- html ---


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
