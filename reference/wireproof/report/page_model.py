"""The model of a page of cases × implementations: columns, topics, and the cases and rules it can find."""

from collections.abc import Mapping, Sequence
from typing import Final

from attrs import field, frozen

from wireproof.cases.case import Case
from wireproof.cases.rules import Rule
from wireproof.cases.sources import Sources
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
"""The CSS class of each verdict; the last two are verdicts of the reference on items of a scan."""


@frozen
class Page:
    """The cases and rules that the page shows besides the streams.

    Attributes:
        lookup: returns the case of an event.
        cases: by id, for twins.
        rules: by id.
        sources: the documents that the rules cite.
    """

    title: str = "wireproof"
    lookup: Lookup = no_lookup
    cases: Mapping[str, Case] = field(factory=dict)
    rules: Mapping[str, Rule] = field(factory=dict)
    sources: Sources = field(factory=dict)


@frozen
class Column:
    """An implementation.

    Attributes:
        run: the manifest of its run.
        counts: cases by verdict.
        complete: True if all cases were run.
        by_id: True if a case can be replayed by its id; else only a case with a token can.
    """

    run: Run
    counts: Mapping[str, int]
    complete: bool = True
    by_id: bool = True

    @property
    def name(self) -> str:
        """Return the name and version of the implementation."""
        return f"{self.run.adapter} {self.run.version}".strip()


@frozen
class Board:
    """The content of the page.

    Attributes:
        columns: the implementations.
        topics: the rows; each has a cell for each column.
        about: the origin of the data.
        charts: rendered HTML above the matrix. A text that is not `Markup` is escaped.
        unit: the unit that a row counts.
        notes: lines below the summary.
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
