"""Run the mutants and report which case of the suite kills each: `python -m tests.mutants` in a checkout."""

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Final

import click

from tests.fixture_tables.history import known_bugs
from tests.mutants.kill import Killed, is_costly, known_survivors, verdict_on
from tests.mutants.kill_lines import line, lines, tally
from tests.mutants.kill_table import COLUMNS, Column, Settings, Table, filled, missing, read, write
from tests.mutants.registry import PREFIX, description_of, mutants
from wireproof.adapters.errors import AdapterError
from wireproof.cases.fixtures import Suite
from wireproof.cli import run
from wireproof.cli.common.general_options import fixtures_option
from wireproof.cli.common.options import suite_of
from wireproof.run.exit_codes import Exit

INSTRUMENTS: Final = {column.name: column for column in COLUMNS}


def _columns(_: click.Context, __: click.Parameter, text: str | None) -> tuple[Column, ...]:
    names = [name.strip() for name in text.split(",")] if text else []
    unknown = [name for name in names if name not in INSTRUMENTS]
    if unknown:
        raise click.BadParameter(f"there is no {unknown[0]!r}: {', '.join(INSTRUMENTS)}")
    return tuple(INSTRUMENTS[name] for name in dict.fromkeys(names))


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
    "--table", "columns", callback=_columns, metavar="COLUMN,…", help=f"each alone: {', '.join(INSTRUMENTS)}"
)
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="where the table lies: kill.json, which a second run goes on with",
)
@click.option("--examples", default=1000, type=click.IntRange(1), help="property examples for each mutant")
@click.option("--fuzz-seconds", default=60, type=click.IntRange(1), help="seconds of fuzzing for each mutant")
@click.option("--workers", default=1, type=click.IntRange(1), help="number of processes")
@click.option("--again", is_flag=True, help="also run what kill.json already has")
@fixtures_option
def command(  # noqa: PLR0913 - the options of the tool
    *,
    names: tuple[str, ...],
    in_process: bool,
    columns: tuple[Column, ...],
    out: Path | None,
    examples: int,
    fuzz_seconds: int,
    workers: int,
    again: bool,
    folders: tuple[Path, ...],
) -> int:
    """Run every mutant against the golden cases and name the case that kills it.

    Prints one line for each mutant: how many cases kill it, its name, the first of these cases and its
    verdict. Exit code 1 if a mutant survives, 4 if one could not be run.

    With --table each part of the suite is measured by itself; a mutant survives if no part kills it.
    """
    suite = suite_of(folders)
    wanted = [_whole(name) for name in names] or mutants()
    if not columns and out is None:
        return _plain(wanted, suite, in_process=in_process)
    if not columns or out is None:
        raise click.UsageError("a table needs both --table COLUMN,… and --out DIR")
    settings = Settings(folders, in_process, examples, fuzz_seconds)
    whole = _filled(wanted, columns, settings, out, workers=workers, again=again).summed(suite)
    write(whole, out)
    asked = whole.only(wanted, [column.name for column in columns]).summed(suite)
    for told in lines(asked):
        click.echo(told)
    return _code(asked, known_survivors(known_bugs(suite)))


# --- tables ---


def _filled(
    wanted: Sequence[str],
    columns: Sequence[Column],
    settings: Settings,
    out: Path,
    *,
    workers: int,
    again: bool,
) -> Table:
    """Return the table of `out` with every requested cell; it is written after each cell."""
    table = read(out)
    tasks = missing(Table() if again else table, wanted, columns, settings)
    for name, column, cell in filled(tasks, settings, workers):
        table = table.having(name, column, cell)
        write(table, out)
        click.echo(line(name, column, cell))
    return table


def _code(table: Table, known: Collection[str]) -> int:
    """Return the exit code of a table; `known` survivors do not count."""
    tallies = [tally(table, column) for column in table.columns]
    if any(one.failed for one in tallies):
        return Exit.ADAPTER
    alive = set(table.rows).intersection(*(one.alive for one in tallies))
    return Exit.FAILS if alive.difference(known) else Exit.CONFORMS


# --- golden cases, a line a mutant ---


def _plain(wanted: Sequence[str], suite: Suite, *, in_process: bool) -> int:
    alive: list[str] = []
    broken: list[str] = []
    for name in wanted:
        try:
            killed = verdict_on(name, suite, in_process=in_process and not is_costly(name))
        except AdapterError as error:
            broken.append(name)
            click.echo(f"wireproof: {error}", err=True)
            continue
        if not killed.by:
            alive.append(name)
        click.echo(_line(name, killed))
    click.echo(f"{len(wanted) - len(alive) - len(broken)} of {len(wanted)} dead")
    for name in alive:
        click.echo(f"alive: {name}")
    return Exit.ADAPTER if broken else Exit.FAILS if alive else Exit.CONFORMS


def _whole(name: str) -> str:
    return name if ":" in name else f"{PREFIX}{name}"


def _line(name: str, killed: Killed) -> str:
    """Return one line of output; ids are never shortened, whatever the width of the terminal."""
    told = f"{killed.by}  {killed.label}" if killed.by else f"ALIVE, {killed.passed} cases pass"
    return f"{killed.count:>5}  {name.removeprefix(PREFIX):<36} {told}"


def main() -> None:
    """Run the tool and exit."""
    run(command, "python -m tests.mutants")


if __name__ == "__main__":
    main()
