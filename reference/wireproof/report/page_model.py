"""What a page of cases × implementations is drawn from: columns, topics, where cases and rules are found."""

from collections.abc import Mapping, Sequence
from typing import Final

from attrs import field, frozen

from wireproof.cases.case import Case
from wireproof.cases.rules import Rule
from wireproof.report.failure_groups import Lookup, no_lookup
from wireproof.report.matrix import MatrixTopic
from wireproof.runner.events import Run

_COLOURS: Final = {
    "pass": "pass",
    "info": "info",
    "lenient": "mild",
    "pass-unclassified": "mild",
    "undocumented": "mild",
    "unsupported": "dim",
    "not-run": "dim",
    "frame": "pass",
    "tail": "mild",
}
"""How a verdict looks; the last two are what the reference says of the items of a scan."""


@frozen
class Page:
    """What the page shows besides the streams.

    Attributes:
        lookup: from an event to its case.
        cases: by id, for twins.
        rules: by id.
    """

    title: str = "wireproof"
    lookup: Lookup = no_lookup
    cases: Mapping[str, Case] = field(factory=dict)
    rules: Mapping[str, Rule] = field(factory=dict)


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
        charts: rendered HTML above the matrix. A text that is not `Markup` is escaped.
        unit: what a row counts.
        notes: lines that stand below the summary.
    """

    columns: Sequence[Column]
    topics: Sequence[MatrixTopic]
    about: str = ""
    charts: Sequence[str] = field(factory=tuple)
    unit: str = "cases"
    notes: Sequence[str] = field(factory=tuple)


def verdict_class(verdict: str) -> str:
    """Return the CSS class of a verdict: `pass`, `info`, `mild`, `dim` or `bad`."""
    return _COLOURS.get(verdict, "bad")
