"""`wireproof lint`: check the fixtures and rules, and freeze the bytes of new ones."""

from pathlib import Path

import click

from wireproof.cases.fixture_writer import sort_files
from wireproof.cases.frozen_digests import freeze, unfrozen_cases
from wireproof.cases.lint import lint
from wireproof.cases.vector_coverage import count_line, tables_of
from wireproof.cli.options import suite_of, with_fixtures
from wireproof.runner.exit_codes import Exit


@click.command("lint")
@click.option(
    "--freeze", "freezing", is_flag=True, help="record digests of new cases; their bytes can no longer change"
)
@click.option(
    "--fix",
    "sorting",
    is_flag=True,
    help="sort cases and keys, and write JSON in its layout; changes no case",
)
@with_fixtures
def command(folders: tuple[Path, ...], freezing: bool, sorting: bool) -> int:
    """Check every fixture against the schema, the rules and the reference; print one line for each problem.

    Nothing is frozen if there is a problem. Exit code 5 if there is one: it is a fault of the suite.
    """
    suite = suite_of(folders)
    for path in sort_files(suite) if sorting else ():
        click.echo(f"{path}: sorted")
    suite = suite_of(folders) if sorting else suite
    problems = lint(suite)
    for problem in problems:
        click.echo(str(problem))
    if freezing and not problems:
        for path, number in freeze(suite).items():
            click.echo(f"{path}: {number} more ids are frozen")
        suite = suite_of(folders)
    for table in tables_of(suite):
        click.echo(count_line(table))
    excluded = sum(1 for rule in suite.rules.values() if rule.exclusion)
    click.echo(
        f"{len(suite.cases)} cases, {len(unfrozen_cases(suite))} of them not frozen, "
        f"{len(suite.rules)} rules, {excluded} with an exclusion, {len(problems)} problems"
    )
    return Exit.SUITE if problems else Exit.CONFORMS
