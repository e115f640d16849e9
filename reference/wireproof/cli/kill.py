"""`wireproof kill`: the suite is an instrument; here it is measured. Design, section 7."""

import click
from rich.console import Console
from rich.table import Table

from wireproof.cli.options import suite_of
from wireproof.trial.exit_codes import Exit
from wireproof.trial.kill import mutants, verdict_on


@click.command("kill")
@click.argument("names", nargs=-1, metavar="[MUTANT]…")
@click.option(
    "--in-process/--isolated", default=False, help="faster, but a mutant that hangs hangs everything"
)
def command(names: tuple[str, ...], in_process: bool) -> int:
    """Run every planted fault against the golden cases and name the case that each dies by."""
    suite = suite_of(())
    table = Table("mutant", "dies by", "verdict", "cases that kill it")
    alive = 0
    for name in names or mutants():
        killed = verdict_on(name, suite, in_process=in_process)
        alive += not killed.by
        table.add_row(name, killed.by or "ALIVE", killed.label, str(killed.count))
    Console().print(table)
    click.echo(f"{alive} alive")
    return Exit.FAILS if alive else Exit.CONFORMS
