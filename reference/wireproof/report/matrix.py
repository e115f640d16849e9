"""Cases × implementations: runs side by side, rows with the same results folded into one.

The values are plain; the HTML report renders them. A derived family of a fixture is one case here.
"""

import re
from collections.abc import Sequence
from typing import Final

from attrs import frozen

from wireproof.runner.event_files import EventStream
from wireproof.runner.events import CaseEvent
from wireproof.runner.verdicts import PASSING, ROWS

_NUMBER: Final = re.compile(r":\d+$")

QUIET: Final = frozenset({*PASSING, "unsupported", "frame"})
"""Verdicts that need no attention; `frame` is the reference's verdict on a valid item of a scan."""

SECURITY: Final = "security"
"""The topic of failures with the flag `security`; these cases are listed in their own topics too."""

_ORDER: Final = [*(name for name in ROWS if name not in PASSING), *PASSING]


@frozen
class MatrixCell:
    """The answer of one implementation in a row: the event to show, and the number of events."""

    event: CaseEvent
    count: int = 1


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


@frozen
class MatrixTopic:
    """The rows of one format, revision and topic: failures first, and of these security cases first."""

    name: str
    rows: tuple[MatrixRow, ...]


def matrix(streams: Sequence[EventStream]) -> tuple[MatrixTopic, ...]:
    """Return the topics of runs by name; failed security cases come first."""
    columns = [_column(stream) for stream in streams]
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


def _column(stream: EventStream) -> dict[str, MatrixCell]:
    """Return the cells of one run; the worst event of a family represents it."""
    cells: dict[str, MatrixCell] = {}
    for event in stream.cases:
        name = _NUMBER.sub(":*", event.id) if "~" in event.id else event.id
        known = cells.get(name)
        if known is None:
            cells[name] = MatrixCell(event)
        else:
            worst = min(known.event, event, key=lambda one: _ORDER.index(one.verdict))
            cells[name] = MatrixCell(worst, known.count + 1)
    return cells


def _folded(names: list[str], columns: list[dict[str, MatrixCell]]) -> tuple[MatrixRow, ...]:
    rows: dict[tuple[str, ...], list[str]] = {}
    for name in names:
        vector = tuple(_result(column.get(name)) for column in columns)
        rows.setdefault(vector, []).append(name)
    made = (_row(tuple(ids), columns) for ids in rows.values())
    return tuple(sorted(made, key=lambda row: (row.quiet, not row.is_security)))


def _row(ids: tuple[str, ...], columns: list[dict[str, MatrixCell]]) -> MatrixRow:
    first, *others = (tuple(column.get(name) for column in columns) for name in ids)
    return MatrixRow(ids, first, others=tuple(others))


def _result(cell: MatrixCell | None) -> str:
    """Return the key by which two results are equal in the matrix."""
    if cell is None:
        return ""
    event = cell.event
    return event.label if event.verdict in PASSING else f"{event.label} {event.cls} {event.path}"
