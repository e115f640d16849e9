"""Run the mutants and report which case of the suite kills each: `python -m tests.mutants` in a checkout."""

import json
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import lru_cache
from multiprocessing import get_context
from pathlib import Path
from typing import Final

import click
from attrs import asdict, frozen

from tests.fixture_tables.history import known_bugs
from tests.mutants.kill import (
    Killed,
    derived_on,
    is_costly,
    killed_by_fuzz,
    killed_by_property,
    known_survivors,
    system_of,
    verdict_on,
)
from tests.mutants.registry import PREFIX, description_of, mutants
from wireproof.adapters.errors import AdapterError
from wireproof.cases.fixtures import Suite
from wireproof.cli import run
from wireproof.cli.common.general_options import fixtures_option
from wireproof.cli.common.options import suite_of
from wireproof.files import replace_text
from wireproof.run.exit_codes import Exit

FILE: Final = "kill.json"

SURVIVED: Final = Killed("", "", 0, 0)

LONGEST: Final = 110
"""Characters of an id or token in a line; it is whole in the file."""


@frozen
class Settings:
    """The settings of a run.

    Attributes:
        folders: folders of further fixtures.
        in_process: run mutants in the worker itself: faster, but without limits of time and memory.
        examples: examples of the properties for one mutant.
        seconds: seconds of fuzzing for one mutant.
    """

    folders: tuple[Path, ...]
    in_process: bool
    examples: int
    seconds: int

    def here(self, name: str) -> bool:
        """Return whether a mutant runs in this process; not if time and memory must be limited."""
        return self.in_process and not is_costly(name)


@lru_cache(maxsize=1)
def _suite(folders: tuple[Path, ...]) -> Suite:
    """Return the fixtures, which are read once in each process."""
    return suite_of(folders)


COLUMNS: Final[dict[str, Callable[[str, Settings], Killed]]] = {
    "golden": lambda name, ask: verdict_on(name, _suite(ask.folders), in_process=ask.here(name)),
    "derived": lambda name, ask: derived_on(name, _suite(ask.folders), in_process=ask.here(name)),
    "properties": lambda name, ask: killed_by_property(name, ask.examples, in_process=ask.here(name)),
    "fuzz": lambda name, ask: killed_by_fuzz(name, ask.seconds),
}
"""The parts of the suite, each with what runs it alone on a mutant."""


@frozen
class Cell:
    """The result for one mutant in one column; `error` says why it could not run."""

    name: str
    column: str
    system: str
    seconds: float
    killed: Killed = SURVIVED
    error: str = ""

    def line(self) -> str:
        by, name = self.killed.by, self.name.removeprefix(PREFIX)
        short = by if len(by) <= LONGEST else f"{by[: LONGEST - 1]}…"
        alive = f"ALIVE, {self.killed.passed} cases pass"
        told = self.error or (f"{short}  {self.killed.label}" if by else alive)
        return f"{self.column:<10} {self.killed.count:>5}  {name:<36} {told}"


def _columns(_: click.Context, __: click.Parameter, text: str) -> tuple[str, ...]:
    names = [name.strip() for name in text.split(",")]
    unknown = [name for name in names if name not in COLUMNS]
    if unknown:
        raise click.BadParameter(f"there is no {unknown[0]!r}: {', '.join(COLUMNS)}")
    return tuple(dict.fromkeys(names))


def _print_list(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if not wanted:
        return
    for name in mutants():
        click.echo(f"{name.removeprefix(PREFIX):<36} {description_of(name)}")
    ctx.exit()


@click.command()
@click.option(
    "--list",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_list,
    help="print the name of every mutant and its fault",
)
@click.argument("names", nargs=-1, metavar="[MUTANT]…")
@click.option(
    "--in-process/--isolated", default=False, help="faster, but a mutant that hangs hangs everything"
)
@click.option(
    "--table",
    "columns",
    default="golden",
    callback=_columns,
    metavar="COLUMN,…",
    help=f"each alone: {', '.join(COLUMNS)}",
)
@click.option(
    "--out", type=click.Path(file_okay=False, path_type=Path), metavar="DIR", help=f"gets the table, {FILE}"
)
@click.option("--examples", default=1000, type=click.IntRange(1), help="property examples for each mutant")
@click.option("--fuzz-seconds", default=60, type=click.IntRange(1), help="seconds of fuzzing for each mutant")
@click.option("--workers", default=1, type=click.IntRange(1), help="number of processes")
@fixtures_option
def command(  # noqa: PLR0913 - the options of the tool
    *,
    names: tuple[str, ...],
    in_process: bool,
    columns: tuple[str, ...],
    out: Path | None,
    examples: int,
    fuzz_seconds: int,
    workers: int,
    folders: tuple[Path, ...],
) -> int:
    """Run every mutant against the golden cases and name the case that kills it.

    Prints one line for each mutant: how many cases kill it, its name, the first of these cases and its
    verdict. Exit code 1 if a mutant survives of which bugs.toml does not say so, 4 if one could not be run.

    With --table each part of the suite is measured by itself; a mutant survives if no part kills it.
    """
    wanted = [name if ":" in name else f"{PREFIX}{name}" for name in names] or mutants()
    settings = Settings(folders, in_process, examples, fuzz_seconds)
    cells: list[Cell] = []
    for cell in _cells([(name, column) for column in columns for name in wanted], settings, workers):
        cells.append(cell)
        click.echo(cell.line())
        if out:
            replace_text(out / FILE, json.dumps([asdict(one) for one in cells], indent=1) + "\n")
    for line in _sums(cells, columns):
        click.echo(line)
    known = known_survivors(known_bugs(_suite(folders))) if len(wanted) > len(names) else ()
    return _code(cells, known)


def _cells(tasks: Sequence[tuple[str, str]], settings: Settings, workers: int) -> Iterator[Cell]:
    """Yield the result of each task as they finish."""
    if workers == 1:
        yield from (_cell(name, column, settings) for name, column in tasks)
        return
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        waiting = [pool.submit(_cell, name, column, settings) for name, column in tasks]
        yield from (future.result() for future in as_completed(waiting))


def _cell(name: str, column: str, settings: Settings) -> Cell:
    before = time.perf_counter()
    try:
        system = system_of(name)
        killed = COLUMNS[column](name, settings)
    except AdapterError as error:
        return Cell(name, column, "", 0, error=str(error))
    return Cell(name, column, system, round(time.perf_counter() - before, 3), killed)


def _sums(cells: Sequence[Cell], columns: Sequence[str]) -> Iterator[str]:
    """Yield the dead of each column by system, those of all together, and the survivors."""
    for column in columns:
        asked = [cell for cell in cells if cell.column == column and not cell.error]
        dead = [cell for cell in asked if cell.killed.by]
        all_, killed = (Counter(cell.system for cell in some) for some in (asked, dead))
        systems = ", ".join(f"{name} {killed[name]} of {all_[name]}" for name in sorted(all_))
        seconds = sum(cell.seconds for cell in asked)
        yield f"{column}: {systems}, {seconds:.0f} s"
    names = {cell.name for cell in cells}
    yield f"{len({cell.name for cell in cells if cell.killed.by})} of {len(names)} dead"
    for cell in cells:
        if cell.error or not cell.killed.by:
            yield f"{'not run' if cell.error else 'alive'}, {cell.column}: {cell.name}"


def _code(cells: Sequence[Cell], known: Collection[str]) -> int:
    """Return the exit code; `known` survivors do not count."""
    if any(cell.error for cell in cells):
        return Exit.ADAPTER
    dead = {cell.name for cell in cells if cell.killed.by}
    return Exit.FAILS if {cell.name for cell in cells} - dead - {*known} else Exit.CONFORMS


def main() -> None:
    """Run the tool and exit."""
    run(command, "python -m tests.mutants")


if __name__ == "__main__":
    main()
