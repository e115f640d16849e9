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

FLAKY: Final = "flaky: two runs of one release differ"
DIFFERS: Final = "≠"
"""The mark of a release whose two runs differ."""


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
    """The part of the page about one adapter.

    Attributes:
        history: the releases.
        sections: the rows with a cell for each release.
        constant: the case and its verdicts, where every release that was judged fails it.
    """

    history: AdapterHistory
    sections: tuple[HistorySection, ...]
    constant: tuple[tuple[str, str], ...]

    @property
    def judged(self) -> str:
        """Return the number of cases that a release was judged by, or the least and the most."""
        counts = sorted({judged for _, judged in self.history.passed.values()})
        return f"{counts[0]} to {counts[-1]}" if len(counts) > 1 else "".join(map(str, counts))


def history_html(found: Sequence[AdapterHistory]) -> str:
    """Render the page: it has no script, and shows what happened as text on a narrow screen."""
    names = " · ".join(one.adapter for one in found)
    return render_template(
        "history.html",
        title=f"{names}: releases" if names else "releases",
        boards=[HistoryBoard(one, tuple(_sections(one)), tuple(_constant(one))) for one in found],
        always=ALWAYS,
        legend=[(MARKS[style], style, text) for style, text in _LEGEND.items()],
        style=template_file("matrix.css") + template_file("history.css"),
    )


_LEGEND: Final = {"pass": "passes", "mild": "refuses without the reason", "bad": "fails", "dim": "not judged"}
"""The marks; that of a flaky case is in its section."""


def _sections(one: AdapterHistory) -> Iterator[HistorySection]:
    """Yield the sections that have rows, what a release fixed first."""
    turns: dict[str, list[FirstFailure]] = {}
    for turn in one.turns:
        turns.setdefault(turn.id, []).append(turn)
    kinds: dict[str, list[HistoryRow]] = {title: [] for title in ("fixed", "broken", FLAKY)}
    for case, some in turns.items():
        if any(turn.changed for turn in some):
            kinds["fixed" if some[-1].fixed_in else "broken"].append(_row(one, case, some))
    kinds[FLAKY] += (_row(one, case, ()) for case in one.flaky)
    yield from (HistorySection(title, tuple(rows)) for title, rows in kinds.items() if rows)


def _constant(one: AdapterHistory) -> Iterator[tuple[str, str]]:
    """Yield each case that no release passes, with the verdicts that it has."""
    for turn in one.turns:
        if not turn.changed:
            yield turn.id, ", ".join(dict.fromkeys(one.labels[turn.id].values()))


def _row(one: AdapterHistory, case: str, turns: Sequence[FirstFailure]) -> HistoryRow:
    texts = tuple(str(turn).removeprefix(f"{turn.id}: ") for turn in turns)
    both = one.flaky.get(case, {})
    cells = (_cell(one.labels[case].get(version), flaky=version in both) for version in one.releases)
    return HistoryRow(case, texts, tuple(cells))


def _cell(label: str | None, *, flaky: bool) -> tuple[str, str, str]:
    if label is None:
        return NOT_JUDGED
    if flaky:
        return "mild", DIFFERS, label
    style = verdict_class(label.partition(":")[0])
    return style, MARKS[style], label
