"""Cases × implementations: runs side by side, rows with the same results folded into one.

The values are plain; the HTML report renders them. A derived family of a fixture is one case here.
"""

import base64
import gzip
import json
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache
from typing import Any, Final

from attrs import evolve, field, frozen

from wireproof.cases.case import Case
from wireproof.cases.rules import Rule, Sources, cited
from wireproof.judge.differences import MAX_OUTPUT, short_expect, shorten
from wireproof.judge.verdicts import PASSING, ROWS
from wireproof.report.case_view import MAX_BYTES, NO_MARK, CaseView, case_view_of
from wireproof.report.failure_groups import Kind, Lookup, no_lookup, replay_command
from wireproof.report.uses import Use
from wireproof.run.events import CaseEvent, EventStream, Run
from wireproof.wire.text import escape_unsafe

_NUMBER: Final = re.compile(r":\d+$")

QUIET: Final = frozenset({*PASSING, "unsupported", "frame"})
"""Verdicts that need no attention; `frame` is the reference's verdict on a valid item of a scan."""

SECURITY: Final = "security"
"""The topic of failures with the flag `security`; these cases are listed in their own topics too."""

_ORDER: Final = [*(name for name in ROWS if name not in PASSING), *(name for name in ROWS if name in PASSING)]


@frozen
class MatrixCell:
    """The answer of one implementation in a row; `known` if a baseline expects it."""

    event: CaseEvent
    count: int = 1
    known: bool = False


@frozen
class MatrixRow:
    """Cases of one topic with the same results; a cell is None if a run does not have them.

    Attributes:
        ids: of the cases, or a name for all of them.
        cells: those of the first case, one for each run.
        count: the number of cases if `ids` does not name each.
        others: the cells of each further case, in the order of `ids`.
    """

    ids: tuple[str, ...]
    cells: tuple[MatrixCell | None, ...]
    count: int = 0
    others: tuple[tuple[MatrixCell | None, ...], ...] = ()

    @property
    def quiet(self) -> bool:
        return all(c is None or c.event.verdict in QUIET for c in self.cells)

    @property
    def is_security(self) -> bool:
        every = (self.cells, *self.others)
        return any(cell is not None and cell.event.is_security for cells in every for cell in cells)

    @property
    def known(self) -> bool:
        """Return True if a baseline expects every failure of its cases, which have the same results."""
        return all(c is None or c.known or c.event.verdict in QUIET for c in self.cells)


@frozen
class MatrixTopic:
    """The rows of one format, revision and topic: new failures first, and of these security cases first."""

    name: str
    rows: tuple[MatrixRow, ...]


def matrix(streams: Sequence[EventStream], known: Sequence[Collection[str]] = ()) -> tuple[MatrixTopic, ...]:
    """Return the topics of runs by name; failed security cases come first.

    `known` has for each run the ids of the failures that its baseline expects; it is empty without baselines.
    """
    columns = [_column(*one) for one in zip(streams, known or [()] * len(streams), strict=True)]
    suites = {cell.event.suite: None for column in columns for cell in column.values()}
    names: dict[str, dict[str, None]] = {suite: {} for suite in sorted(suites)}
    for column in columns:
        for name, cell in column.items():
            names[cell.event.suite][name] = None
    topics = (MatrixTopic(suite, _folded(sorted(found), columns)) for suite, found in names.items())
    alarms = {
        name
        for column in columns
        for name, cell in column.items()
        if cell.event.is_security and cell.event.verdict not in QUIET
    }
    return (*([MatrixTopic(SECURITY, _folded(sorted(alarms), columns))] if alarms else []), *topics)


def row_name(event: CaseEvent) -> str:
    """Return the name of an event in the matrix: its id, or that of its derived family."""
    return _NUMBER.sub(":*", event.id) if "~" in event.id else event.id


def _column(stream: EventStream, known: Collection[str]) -> dict[str, MatrixCell]:
    """Return the cells of one run; the worst event of a family represents it, a new failure if it has one."""
    found: dict[str, list[CaseEvent]] = {}
    for event in stream.cases:
        found.setdefault(row_name(event), []).append(event)
    cells: dict[str, MatrixCell] = {}
    for name, events in found.items():
        worst = min(
            events, key=lambda one: (one.verdict in QUIET, one.id in known, _ORDER.index(one.verdict))
        )
        cells[name] = MatrixCell(worst, len(events), worst.id in known and worst.verdict not in QUIET)
    return cells


def _folded(names: list[str], columns: list[dict[str, MatrixCell]]) -> tuple[MatrixRow, ...]:
    alike: dict[tuple[str, ...], list[str]] = {}
    for name in names:
        alike.setdefault(tuple(_result(column.get(name)) for column in columns), []).append(name)
    rows = []
    for ids in alike.values():
        first, *others = (tuple(column.get(name) for column in columns) for name in ids)
        rows.append(MatrixRow(tuple(ids), first, others=tuple(others)))
    return tuple(sorted(rows, key=lambda row: (row.quiet, row.known, not row.is_security)))


def _result(cell: MatrixCell | None) -> str:
    if cell is None:
        return ""
    event = cell.event
    return event.label if event.verdict in PASSING else f"{event.label} {event.cls} {event.path} {cell.known}"


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
    """The cases, by id for twins, and rules that the page shows, and the numbers of findings."""

    title: str = "wireproof"
    lookup: Lookup = no_lookup
    cases: Mapping[str, Case] = field(factory=dict)
    rules: Mapping[str, Rule] = field(factory=dict)
    sources: Sources = field(factory=dict)
    uses: Sequence[Use] = ()
    numbers: Mapping[tuple[str, Kind], int] = field(factory=dict)


@frozen
class Column:
    """An implementation.

    Attributes:
        counts: cases by verdict.
        by_id: True if a case can be replayed by its id; else only a case with a token can.
        fault: what its wrong answers are called; those of the reference on a log are the damage of the log.
    """

    run: Run
    counts: Mapping[str, int]
    complete: bool = True
    by_id: bool = True
    fault: str = "wrong"

    @property
    def name(self) -> str:
        return f"{self.run.adapter} {self.run.version}".strip()


def verdict_class(verdict: str) -> str:
    """Return the CSS class of a verdict: `pass`, `info`, `mild`, `dim` or `bad`."""
    return _COLOURS.get(verdict, "bad")


# --- page data ---
#
# The data of a page: JSON that `templates/page.js` shows as text, packed with gzip if it is long.
#
#     columns  name and spec of each implementation
#     rows     topic, quiet, secure, and members: id, case, count and answers, by number; -1 for none
#     answers  each different one once: its facts, and the place in its case that is marked
#     cases    by id: what is said of a case, its bytes in base64, their fields and the compressed parts
#     rules    by id: [id, text, practice, source, url]
#
# A tree is a list of [depth, at, size, name, type, value, cover].


SHOWN: Final = 3
"""Number of derived cases of a row whose bytes are shown; the others have answers and replay commands."""


class Packer:
    """Converts a matrix to the data of the page, in the form described above."""

    def __init__(self, columns: Sequence[Column], topics: Sequence[MatrixTopic], page: Page) -> None:
        self._columns, self._topics, self._page = columns, topics, page
        self._answers: dict[tuple[tuple[str, object], ...], int] = {}
        self._rules: dict[str, list[str]] = {}
        self._cases: dict[str, dict[str, Any]] = {}
        self._details: dict[str, CaseView | None] = {}

    def packed(self) -> dict[str, Any]:
        rows = [
            {
                "topic": topic.name,
                "quiet": row.quiet,
                "secure": row.is_security,
                "members": [
                    self._member(name, cells, row.count)
                    for name, cells in zip(row.ids, (row.cells, *row.others), strict=False)
                ],
            }
            for topic in self._topics
            for row in topic.rows
        ]
        data = {
            "columns": [{"name": one.name, "spec": one.run.spec} for one in self._columns],
            "rows": rows,
            "answers": [dict(answer) for answer in self._answers],
            "cases": self._cases,
            "rules": self._rules,
        }
        found: dict[str, Any] = _escaped(data, cache(escape_unsafe))
        return found

    def _member(self, name: str, cells: Sequence[MatrixCell | None], count: int) -> dict[str, Any]:
        # The event to show in a row: the first that needs attention, else the first.
        events = [cell.event for cell in cells if cell is not None]
        event = next((event for event in events if event.verdict not in QUIET), events[0])
        found = self._detail(event)
        case = self._case(found) if found else self._bare(event)
        known = {event.id: found}
        answers = [
            -1 if cell is None else self._answer(cell, number, known) for number, cell in enumerate(cells)
        ]
        weight = count or max((cell.count for cell in cells if cell is not None), default=1)
        return {"id": name, "case": case, "count": weight, "answers": answers}

    def _answer(self, cell: MatrixCell, column: int, known: dict[str, CaseView | None]) -> int:
        """Return the number of an answer; the bytes of its own case are marked if they are shown."""
        event, of = cell.event, self._columns[column]
        if event.verdict not in QUIET and event.id not in known and len(known) < SHOWN:
            known[event.id] = self._detail(event)
        found = known.get(event.id)
        mark = found.mark(event.at, event.path) if found and event.verdict not in QUIET else NO_MARK
        # The id of a derived case is enough: thousands of tokens would fill the page.
        derived = "~" in event.id and event.id.partition("~")[0] in self._page.cases
        short = evolve(event, token="") if derived else event
        facts = {
            "label": event.label,
            "colour": verdict_class(event.verdict),
            "cls": event.cls,
            "path": event.path,
            "got": event.got,
            "text": shorten(event.text, MAX_OUTPUT),
            "replay": replay_command(short, of.run) if short.token or of.by_id else "",
            "line": mark.line,
            "start": mark.start,
            "end": mark.end,
            "space": mark.space,
            # the case of an answer whose bytes differ from those of the first answer of its row
            "about": self._case(found) if found is not None and "~" in event.id else "",
            "known": cell.known,
        }
        return self._answers.setdefault(tuple(facts.items()), len(self._answers))

    def _detail(self, event: CaseEvent) -> CaseView | None:
        if event.id not in self._details:
            case = self._page.lookup(event)
            self._details[event.id] = case_view_of(case) if case else None
        return self._details[event.id]

    def _case(self, found: CaseView) -> str:
        case = found.case
        if case.id not in self._cases:
            row = self._cases[case.id] = dict[str, Any]()  # before those of its twins
            row |= {
                "id": case.id,
                "title": case.title,
                "why": case.why,
                "level": f"{case.level}, {case.profile}",
                "flags": ", ".join(case.flags),
                "rules": [self._rule(name) for name in case.rules],
                "source": case.source.document or case.source.origin,
                "ran": ", ".join(f"{one.name} {one.version}".strip() for one in case.source.witnesses),
                "want": short_expect(case.expect),
                "twin": self._twin(case.id, case.twin or case.parent or ""),
                "text": found.text,
                "tree": [
                    [line.depth, line.at, line.size, line.name, line.type, line.value, line.cover]
                    for line in found.lines
                ],
                "more": found.more,
                "regions": [
                    {"space": one.space, "start": one.start, "end": one.end, **_stored(one.data)}
                    for one in found.regions
                ],
                **_stored(found.data),
            }
        return case.id

    def _bare(self, event: CaseEvent) -> str:
        """Return the id of a case that has only an event, such as a passing derived case."""
        if event.id not in self._cases:
            row = self._cases[event.id] = dict[str, Any]()
            row |= {
                "id": event.id,
                "title": event.title,
                "level": f"{event.level}, {event.profile}",
                "flags": ", ".join(event.flags),
                "rules": [self._rule(name) for name in event.rules],
                "want": event.want,
                "twin": self._twin(event.id, event.twin or event.id.partition("~")[0]),
                "tree": [],
                "regions": [],
            }
        return event.id

    def _twin(self, own: str, name: str) -> str:
        twin = self._page.cases.get(name)
        return self._case(case_view_of(twin)) if twin is not None and twin.id != own else ""

    def _rule(self, name: str) -> str:
        rule = self._page.rules.get(name) or Rule(name, "value", "", "", "")
        place = next(iter(cited(rule.cites, self._page.sources)), None)
        link = (place.title, place.url) if place else (f"{rule.document} {rule.section}".strip(), "")
        self._rules[name] = [rule.id, rule.text, rule.practice, *link]
        return name


def _stored(data: bytes) -> dict[str, Any]:
    return {"bytes": base64.b64encode(data[:MAX_BYTES]).decode(), "size": len(data)}


def _escaped(tree: Any, escape: Callable[[str], str]) -> Any:  # noqa: ANN401 - JSON
    match tree:
        case str():
            return escape(tree)
        case list():
            return [_escaped(part, escape) for part in tree]
        case dict():
            return {escape(name): _escaped(part, escape) for name, part in tree.items()}
    return tree


def data_element(columns: Sequence[Column], topics: Sequence[MatrixTopic], page: Page) -> str:
    """Return the element with the data: JSON, or gzip in base64 if it is too long to be read by a person."""
    data = Packer(columns, topics, page).packed()
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=False)
    if len(text) <= 200_000:
        return f'<script id="data" type="application/json">{text.replace("<", chr(92) + "u003c")}</script>'
    word = base64.b64encode(gzip.compress(text.encode(), 9, mtime=0)).decode()
    return f'<script id="data" type="application/gzip">{word}</script>'
