"""`wireproof cases`: list the cases."""

from pathlib import Path

import click

from wireproof.cli.options import selection, suite_of, with_fixtures


@click.command("cases")
@click.argument("patterns", nargs=-1, metavar="[PATTERN]…")
@with_fixtures
def command(patterns: tuple[str, ...], folders: tuple[Path, ...]) -> None:
    """List the cases whose id matches a PATTERN: * is one component, ** any number."""
    cases = selection(suite_of(folders), patterns, ())
    for case in cases:
        click.echo(f"{case.id:<56} {case.level:<7} {case.op:<7} {case.title}")
    click.echo(f"{len(cases)} cases", err=True)
