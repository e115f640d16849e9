"""Kill tables: the mutants that each part of the suite catches alone.

A table is stored as `kill.json` in a folder and is written after each cell, so that a later run can continue
an interrupted one. A cell is kept as long as its `basis`, what it was computed from, is the same.
"""

import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import lru_cache
from multiprocessing import get_context
from pathlib import Path
from typing import Final

from attrs import evolve, field, frozen
from click import ClickException

from tests.mutants.kill import (
    EVERY,
    Killed,
    derived_on,
    is_costly,
    killed_by_fuzz,
    killed_by_property,
    system_of,
    verdict_on,
)
from wireproof.adapters.errors import AdapterError
from wireproof.cases.fixtures import Suite, load
from wireproof.files import UnreadableError, read_limited_bytes, replace_text
from wireproof.strict_parsing import STRICT, parse_json, to_tree

SCHEMA: Final = 1

FILE: Final = "kill.json"
LARGEST: Final = 16 * 1024 * 1024
"""Size limit of the file in bytes."""

GOLDEN: Final = "golden"
"""The column of the golden cases."""


class KillTableError(ClickException):
    """The file `kill.json` is no kill table; the message names the file and the next step."""


@frozen
class Settings:
    """The settings of a run.

    Attributes:
        folders: folders of further fixtures.
        in_process: run mutants in the worker itself: faster, but without limits of time and memory.
        examples: examples of the properties for one mutant.
        seconds: seconds of fuzzing for one mutant.
        seed: seed of examples and fuzzing.
    """

    folders: tuple[Path, ...] = ()
    in_process: bool = False
    examples: int = 1000
    seconds: int = 60
    seed: int = 0


@frozen
class Column:
    """A part of the suite: its name, the function that runs it on a mutant, and the basis of the result."""

    name: str
    run: Callable[[str, Settings], Killed]
    basis: Callable[[Settings], str]


@frozen
class Cell:
    """The result for one mutant in one column; `error` says why it could not run."""

    basis: str
    seconds: float
    by: str = ""
    label: str = ""
    count: int = 0
    ids: tuple[str, ...] = ()
    error: str = ""


@frozen
class Row:
    """A row of the table: the system of a mutant, and its cells by column."""

    system: str
    cells: Mapping[str, Cell] = field(factory=dict)


@frozen
class Table:
    """A whole table.

    Attributes:
        idle: the `must` cases that kill no mutant of one system. Mutants of all formats do not count: a codec
            that refuses or accepts everything fails nearly every case.
    """

    schema: int = SCHEMA
    fixtures: str = ""
    columns: tuple[str, ...] = ()
    rows: Mapping[str, Row] = field(factory=dict)
    idle: tuple[str, ...] = ()

    def holds(self, name: str, column: str, basis: str) -> bool:
        """Return whether the cell exists, has the same basis and no error."""
        cell = self.rows[name].cells.get(column) if name in self.rows else None
        return cell is not None and cell.basis == basis and not cell.error

    def having(self, name: str, column: str, cell: Cell) -> "Table":
        """Return the table with one more cell."""
        row = self.rows.get(name) or Row(system_of(name))
        return evolve(self, rows={**self.rows, name: evolve(row, cells={**row.cells, column: cell})})

    def only(self, names: Sequence[str], columns: Sequence[str]) -> "Table":
        """Return the table with only these rows and columns, in this order."""
        rows = {name: self.rows[name] for name in names if name in self.rows}
        kept = {
            name: evolve(row, cells={key: row.cells[key] for key in columns if key in row.cells})
            for name, row in rows.items()
        }
        return evolve(self, rows=kept)

    def summed(self, suite: Suite) -> "Table":
        """Return the table with its columns and the `must` cases of `suite` that kill none of its mutants."""
        columns = tuple(dict.fromkeys(name for row in self.rows.values() for name in row.cells))
        aimed = [row for row in self.rows.values() if row.system != EVERY]
        golden = [row.cells[GOLDEN] for row in aimed if GOLDEN in row.cells]
        kills = {name for cell in golden for name in cell.ids}
        idle = tuple(case.id for case in suite.cases if case.level == "must" and case.id not in kills)
        return evolve(self, columns=columns, fixtures=suite.hash, idle=idle if golden else ())


# --- the columns ---


@lru_cache(maxsize=1)
def suite_at(folders: tuple[Path, ...]) -> Suite:
    """Return the fixtures, which are read once in each process."""
    return load(folders)


def _here(name: str, settings: Settings) -> bool:
    """Return whether a mutant runs in this process; not if time and memory must be limited."""
    return settings.in_process and not is_costly(name)


def _golden(name: str, settings: Settings) -> Killed:
    return verdict_on(name, suite_at(settings.folders), in_process=_here(name, settings))


def _derived(name: str, settings: Settings) -> Killed:
    return derived_on(name, suite_at(settings.folders), in_process=_here(name, settings))


def _fixtures(settings: Settings) -> str:
    return suite_at(settings.folders).hash


def _properties(name: str, settings: Settings) -> Killed:
    return killed_by_property(name, settings.examples, settings.seed, in_process=_here(name, settings))


def _examples(settings: Settings) -> str:
    return f"{settings.examples} examples of each row and op, seed {settings.seed}"


def _fuzz(name: str, settings: Settings) -> Killed:
    return killed_by_fuzz(name, settings.seconds, settings.seed + 1)


def _seconds(settings: Settings) -> str:
    return f"{settings.seconds} s at most, seed {settings.seed + 1}, level should"


COLUMNS: Final = (
    Column(GOLDEN, _golden, _fixtures),
    Column("derived", _derived, _fixtures),
    Column("properties", _properties, _examples),
    Column("fuzz", _fuzz, _seconds),
)


# --- running ---


def missing(
    table: Table, names: Iterable[str], columns: Iterable[Column], settings: Settings
) -> list[tuple[str, Column]]:
    """Return the cells that are still to run, column by column, because the later columns take longer."""
    rows = list(names)
    return [
        (name, column)
        for column in columns
        for name in rows
        if not table.holds(name, column.name, column.basis(settings))
    ]


def filled(
    tasks: Sequence[tuple[str, Column]], settings: Settings, workers: int = 1
) -> Iterator[tuple[str, str, Cell]]:
    """Yield mutant, column and cell of each task as they finish."""
    if workers == 1:
        yield from ((name, column.name, _cell(name, column, settings)) for name, column in tasks)
        return
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        futures = {pool.submit(_cell, name, column, settings): (name, column.name) for name, column in tasks}
        for future in as_completed(futures):
            yield *futures[future], future.result()


def _cell(name: str, column: Column, settings: Settings) -> Cell:
    basis, before = column.basis(settings), time.perf_counter()
    try:
        killed = column.run(name, settings)
    except AdapterError as error:
        return Cell(basis, 0, error=str(error))
    seconds = round(time.perf_counter() - before, 3)
    return Cell(basis, seconds, killed.by, killed.label, killed.count, killed.ids)


# --- the file ---


def read(folder: Path) -> Table:
    """Return the table in `folder`; an empty one if there is none.

    Raises:
        KillTableError: the file is no kill table.
    """
    path = folder / FILE
    try:
        return STRICT.read(parse_json(read_limited_bytes(path, LARGEST)), Table, "the table")
    except FileNotFoundError:
        return Table()
    except (ValueError, UnreadableError) as error:
        what = f"no kill table ({error}): move it away, or give another --out"
        raise KillTableError(f"{path}: {what}") from None


def write(table: Table, folder: Path) -> None:
    """Write the table into `folder`, whole or not at all."""
    text = json.dumps(to_tree(table), indent=1) + "\n"
    replace_text(folder / FILE, text)
