"""`wireproof cases`: list the cases, or the named sets of cases."""

from collections import Counter
from pathlib import Path
from typing import Any

import click

from wireproof.cases.case import Case
from wireproof.cases.fixtures import Suite
from wireproof.cases.requirements import LEVELS, editions, required_cases
from wireproof.cli.common.general_options import with_fixtures
from wireproof.cli.common.options import case_ids, format_option, named_set, print_json, selection, suite_of
from wireproof.wire.text import counted


@click.command("cases")
@click.argument("patterns", nargs=-1, metavar="[PATTERN]…", shell_complete=case_ids)
@format_option
@with_fixtures
def command(patterns: tuple[str, ...], form: str, folders: tuple[Path, ...]) -> None:
    """List the cases whose id matches a PATTERN: * is one component, ** any number.

    @DATE:NAME lists the cases of a named set with its levels, and @ alone lists the sets. `check ADAPTER
    --run @DATE:NAME` judges a codec against one. @FILE contains patterns.
    """
    suite = suite_of(folders)
    if patterns == ("@",):
        _print_sets(suite, form)
        return
    named = named_set(suite, patterns)
    cases = named.cases if named else selection(suite, patterns, ())
    if form == "json":
        rows = ("id", "level", "op", "profile", "title", "rules", "needs")
        print_json([{name: getattr(case, name) for name in rows} for case in cases])
        return
    for case in cases:
        click.echo(case_line(case))
    click.echo(counted(len(cases), "case", grouped=False), err=True)


def case_line(case: Case) -> str:
    return f"{case.id:<56} {case.level:<7} {case.op:<7} {case.title}"


def _print_sets(suite: Suite, form: str) -> None:
    rows: list[dict[str, Any]] = []
    for page in editions(suite.roots).values():
        for one in page.sets:
            found = required_cases(suite, f"{page.date}:{one.name}")
            counts: Counter[str] = Counter(case.level for case in found.cases)
            row = {"id": found.id, "title": found.title, "text": one.text, "released": page.released}
            rows.append(
                row | {level: counts[level] for level in LEVELS} | {"corrected": list(found.corrected)}
            )
    if form == "json":
        print_json(rows)
        return
    for row in rows:
        numbers = ", ".join(f"{row[level]} {level}" for level in LEVELS if row[level])
        click.echo(f"@{row['id']}  {row['title']}: {numbers}")
        click.echo(f"    {row['text']}")
