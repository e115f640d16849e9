"""`wireproof cases`: list the cases."""

from pathlib import Path

import click

from wireproof.cli.options import selection, suite_of


@click.command("cases")
@click.argument("patterns", nargs=-1, metavar="[PATTERN]…")
@click.option("--fixtures", "folders", multiple=True, type=click.Path(exists=True, file_okay=False, path_type=Path),
              help="further fixtures, beside those of the package")  # fmt: skip
def command(patterns: tuple[str, ...], folders: tuple[Path, ...]) -> None:
    """List the cases whose id matches a PATTERN: * is one component, ** any number."""
    cases = selection(suite_of(folders), patterns, ())
    for case in cases:
        click.echo(f"{case.id:<56} {case.level:<7} {case.op:<7} {case.title}")
    click.echo(f"{len(cases)} cases", err=True)
