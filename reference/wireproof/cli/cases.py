"""`wireproof cases`: list the cases."""

from pathlib import Path

import click

from wireproof.cases.case import Case
from wireproof.cli.fixtures_option import with_fixtures
from wireproof.cli.options import case_ids, format_option, print_json, selection, suite_of


@click.command("cases")
@click.argument("patterns", nargs=-1, metavar="[PATTERN]…", shell_complete=case_ids)
@format_option
@with_fixtures
def command(patterns: tuple[str, ...], form: str, folders: tuple[Path, ...]) -> None:
    """List the cases whose id matches a PATTERN: * is one component, ** any number."""
    cases = selection(suite_of(folders), patterns, ())
    if form == "json":
        rows = ("id", "level", "op", "profile", "title", "rules", "needs")
        print_json([{name: getattr(case, name) for name in rows} for case in cases])
        return
    for case in cases:
        click.echo(case_line(case))
    click.echo(f"{len(cases)} cases", err=True)


def case_line(case: Case) -> str:
    """Return the line of a case in a list."""
    return f"{case.id:<56} {case.level:<7} {case.op:<7} {case.title}"
