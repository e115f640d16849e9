"""Rules × implementations: for each rule, what every implementation does with the cases of the rule.

A row is a rule, a column a run. A cell lists each different behaviour once, the faults first, with the number
of its cases. The values are plain; `rule_page` renders them as HTML and Markdown.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from attrs import frozen

from wireproof.cases.fixtures import Suite
from wireproof.cases.rules import Rule
from wireproof.cases.sources import Citation, cited
from wireproof.report.failure_block import replay_command
from wireproof.report.page_model import verdict_class
from wireproof.runner.event_files import EventStream
from wireproof.runner.events import CaseEvent, Run
from wireproof.runner.signature import without_indices
from wireproof.runner.verdicts import ROWS

SHOWN: Final = 5
"""Number of cases of a behaviour whose replay commands are shown; the others are counted."""

MARKS: Final = {"pass": "✓", "info": "○", "mild": "△", "dim": "·", "bad": "✗"}
"""The sign of each CSS class of a verdict."""

LEGEND: Final = {
    "pass": "as required",
    "info": "one of the answers left open",
    "mild": "a recommendation broken, or a refusal with another error",
    "bad": "wrong",
    "dim": "not claimed",
}
"""The meaning of each sign."""

_WORST_FIRST: Final = ("bad", "mild", "info", "pass", "dim")

_REFUSES: Final = {
    "pass": "refuses",
    "info": "refuses",
    "pass-unclassified": "refuses, without the reason",
    "undocumented": "refuses, with an undocumented error",
    "blocked": "refuses, as it refuses the accepted twin",
    "fail:wrong-reject": "refuses what {level} be accepted",
    "fail:wrong-reason": "refuses, for another reason",
}
"""The refusals, by the label or the name of the verdict; the error follows."""

_ACCEPTS: Final = {
    "pass": "accepts",
    "info": "accepts",
    "lenient": "accepts what {level} be refused",
    "fail:wrong-accept": "accepts what {level} be refused",
    "unsupported": "not claimed",
    "not-run": "not run",
}
"""The other behaviours; the table of verdicts describes one that is missing here."""


@frozen
class RuleBehaviour:
    """What an implementation does with some cases of a rule.

    Attributes:
        style: the CSS class of the verdict.
        text: the behaviour in words.
        count: the number of cases.
        replays: the commands that judge the first of these cases again.
    """

    style: str
    text: str
    count: int
    replays: tuple[str, ...]

    @property
    def mark(self) -> str:
        """Return the sign of the verdict."""
        return MARKS[self.style]

    @property
    def more(self) -> int:
        """Return the number of cases without a replay command."""
        return self.count - len(self.replays)


Cell = tuple[RuleBehaviour, ...]


@frozen
class RuleRow:
    """A rule, and what each implementation does with its cases.

    Attributes:
        levels: of its cases, each once.
        places: the sources of the rule.
        cells: one for each run; empty if the run has none of its cases.
    """

    rule: Rule
    levels: tuple[str, ...]
    places: tuple[Citation, ...]
    cells: tuple[Cell, ...]

    @property
    def quiet(self) -> bool:
        """Return True if nobody breaks the rule, not even as a recommendation."""
        return all(one.style in ("pass", "info", "dim") for cell in self.cells for one in cell)


@frozen
class RuleTable:
    """The rows of a table by the document that states the rules; a name for each column."""

    columns: tuple[str, ...]
    documents: Mapping[str, tuple[RuleRow, ...]]

    @property
    def rows(self) -> Iterator[RuleRow]:
        """Yield all rows."""
        for some in self.documents.values():
            yield from some


def rule_table(streams: Sequence[EventStream], suite: Suite) -> RuleTable:
    """Return the table of runs: every rule that one of their cases tests, in the order of the documents."""
    by_rule: dict[str, list[list[CaseEvent]]] = {}
    for column, stream in enumerate(streams):
        for event in stream.cases:
            for name in event.deciding_rules:
                by_rule.setdefault(name, [[] for _ in streams])[column].append(event)
    documents: dict[str, list[RuleRow]] = {}
    for rule in sorted((_rule(suite, name) for name in by_rule), key=_place_of):
        row = _row(rule, by_rule[rule.id], [stream.run for stream in streams], suite)
        documents.setdefault(rule.document, []).append(row)
    return RuleTable(column_names(streams), {name: tuple(rows) for name, rows in documents.items()})


def column_names(streams: Sequence[EventStream]) -> tuple[str, ...]:
    """Return the name and version of each implementation, and its address where two have the same."""
    names = [f"{stream.run.adapter} {stream.run.version}".strip() for stream in streams]
    counts = Counter(names)
    return tuple(
        name if counts[name] == 1 else f"{name} ({stream.run.spec})"
        for name, stream in zip(names, streams, strict=True)
    )


def _rule(suite: Suite, name: str) -> Rule:
    return suite.rules.get(name) or Rule(name, "", "", "", "")


def _place_of(rule: Rule) -> tuple[str, list[int], str]:
    return rule.document, [int(number) for number in re.findall(r"\d+", rule.section)], rule.id


def _row(rule: Rule, by_column: Sequence[Sequence[CaseEvent]], runs: Sequence[Run], suite: Suite) -> RuleRow:
    found = {event.level for events in by_column for event in events}
    levels = tuple(level for level in ("must", "should", "may", "info") if level in found)
    cells = tuple(_cell(events, run) for events, run in zip(by_column, runs, strict=True))
    return RuleRow(rule, levels, tuple(cited(rule.cites, suite.sources)), cells)


def _cell(events: Sequence[CaseEvent], run: Run) -> Cell:
    rows = (
        RuleBehaviour(style, text, len(some), tuple(replay_command(event, run) for event in some[:SHOWN]))
        for (style, text), some in [*_answers(events).items(), *_changes(events).items()]
    )
    return tuple(sorted(rows, key=lambda row: (_WORST_FIRST.index(row.style), -row.count)))


Groups = dict[tuple[str, str], list[CaseEvent]]
"""The cases of each behaviour, by its CSS class and its text."""


def _answers(events: Sequence[CaseEvent]) -> Groups:
    """Group the cases whose value is right, or that have none, by what the implementation does."""
    found: Groups = {}
    for event in events:
        if not changed_fields(event):
            found.setdefault((verdict_class(event.verdict), behaviour_of(event)), []).append(event)
    return found


def _changes(events: Sequence[CaseEvent]) -> Groups:
    """Group the cases with another value by field; fields that differ in the same cases are one group."""
    by_field: dict[tuple[str, str], list[CaseEvent]] = {}
    for event in events:
        for name in changed_fields(event):
            by_field.setdefault((verdict_class(event.verdict), name), []).append(event)
    alike: dict[tuple[str, tuple[str, ...]], tuple[list[str], list[CaseEvent]]] = {}
    for (style, name), some in by_field.items():
        alike.setdefault((style, tuple(event.id for event in some)), ([], some))[0].append(name)
    return {
        (style, f"another value of {', '.join(names)}"): some for (style, _), (names, some) in alike.items()
    }


def changed_fields(event: CaseEvent) -> tuple[str, ...]:
    """Return the fields with another value, without indices; of a derived case the first one."""
    if event.broken:
        return ()
    if event.fields or event.label not in ("fail:wrong-value", "fail:not-round-trip"):
        return event.fields
    return (without_indices(event.path) or "the result",)


def behaviour_of(event: CaseEvent) -> str:
    """Describe what an implementation does with a case, in words that many cases share."""
    if event.broken:
        return "breaks it in a case that is not about it"
    words = _REFUSES if _is_refusal(event) else _ACCEPTS
    text = words.get(event.label) or words.get(event.verdict) or _otherwise(event)
    error = event.detail or event.cls if words is _REFUSES else ""
    remark = event.kind if event.verdict == "info" else ""
    return ": ".join(filter(None, (text.format(level=event.level), error, remark)))


def _is_refusal(event: CaseEvent) -> bool:
    """Return whether the answer was a refusal: of a pass, and of an open answer, the class says so."""
    if event.verdict in ("pass", "info"):
        return bool(event.cls)
    return event.label in _REFUSES or event.verdict in _REFUSES


def _otherwise(event: CaseEvent) -> str:
    return event.kind.replace("-", " ") if event.verdict == "fail" else ROWS[event.verdict].meaning
