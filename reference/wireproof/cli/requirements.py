"""`wireproof requirements`: list the requirement sets, or the cases of one."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import click

from wireproof.cases.fixtures import Suite
from wireproof.cases.requirements import (
    LEVELS,
    RequiredCases,
    read_requirements,
    required_cases,
    requirement_files,
)
from wireproof.cli.options import format_option, print_json, suite_of


@click.command("requirements")
@click.argument("name", required=False, metavar="[DATE:NAME]")
@format_option
def command(name: str | None, form: str) -> None:
    """List the requirement sets, or the cases of the set DATE:NAME with their levels.

    `wireproof check ADAPTER --requirements DATE:NAME` judges a codec against a set.
    """
    suite = suite_of(())
    if name is not None:
        _print_cases(required_cases(suite, name), form)
        return
    rows = [row for path in requirement_files(suite.roots).values() for row in _rows(suite, path)]
    if form == "json":
        print_json(rows)
        return
    for row in rows:
        counts = ", ".join(f"{row[level]} {level}" for level in LEVELS if row[level])
        click.echo(f"{row['id']}  {row['title']}: {counts}")
        click.echo(f"    {row['text']}")


def _rows(suite: Suite, path: Path) -> Iterator[dict[str, object]]:
    page = read_requirements(path)
    for one in page.sets:
        found = required_cases(suite, f"{page.date}:{one.name}")
        counts: Counter[str] = Counter(case.level for case in found.cases)
        named = {"id": found.id, "title": found.title, "text": one.text, "released": page.released}
        yield named | {level: counts[level] for level in LEVELS} | {"corrected": list(found.corrected)}


def _print_cases(found: RequiredCases, form: str) -> None:
    if form == "json":
        print_json({case.id: case.level for case in found.cases})
        return
    for case in found.cases:
        click.echo(f"{case.level:<6}  {case.id}")
