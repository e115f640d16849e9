"""`wireproof kill`: the suite is an instrument; here it is measured. Design, section 7."""

from pathlib import Path

import click

from wireproof.adapters.errors import AdapterError
from wireproof.cli.options import suite_of, with_fixtures
from wireproof.trial.exit_codes import Exit
from wireproof.trial.kill import Killed, mutants, verdict_on

PREFIX = "mutant:"


@click.command("kill")
@click.argument("names", nargs=-1, metavar="[MUTANT]…")
@click.option(
    "--in-process/--isolated", default=False, help="faster, but a mutant that hangs hangs everything"
)
@with_fixtures
def command(names: tuple[str, ...], in_process: bool, folders: tuple[Path, ...]) -> int:
    """Run every planted fault against the golden cases and name the case that each dies by.

    One line a mutant as soon as it is known: how many cases kill it, its name, the first of them and its
    verdict. Exit code 1 if any lives, 4 if one could not be run.
    """
    suite = suite_of(folders)
    wanted = [_whole(name) for name in names] or mutants()
    alive: list[str] = []
    broken: list[str] = []
    for name in wanted:
        try:
            killed = verdict_on(name, suite, in_process=in_process)
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
    """Nothing is padded to more than a name's usual length: ids stay whole, whatever the width."""
    told = f"{killed.by}  {killed.label}" if killed.by else f"ALIVE, {killed.passed} cases pass"
    return f"{killed.count:>5}  {name.removeprefix(PREFIX):<36} {told}"
