"""Check what stands behind the cases and print the figures: `python -m tests.fixture_tables`."""

import sys

import click

from tests.fixture_tables.checks import figures, table_problems
from wireproof.cases.fixtures import load


def main() -> None:
    """Print a line for each problem and each kind; exit with 1 if there is a problem."""
    suite = load()
    problems = list(table_problems(suite))
    for line in (*map(str, problems), *figures(suite), f"{len(problems)} problems"):
        click.echo(line)
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
