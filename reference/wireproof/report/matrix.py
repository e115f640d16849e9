"""Cases × implementations: runs side by side, rows with the same results folded into one.

What the HTML report draws, as plain values. A derived family of a fixture is one case here.
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
"""Nothing to look at; `frame` is what the reference says of a good item of a scan."""

SECURITY: Final = "security"
"""The topic of what fails and bears that flag; its cases stand under their own topics too."""

_ORDER: Final = [*(name for name in ROWS if name not in PASSING), *PASSING]


@frozen
class MatrixCell:
    """What one implementation did with a row: the event to show, and how many there are."""

    event: CaseEvent
    count: int = 1


@frozen
class MatrixRow:
    """Cases of one topic with one vector of results; a cell is None where a run does not have them.

    Attributes:
        ids: of the cases, or a name for all of them.
        cells: one for each run, of the first case.
        count: of the cases, where `ids` does not name each.
        others: the cells of each further case, in the order of `ids`.
    """

    ids: tuple[str, ...]
    cells: tuple[MatrixCell | None, ...]
    count: int = 0
    others: tuple[tuple[MatrixCell | None, ...], ...] = ()

    @property
    def weight(self) -> int:
        """How many cases it stands for: `count`, or if that is 0 as many as it names."""
        return self.count or len(self.ids)

    @property
    def quiet(self) -> bool:
        """Whether every implementation that ran it passes, or does not claim it."""
        return all(c is None or c.event.verdict in QUIET for c in self.cells)

    @property
    def is_security(self) -> bool:
        """Whether one of its cases is about security."""
        every = (self.cells, *self.others)
        return any(cell is not None and cell.event.is_security for cells in every for cell in cells)


@frozen
class MatrixTopic:
    """The rows of one format, revision and topic: what is wrong comes first, and of that what secures."""

    name: str
    rows: tuple[MatrixRow, ...]


def matrix(streams: Sequence[EventStream]) -> tuple[MatrixTopic, ...]:
    """Return the topics of runs by name; the cases of security that anybody fails come first."""
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
