"""A kill table as lines of text."""

from collections.abc import Iterator, Mapping

from attrs import frozen

from tests.mutants.kill_table import Cell, Table
from tests.mutants.registry import PREFIX

LONGEST = 110
"""Characters of an id or token that a view shows."""


@frozen
class Tally:
    """The sums of a column: killed and tested mutants, by system, the seconds, and the survivors."""

    column: str
    killed: int
    asked: int
    systems: Mapping[str, tuple[int, int]]
    seconds: float
    alive: tuple[str, ...]
    failed: tuple[str, ...]


def tally(table: Table, column: str) -> Tally:
    """Return the sums of one column; a cell that could not run counts only in `failed`."""
    cells = {name: row.cells[column] for name, row in table.rows.items() if column in row.cells}
    asked = {name: cell for name, cell in cells.items() if not cell.error}
    systems: dict[str, tuple[int, int]] = {}
    for name, cell in asked.items():
        killed, all_ = systems.get(table.rows[name].system, (0, 0))
        systems[table.rows[name].system] = (killed + bool(cell.by), all_ + 1)
    return Tally(
        column,
        sum(bool(cell.by) for cell in asked.values()),
        len(asked),
        dict(sorted(systems.items())),
        sum(cell.seconds for cell in asked.values()),
        tuple(name for name, cell in asked.items() if not cell.by),
        tuple(name for name, cell in cells.items() if cell.error),
    )


def lines(table: Table) -> Iterator[str]:
    """Yield the sums, the survivors, and the number of `must` cases that kill no mutant."""
    tallies = [tally(table, column) for column in table.columns]
    for one in tallies:
        systems = ", ".join(f"{name} {killed} of {asked}" for name, (killed, asked) in one.systems.items())
        yield f"{one.column}: {one.killed} of {one.asked} killed ({systems}), {one.seconds:.0f} s"
    for one in tallies:
        yield from (f"alive, {one.column}: {name}" for name in one.alive)
        yield from (f"not run, {one.column}: {name}" for name in one.failed)
    if table.idle:
        told = "kill none of these mutants of one system: listed as `idle` in kill.json"
        yield f"{len(table.idle)} must cases {told}"


def line(name: str, column: str, cell: Cell) -> str:
    """Return one cell as a line of text."""
    told = f"{_short(cell.by)}  {cell.label}" if cell.by else cell.error or "ALIVE"
    return f"{column:<10} {cell.seconds:>7.1f} s  {name.removeprefix(PREFIX):<36} {told}"


def _short(by: str) -> str:
    """Return an id whole, and a token shortened; it is whole in kill.json."""
    return by if len(by) <= LONGEST else f"{by[: LONGEST - 1]}…"
