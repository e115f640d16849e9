"""The views of a kill table: lines of text, and one HTML page."""

from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path
from string import Template

from attrs import frozen

from tests.mutants.kill_table import Cell, Row, Table
from tests.mutants.registry import PREFIX
from wireproof.report.sanitize import escape_unsafe

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


# --- the page ---


def html(table: Table, texts: Mapping[str, str]) -> str:
    """Return the page; `texts` has the fault of each mutant."""
    source = Path(__file__).with_name("kill.html").read_text(encoding="utf-8")
    return Template(source).substitute(
        about=_text(f"fixtures {table.fixtures}, {len(table.rows)} mutants"),
        summary="".join(_sums(table)),
        columns="".join(f"<th>{_text(column)}</th>" for column in table.columns),
        body="".join(_row(name, row, table, texts.get(name, "")) for name, row in table.rows.items()),
        idle=_idle(table),
    )


def _text(text: str) -> str:
    return escape(escape_unsafe(text))


def _sums(table: Table) -> Iterator[str]:
    systems = sorted({row.system for row in table.rows.values()})
    heads = "".join(f"<th>{_text(name)}</th>" for name in ("column", "killed", *systems, "seconds"))
    yield f"<table><thead><tr>{heads}</tr></thead><tbody>"
    for one in (tally(table, column) for column in table.columns):
        parts = [one.systems.get(name) for name in systems]
        shown = [f"{one.killed} of {one.asked}", *("–" if p is None else f"{p[0]} of {p[1]}" for p in parts)]
        cells = "".join(f"<td>{text}</td>" for text in (*shown, f"{one.seconds:.0f}"))
        yield f"<tr><td>{_text(one.column)}</td>{cells}</tr>"
    yield "</tbody></table>"


def _row(name: str, row: Row, table: Table, text: str) -> str:
    cells = "".join(_cell(row.cells.get(column)) for column in table.columns)
    told = f'<td class="id" title="{_text(text)}">{_text(name.removeprefix(PREFIX))}</td>'
    return f"<tr>{told}<td>{_text(row.system)}</td>{cells}</tr>\n"


def _cell(cell: Cell | None) -> str:
    if cell is None or cell.error:
        return f'<td class="dim">{_text(cell.error) if cell else "–"}</td>'
    if not cell.by:
        return f'<td class="bad">ALIVE <span class="dim">{cell.seconds:.1f} s</span></td>'
    count = f" ×{cell.count}" if cell.count > 1 else ""
    by = _text(_short(cell.by))
    how = (
        f'<span class="pass">{_text(cell.label)}</span>{count} <span class="dim">{cell.seconds:.1f} s</span>'
    )
    return f"<td>{how}<br><code>{by}</code></td>"


def _idle(table: Table) -> str:
    if not table.idle:
        return ""
    names = _text("\n".join(table.idle))
    told = f"{len(table.idle)} must cases kill none of these mutants of one system"
    return f"<details><summary>{told}</summary><pre>{names}</pre></details>"
