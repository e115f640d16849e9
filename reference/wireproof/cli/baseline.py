"""`wireproof baseline`: known failures as debts, each with an owner and a day."""

from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import click

from wireproof.cli.options import suite_of, with_fixtures
from wireproof.files import replace_text
from wireproof.trial import baseline
from wireproof.trial.exit_codes import Exit
from wireproof.trial.streams import Stream, read

LIFE = timedelta(days=180)
"""How long a new debt may stand."""


def today() -> date:
    """The day by which debts are measured."""
    return datetime.now(tz=UTC).date()


def only(path: Path) -> Stream:
    """The one run of a stream; a baseline is one adapter's."""
    streams = read(path)
    if len(streams) != 1:
        raise baseline.BaselineError(f"{path}: holds {len(streams)} runs; a baseline is made from one")
    return streams[0]


@click.group("baseline")
def command() -> None:
    """Known failures as debts."""


@command.command("write")
@click.argument("stream", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--owner", required=True, help="who pays")
@click.option("--reason", default="not looked into", help="why it fails")
@click.option("--issue", default="", metavar="URL", help="where it is talked about")
def write(stream: Path, owner: str, reason: str, issue: str) -> None:
    """Print a baseline of every failure of the run in STREAM."""
    click.echo(baseline.write(only(stream), owner, reason, today() + LIFE, issue), nl=False)


@command.command("fix")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("stream", type=click.Path(exists=True, dir_okay=False, path_type=Path))
def fix(file: Path, stream: Path) -> None:
    """Rewrite FILE by the run in STREAM: stale debts go, comments stay, nothing is added."""
    replace_text(file, baseline.fix(baseline.text_of(file), only(stream), today()))


@command.command("check")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--ratchet", "old", type=click.Path(exists=True, dir_okay=False, path_type=Path),
              metavar="OLD", help="FILE before: it may hold no new debt, and no later day")  # fmt: skip
@with_fixtures
def check(file: Path, old: Path | None, folders: tuple[Path, ...]) -> int:
    """Look for debts of cases that do not exist, for days that are past, and for debts that grew.

    Exit code 3 if there is one.
    """
    debts = held(file)
    problems = baseline.check(debts, suite_of(folders).by_id, today())
    if old is not None:
        problems += baseline.grown(held(old), debts)
    for problem in problems:
        click.echo(problem)
    click.echo(f"{len(debts)} debts, {len(problems)} problems")
    return Exit.BASELINE if problems else Exit.CONFORMS


def held(file: Path) -> tuple[baseline.Debt, ...]:
    """The debts of a file."""
    return baseline.read(file)
