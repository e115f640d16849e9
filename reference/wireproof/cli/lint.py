"""`wireproof lint`: check the fixtures and rules."""

from pathlib import Path

import click

from wireproof.cases.lint import lint
from wireproof.cli.options import suite_of
from wireproof.trial.exit_codes import Exit


@click.command("lint")
@click.option("--fixtures", "folders", multiple=True, type=click.Path(exists=True, file_okay=False, path_type=Path),
              help="further fixtures, beside those of the package")  # fmt: skip
def command(folders: tuple[Path, ...]) -> int:
    """Hold every fixture to the schema, the rules and the reference; one line a problem."""
    suite = suite_of(folders)
    problems = lint(suite)
    for problem in problems:
        click.echo(str(problem))
    excluded = sum(1 for rule in suite.rules.values() if rule.exclusion)
    click.echo(
        f"{len(suite.cases)} cases, {len(suite.rules)} rules, {excluded} with an exclusion, {len(problems)} problems"
    )
    return Exit.SUITE if problems else Exit.CONFORMS
