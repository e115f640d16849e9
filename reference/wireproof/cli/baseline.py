"""`wireproof baseline`: files of known failures, each with an owner and a day of expiry."""

from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import click

from wireproof.cli.options import suite_of, with_fixtures
from wireproof.files import replace_text
from wireproof.runner import baseline
from wireproof.runner.event_files import EventStream, read_events
from wireproof.runner.exit_codes import Exit

LIFETIME = timedelta(days=180)
"""Lifetime of a new entry."""


def today() -> date:
    """Return the day that is compared with the expiry dates."""
    return datetime.now(tz=UTC).date()


def only_run(path: Path) -> EventStream:
    """Read the one run of a file; raises `BaselineError` unless there is exactly one."""
    streams = read_events(path)
    if len(streams) != 1:
        raise baseline.BaselineError(f"{path}: holds {len(streams)} runs; a baseline is made from one")
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
    click.echo(baseline.write(only_run(run_file), owner, reason, today() + LIFETIME, issue), nl=False)


@command.command("fix")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("run_file", metavar="RUN", type=click.Path(exists=True, dir_okay=False, path_type=Path))
def fix(file: Path, run_file: Path) -> None:
    """Rewrite FILE to match RUN: stale entries are removed, comments stay, nothing is added."""
    replace_text(file, baseline.fix(baseline.baseline_text(file), only_run(run_file), today()))


@command.command("check")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--ratchet", "old", type=click.Path(exists=True, dir_okay=False, path_type=Path),
              metavar="OLD", help="an earlier version of FILE: new entries and later days fail")  # fmt: skip
@with_fixtures
def check(file: Path, old: Path | None, folders: tuple[Path, ...]) -> int:
    """Check that the entries of FILE are about existing cases and not expired, and with OLD not new.

    Exit code 3 if there is a problem.
    """
    known_failures = entries_of(file)
    problems = baseline.check(known_failures, suite_of(folders).by_id, today())
    if old is not None:
        problems += baseline.growth(entries_of(old), known_failures)
    for problem in problems:
        click.echo(problem)
    click.echo(f"{len(known_failures)} known failures, {len(problems)} problems")
    return Exit.BASELINE if problems else Exit.CONFORMS


def entries_of(file: Path) -> tuple[baseline.KnownFailure, ...]:
    """Read the entries of a file."""
    return baseline.read(file)
