"""The history of releases as one HTML file: a row for each failing case, a column for each version."""

from collections.abc import Iterator, Sequence
from typing import Final

from attrs import frozen

from wireproof.report.history import AdapterHistory, FirstFailure
from wireproof.report.html_template import render_template, template_file
from wireproof.report.page_model import verdict_class

MARKS: Final = {"pass": "✓", "info": "i", "mild": "~", "bad": "✗", "dim": "–"}
"""The mark of a cell by the class of its verdict, so that no colour alone tells it."""

ALWAYS: Final = "in every release that was judged"

NOT_JUDGED: Final = ("dim", MARKS["dim"], "not judged")


@frozen
class HistoryRow:
    """A case that at least one version fails.

    Attributes:
        turns: what happened, one line for each time that it began to fail.
        cells: class, mark and verdict of each version.
    """

    id: str
    turns: tuple[str, ...]
    cells: tuple[tuple[str, str, str], ...]


@frozen
class HistorySection:
    """Rows of one kind: cases that were fixed, that broke, or that every version fails."""

    title: str
    rows: tuple[HistoryRow, ...]


@frozen
class HistoryBoard:
    """The part of the page about one adapter."""

    history: AdapterHistory
    sections: tuple[HistorySection, ...]


def history_html(found: Sequence[AdapterHistory]) -> str:
    """Render the page: it has no script, and shows what happened as text on a narrow screen."""
    names = " · ".join(one.adapter for one in found)
    return render_template(
        "history.html",
        title=f"{names}: releases" if names else "releases",
        boards=[HistoryBoard(one, tuple(_sections(one))) for one in found],
        legend=[(MARKS[style], style, text) for style, text in _LEGEND.items()],
        style=template_file("matrix.css") + template_file("history.css"),
    )


_LEGEND: Final = {"pass": "passes", "mild": "refuses without the reason", "bad": "fails", "dim": "not judged"}


def _sections(one: AdapterHistory) -> Iterator[HistorySection]:
    """Yield the sections that have rows, what a release fixed first."""
    turns: dict[str, list[FirstFailure]] = {}
    for turn in one.turns:
        turns.setdefault(turn.id, []).append(turn)
    kinds: dict[str, list[HistoryRow]] = {title: [] for title in ("fixed", "broken", ALWAYS)}
    for case, some in turns.items():
        kinds[_kind(some)].append(_row(one, case, some))
    yield from (HistorySection(title, tuple(rows)) for title, rows in kinds.items() if rows)


def _kind(turns: Sequence[FirstFailure]) -> str:
    if not any(turn.changed for turn in turns):
        return ALWAYS
    return "fixed" if turns[-1].fixed_in else "broken"


def _row(one: AdapterHistory, case: str, turns: Sequence[FirstFailure]) -> HistoryRow:
    texts = tuple(str(turn).removeprefix(f"{turn.id}: ") for turn in turns)
    return HistoryRow(case, texts, tuple(_cell(one.labels[case].get(version)) for version in one.releases))


def _cell(label: str | None) -> tuple[str, str, str]:
    if label is None:
        return NOT_JUDGED
    style = verdict_class(label.partition(":")[0])
    return style, MARKS[style], label
