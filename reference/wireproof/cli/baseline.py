"""`wireproof baseline`: files of known failures, each with an owner and a day of expiry."""

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Final, get_args

import click

from wireproof.cases.case import Case, Level
from wireproof.cases.fixtures import Suite
from wireproof.cases.sources import cited
from wireproof.cli.general_options import with_fixtures
from wireproof.cli.options import suite_of
from wireproof.files import replace_text
from wireproof.runner import baseline
from wireproof.runner.events import EventStream, read_events
from wireproof.runner.exit_codes import Exit
from wireproof.runner.known_failures import BaselineError, KnownFailure, baseline_text, read_baseline
from wireproof.wire.safe_text import escape_unsafe

LIFETIME = timedelta(days=180)
"""Lifetime of a new entry."""

MOST_RULES: Final = 4
"""Rules that are listed for an entry; a pattern may select cases of many."""


def today() -> date:
    """Return the day that is compared with the expiry dates."""
    return datetime.now(tz=UTC).date()


def only_run(path: Path) -> EventStream:
    """Read the one run of a file; raises `BaselineError` unless there is exactly one."""
    streams = read_events(path)
    if len(streams) != 1:
        raise BaselineError(f"{path}: holds {len(streams)} runs; a baseline is made from one")
    return streams[0]


@click.group("baseline")
def command() -> None:
    """Write, fix or check a file of known failures."""


@command.command("write")
@click.argument("run_file", metavar="RUN", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--owner", required=True, help="who is responsible for the entries")
@click.option("--reason", default="not looked into", show_default=True, help="why it fails")
@click.option(
    "--issue", default="", show_default=False, metavar="URL", help="the issue in which it is discussed"
)
def write(run_file: Path, owner: str, reason: str, issue: str) -> None:
    """Print a baseline of every failure of RUN, which `check --out` wrote."""
    stream = only_run(run_file)
    click.echo(baseline.write(stream, owner, reason, today() + LIFETIME, issue), nl=False)


@command.command("fix")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("run_file", metavar="RUN", type=click.Path(exists=True, dir_okay=False, path_type=Path))
def fix(file: Path, run_file: Path) -> None:
    """Rewrite FILE to match RUN: stale entries are removed, comments stay, nothing is added."""
    replace_text(file, baseline.fix(baseline_text(file), only_run(run_file), today()))


@command.command("check")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@with_fixtures
def check(file: Path, folders: tuple[Path, ...]) -> int:
    """Check that the entries of FILE are about existing cases and not expired.

    Exit code 3 if there is a problem.
    """
    known_failures = entries_of(file)
    problems = baseline.check(known_failures, suite_of(folders).by_id, today())
    for problem in problems:
        click.echo(escape_unsafe(problem))
    click.echo(f"{len(known_failures)} known failures, {len(problems)} problems")
    return Exit.BASELINE if problems else Exit.CONFORMS


@command.command("list")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--level", type=click.Choice(get_args(Level)), help="only entries for cases of this level")
@with_fixtures
def list_(file: Path, level: Level | None, folders: tuple[Path, ...]) -> None:
    """Print each entry of FILE with the lines at fault, the rules of its cases, their basis and source."""
    suite = suite_of(folders)
    wanted = [case for case in suite.cases if level in {None, case.level}]
    for entry in sorted(entries_of(file), key=lambda entry: entry.id):
        for line in _entry_lines(entry, [case for case in wanted if entry.selects(case.id)], suite):
            click.echo(escape_unsafe(line))


def _entry_lines(entry: KnownFailure, cases: list[Case], suite: Suite) -> Iterator[str]:
    """Yield the lines of an entry; none if it is about none of the cases, and about no examples."""
    if not (cases or entry.of_examples):
        return
    levels = "/".join(sorted({case.level for case in cases}))
    yield "  ".join(filter(None, (entry.id, entry.path, entry.kind, levels)))
    yield f"  reason  {entry.reason}"
    if entry.fault:
        yield f"  fault   {entry.fault}"
    names = list(dict.fromkeys(name for case in cases for name in case.rules))
    for rule in map(suite.rules.__getitem__, names[:MOST_RULES]):
        source = next((place.url for place in cited(rule.cites, suite.sources)), rule.reason)
        yield f"  rule    {rule.id} ({rule.basis or 'no basis'})  {source}"
    if len(names) > MOST_RULES:
        yield f"  rule    and {len(names) - MOST_RULES} more"


def entries_of(file: Path) -> tuple[KnownFailure, ...]:
    """Read the entries of a file."""
    return read_baseline(file)
