"""One HTML file that needs nothing else: who is safe for which use, topics, findings, and the matrix.

See `architecture.md#events`. The cases and answers of the matrix are data (`matrix`), which the script shows
as text. The template escapes the words that are in the page itself.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Final

from attrs import frozen

from wireproof.report.diff import version_of
from wireproof.report.failure_groups import count_verdicts
from wireproof.report.matrix import Column, MatrixTopic, Page, data_element, matrix, verdict_class
from wireproof.report.overview import (
    Finding,
    Grid,
    Tally,
    VersionLine,
    findings,
    tallies,
    tally,
    topic_grids,
    version_lines,
)
from wireproof.report.terminal import note_lines, provisional_lines
from wireproof.report.uses import Section, State, UseSentence, implementations, role_sentences, sections
from wireproof.run.baselines.baseline import NO_BASELINE, AppliedBaseline, baseline_lines
from wireproof.run.conclusion import conclusion_sentence, count_judged, is_whole
from wireproof.run.events import EventStream
from wireproof.wire.text import counted, escape_unsafe

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

# --- html template ---
#
# Jinja2 is imported when a page is written, not before: other commands must start without it.


PACKAGE: Final = "wireproof.report"


@cache
def _templates() -> "Environment":
    """Return an environment that escapes every value; a name without a value is an error."""
    from jinja2 import Environment, PackageLoader, StrictUndefined  # noqa: PLC0415 - see above

    return Environment(
        loader=PackageLoader(PACKAGE, "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: escape_unsafe(value) if type(value) is str else value,
    )


def template_file(name: str) -> "Markup":
    """Return a file of the folder `templates` as it is: a style sheet or a script."""
    return safe_html(files(PACKAGE).joinpath("templates", name).read_text(encoding="utf-8"))


def safe_html(text: str) -> "Markup":
    """Mark text as HTML, which templates do not escape: its caller has escaped the values in it."""
    from markupsafe import Markup  # noqa: PLC0415 - it comes with Jinja2

    return Markup(text)  # noqa: S704 - used for our own files, rendered templates and escaped JSON


# --- the page ---


@frozen
class Board:
    """The content of the page.

    Attributes:
        topics: the rows of the matrix; each has a cell for each column.
        about: the origin of the data.
        unit: the unit that a row counts.
        sections: who is safe for which use; empty without requirement sets.
        found: the kinds of failure, the most severe first.
        sums: the right and wrong answers of each column.
        grids: heat maps in place of those of the topics, with their title and a note.
    """

    columns: Sequence[Column]
    topics: Sequence[MatrixTopic]
    lead: str = ""
    about: str = ""
    unit: str = "cases"
    notes: Sequence[str] = ()
    sections: Sequence[Section] = ()
    sentences: Sequence[UseSentence] = ()
    found: Sequence[Finding] = ()
    sums: Sequence[Tally] = ()
    grids: Sequence[Grid] = ()
    grids_title: str = "Where it goes wrong"
    grids_note: str = ""
    versions: Sequence[VersionLine] = ()


STATES: Final[Mapping[State, tuple[str, str]]] = {
    "fails": ("✗", "not safe"),
    "damaged": ("△", "valid data only"),
    "unknown": ("–", "undecided"),
    "open": ("✓", "no fault found"),
    "met": ("✓", "safe"),
}
"""The sign and the words of each state of a use, failures first."""

FULL: Final = 8
"""The number of findings, and of sentences, that are shown unfolded."""


def html(
    streams: Sequence[EventStream], page: Page | None = None, baselines: Sequence[AppliedBaseline] = ()
) -> str:
    """Render the HTML file of runs; failures that their baselines expect are marked as known."""
    page = page or Page()
    applied = list(baselines) or [NO_BASELINE] * len(streams)
    overlays = [one.overlays for one in applied]
    known = [{name for name, overlay in one.items() if overlay == "expected"} for one in overlays]
    columns = [Column(stream.run, count_verdicts(stream), stream.complete) for stream in streams]
    runs = (stream.run for stream in streams)
    about = {f"suite {run.suite}, fixtures {run.fixtures}, seed {run.seed}" for run in runs}
    versions = implementations(page.uses, streams)
    sentences = [
        sentence
        for stream, overlay in zip(streams, overlays, strict=True)
        if page.uses
        for sentence in role_sentences(page.uses, stream, overlay)
    ]
    board = Board(
        columns,
        matrix(streams, known),
        _lead(streams),
        "; ".join(sorted(about)),
        notes=tuple(_notes(streams, applied)),
        sums=[tally(one.cases, one.run, ids) for one, ids in zip(streams, known, strict=True)],
        sections=tuple(sections(page.uses, versions)),
        sentences=sorted(sentences, key=lambda one: list(STATES).index(one.state)),
        found=findings(streams, [column.name for column in columns], known, numbers=page.numbers),
        versions=tuple(version_lines(versions, page.cases)),
    )
    return render_board(board, page)


def _lead(streams: Sequence[EventStream]) -> str:
    """Return the implementations if they are few, the number of cases, the days, and what is incomplete."""
    names = [f"{one.run.adapter} {version_of(one.run)}".strip() for one in streams]
    days = sorted({one.run.started[:10] for one in streams if one.run.started})
    cases = sum(count_judged(one.cases) for one in streams)
    parts = (
        ", ".join(names) if len(names) <= FULL else "",
        counted(cases, "judged case") + (f" in {len(streams)} runs" if len(streams) > 1 else ""),
        " to ".join(days[:1] + days[1:][-1:]),
        *(f"{one.run.adapter}: {conclusion_sentence(one)}" for one in streams if not is_whole(one)),
    )
    return " · ".join(filter(None, parts))


def _notes(streams: Sequence[EventStream], baselines: Sequence[AppliedBaseline]) -> Iterator[str]:
    """Yield what each run concludes, did not compare, corrected and found below its level."""
    yield from dict.fromkeys(line for stream in streams for line in provisional_lines(stream))
    for stream, applied in zip(streams, baselines, strict=True):
        lines = (
            conclusion_sentence(stream, applied),
            *baseline_lines(stream, applied),
            *note_lines(stream, applied),
        )
        yield from (f"{stream.run.adapter}: {line}" for line in lines if line)


def render_board(board: Board, page: Page) -> str:
    listed = [
        version.stream.run for section in board.sections for row in section.rows for version in row.versions
    ]
    names = [column.name for column in board.columns]
    grids = board.grids or list(topic_grids(tallies(board.topics, board.columns), names))
    return (
        _templates()
        .get_template("page.html")
        .render(
            title=page.title,
            board=board,
            partial=[column.name for column in board.columns if not column.complete],
            style=template_file("page.css"),
            script=template_file("page.js"),
            apart=[one for one in zip(board.columns, board.sums, strict=True) if one[0].run not in listed],
            states=STATES,
            uses=list({use.id: use for section in board.sections for use in section.uses}.values()),
            grids=grids,
            full=FULL,
            most=FULL + 100,  # the matrix has all
            why=lambda event: case.why if (case := page.lookup(event)) is not None else "",
            verdicts=list(dict.fromkeys(name for column in board.columns for name in column.counts)),
            verdict_class=verdict_class,
            data=safe_html(data_element(board.columns, board.topics, page)),  # it escapes `<`
        )
    )
