"""Cases × implementations: runs side by side, rows with the same results folded into one.

The values are plain; the HTML report renders them. A derived family of a fixture is one case here.
"""

import base64
import gzip
import json
import re
from collections.abc import Collection, Hashable, Mapping, Sequence
from typing import Any, Final, Generic, TypeVar

from attrs import define, evolve, field, frozen

from wireproof.cases.case import Case
from wireproof.cases.rules import Rule, Sources, cited
from wireproof.judge.differences import MAX_OUTPUT, shorten
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

_ORDER: Final = [*(name for name in ROWS if name not in PASSING), *PASSING]


@frozen
class MatrixCell:
    """The answer of one implementation in a row.

    Attributes:
        known: True if a baseline expects the event.
    """

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
    def weight(self) -> int:
        """Return the number of its cases: `count`, or if that is 0 the number of ids."""
        return self.count or len(self.ids)

    @property
    def quiet(self) -> bool:
        """Return True if every implementation passes its cases or does not claim them."""
        return all(c is None or c.event.verdict in QUIET for c in self.cells)

    @property
    def is_security(self) -> bool:
        """Return True if one of its cases has the flag `security`."""
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

    Args:
        streams: the runs.
        known: for each run the ids of the failures that its baseline expects; empty without baselines.
    """
    columns = [_column(*one) for one in zip(streams, known or [()] * len(streams), strict=True)]
    suites = {cell.event.suite: None for column in columns for cell in column.values()}
    names: dict[str, dict[str, None]] = {suite: {} for suite in sorted(suites)}
    for column in columns:
        for name, cell in column.items():
            names[cell.event.suite][name] = None
    topics = (MatrixTopic(suite, _folded(sorted(found), columns)) for suite, found in names.items())
    alarms = sorted({name for column in columns for name, cell in column.items() if _alarms(cell)})
    return (*([MatrixTopic(SECURITY, _folded(alarms, columns))] if alarms else []), *topics)


def _alarms(cell: MatrixCell) -> bool:
    return cell.event.is_security and cell.event.verdict not in QUIET


def row_name(event: CaseEvent) -> str:
    """Return the name of an event in the matrix: its id, or that of its derived family."""
    return _NUMBER.sub(":*", event.id) if "~" in event.id else event.id


def _column(stream: EventStream, known: Collection[str]) -> dict[str, MatrixCell]:
    """Return the cells of one run; the worst event of a family represents it, a new failure if it has one."""
    found: dict[str, list[CaseEvent]] = {}
    for event in stream.cases:
        found.setdefault(row_name(event), []).append(event)
    return {name: _cell(events, known) for name, events in found.items()}


def _cell(events: Sequence[CaseEvent], known: Collection[str]) -> MatrixCell:
    worst = min(events, key=lambda one: (one.verdict in QUIET, one.id in known, _ORDER.index(one.verdict)))
    return MatrixCell(worst, len(events), worst.id in known and worst.verdict not in QUIET)


def _folded(names: list[str], columns: list[dict[str, MatrixCell]]) -> tuple[MatrixRow, ...]:
    rows: dict[tuple[str, ...], list[str]] = {}
    for name in names:
        vector = tuple(_result(column.get(name)) for column in columns)
        rows.setdefault(vector, []).append(name)
    made = (_row(tuple(ids), columns) for ids in rows.values())
    return tuple(sorted(made, key=lambda row: (row.quiet, row.known, not row.is_security)))


def _row(ids: tuple[str, ...], columns: list[dict[str, MatrixCell]]) -> MatrixRow:
    first, *others = (tuple(column.get(name) for column in columns) for name in ids)
    return MatrixRow(ids, first, others=tuple(others))


def _result(cell: MatrixCell | None) -> str:
    if cell is None:
        return ""
    event = cell.event
    return event.label if event.verdict in PASSING else f"{event.label} {event.cls} {event.path} {cell.known}"


# --- page model ---


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
        sources: the documents that the rules cite.
        uses: the requirement sets that say what an implementation may be used for.
        numbers: the numbers that findings have already.
    """

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
        complete: True if all cases were run.
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
# The data of a page: each text, input and answer is stored once, and long data is compressed with gzip.
#
# `templates/page.js` unpacks it, key for key:
#
#     words    every text once; elsewhere the number of a text in this list
#     columns  [name, spec] of each implementation
#     answers  [label, colour, class, path, got, text, replay, line, start, end, space, case, known], each
#              different one
#     rules    [id, text, practice, source, url]
#     cases    [id, title, why, level, flags, rules, source, ran on, want, twin, bytes, size, text, tree,
#              more, regions]; a region is [space, start, end, bytes, size]
#     bytes    base64
#     topics   [name, rows]; a row is [flags, members]; a member [id, case, count, answers]
#
# A tree is a list of [depth, at, size, name, type, value, cover]. The number of an absent thing is -1.


Key = TypeVar("Key", bound=Hashable)

MAX_PLAIN_JSON: Final = 200_000
"""Characters up to which the data is plain JSON in the page, readable without a browser."""

SHOWN: Final = 3
"""Number of derived cases of a row whose bytes are shown; the others have answers and replay commands."""

ABSENT: Final = -1


@define
class InternedTable(Generic[Key]):
    """Distinct values in the order of their first occurrence, and the number of each."""

    rows: list[Any] = field(factory=list)
    numbers: dict[Key, int] = field(factory=dict)

    def number(self, key: Key, row: Any = None) -> int:  # noqa: ANN401 - whatever JSON can hold
        """Return the number of `key`; a new key is stored as `row`, or as itself."""
        if key not in self.numbers:
            self.numbers[key] = len(self.rows)
            self.rows.append(key if row is None else row)
        return self.numbers[key]


class Packer:
    """Converts a matrix to the data of the page, in the form that the module describes."""

    def __init__(self, columns: Sequence[Column], topics: Sequence[MatrixTopic], page: Page) -> None:
        """Prepare the data of `topics`, with the cases and rules that `page` can find."""
        self._columns, self._topics, self._page = columns, topics, page
        self._words: InternedTable[str] = InternedTable()
        self._answers: InternedTable[tuple[int, ...]] = InternedTable()
        self._rules: InternedTable[str] = InternedTable()
        self._bytes: InternedTable[bytes] = InternedTable()
        self._cases: InternedTable[str] = InternedTable()
        self._details: dict[str, CaseView | None] = {}

    def packed(self) -> dict[str, Any]:
        topics = [[self._word(topic.name), [self._row(row) for row in topic.rows]] for topic in self._topics]
        columns = [[self._word(one.name), self._word(one.run.spec)] for one in self._columns]
        return {
            "columns": columns,
            "topics": topics,
            "answers": self._answers.rows,
            "cases": self._cases.rows,
            "rules": self._rules.rows,
            "bytes": self._bytes.rows,
            "words": self._words.rows,
        }

    def _word(self, text: str) -> int:
        return self._words.number(escape_unsafe(text))

    # --- rows ---

    def _row(self, row: MatrixRow) -> list[Any]:
        members = [(row.ids[0], row.cells), *zip(row.ids[1:], row.others, strict=False)]
        return [
            int(row.quiet) + 2 * int(row.is_security),
            [self._member(name, cells, row.count) for name, cells in members],
        ]

    def _member(self, name: str, cells: Sequence[MatrixCell | None], count: int) -> list[Any]:
        # The event to show in a row: the first that needs attention, else the first.
        events = [cell.event for cell in cells if cell is not None]
        event = next((event for event in events if event.verdict not in QUIET), events[0])
        found = self._detail(event)
        case = self._case(found) if found else self._bare(event)
        known = {event.id: found}
        answers = [
            ABSENT if cell is None else self._answer(cell, number, known) for number, cell in enumerate(cells)
        ]
        weight = count or max((cell.count for cell in cells if cell is not None), default=1)
        return [self._word(name), case, weight, answers]

    def _answer(self, cell: MatrixCell, column: int, known: dict[str, CaseView | None]) -> int:
        """Return the number of an answer; the bytes of its own case are marked if they are shown."""
        event, of = cell.event, self._columns[column]
        if event.verdict not in QUIET and event.id not in known and len(known) < SHOWN:
            known[event.id] = self._detail(event)
        found = known.get(event.id)
        mark = found.mark(event.at, event.path) if found and event.verdict not in QUIET else NO_MARK
        line = replay_command(self._short(event), of.run) if event.token or of.by_id else ""
        texts = (self._word(text) for text in _texts(event, line))
        place = (mark.line, mark.start, mark.end, self._word(mark.space))
        key = (*texts, *place, self._other(event, found), int(cell.known))
        return self._answers.number(key)

    def _short(self, event: CaseEvent) -> CaseEvent:
        """Remove the token of a derived case, whose id is enough: thousands of tokens would fill the page."""
        derived = "~" in event.id and event.id.partition("~")[0] in self._page.cases
        return evolve(event, token="") if derived else event

    def _other(self, event: CaseEvent, found: CaseView | None) -> int:
        """Return the case of an answer whose bytes differ from those of the first answer of its row."""
        return ABSENT if found is None or "~" not in event.id else self._case(found)

    # --- cases ---

    def _detail(self, event: CaseEvent) -> CaseView | None:
        if event.id not in self._details:
            case = self._page.lookup(event)
            self._details[event.id] = case_view_of(case) if case else None
        return self._details[event.id]

    def _case(self, found: CaseView) -> int:
        case = found.case
        if case.id in self._cases.numbers:
            return self._cases.numbers[case.id]
        number = self._cases.number(case.id, [])
        self._cases.rows[number] = [
            *self._said(found),
            self._twin(case.id, case.twin or case.parent or ""),
            *self._data(found),
        ]
        return number

    def _bare(self, event: CaseEvent) -> int:
        """Return the row of a case that has only an event, such as a passing derived case."""
        if event.id in self._cases.numbers:
            return self._cases.numbers[event.id]
        number = self._cases.number(event.id, [])
        first = (event.id, event.title, "", f"{event.level}, {event.profile}", ", ".join(event.flags))
        rules = [self._rule(name) for name in event.rules]
        words = [*map(self._word, first), rules, *map(self._word, ("", "", event.want))]
        twin = self._twin(event.id, event.twin or event.id.partition("~")[0])
        self._cases.rows[number] = [*words, twin, ABSENT, 0, self._word(""), [], 0, []]
        return number

    def _twin(self, own: str, name: str) -> int:
        twin = self._page.cases.get(name)
        return self._case(case_view_of(twin)) if twin is not None and twin.id != own else ABSENT

    def _said(self, found: CaseView) -> list[Any]:
        case = found.case
        ran = ", ".join(f"{one.name} {one.version}".strip() for one in case.source.witnesses)
        first = (case.id, case.title, case.why, f"{case.level}, {case.profile}", ", ".join(case.flags))
        last = (case.source.document or case.source.origin, ran, found.want)
        rules = [self._rule(name) for name in case.rules]
        return [*map(self._word, first), rules, *map(self._word, last)]

    def _rule(self, name: str) -> int:
        rule = self._page.rules.get(name) or Rule(name, "", "", "", "")
        page = f"{rule.document} {rule.section}".strip()
        place = next(iter(cited(rule.cites, self._page.sources)), None)
        link = (place.title, place.url) if place else (page, "")
        return self._rules.number(
            name, [self._word(text) for text in (rule.id, rule.text, rule.practice, *link)]
        )

    def _data(self, found: CaseView) -> list[Any]:
        tree = [
            [
                line.depth,
                self._word(line.at),
                line.size,
                *map(self._word, (line.name, line.type, line.value, line.cover)),
            ]
            for line in found.lines
        ]
        regions = [
            [self._word(one.space), one.start, one.end, self._stored(one.data), len(one.data)]
            for one in found.regions
        ]
        text = self._word(found.text)
        return [self._stored(found.data), len(found.data), text, tree, int(found.more), regions]

    def _stored(self, data: bytes) -> int:
        """Return the number of the first bytes of some data, as many as the page shows."""
        shown = data[:MAX_BYTES]
        return self._bytes.number(shown, base64.b64encode(shown).decode())


def _texts(event: CaseEvent, line: str) -> tuple[str, ...]:
    text = shorten(event.text, MAX_OUTPUT)
    return (event.label, verdict_class(event.verdict), event.cls, event.path, event.got, text, line)


def page_data_of(columns: Sequence[Column], topics: Sequence[MatrixTopic], page: Page) -> dict[str, Any]:
    return Packer(columns, topics, page).packed()


def data_element(data: Mapping[str, Any]) -> str:
    """Return the element with the data: JSON, or gzip in base64 if that is long."""
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=False)
    if len(text) <= MAX_PLAIN_JSON:
        return f'<script id="data" type="application/json">{text.replace("<", chr(92) + "u003c")}</script>'
    word = base64.b64encode(gzip.compress(text.encode(), 9, mtime=0)).decode()
    return f'<script id="data" type="application/gzip">{word}</script>'
