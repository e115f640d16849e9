"""`wireproof baseline`: files of known failures, each with an owner and a day of expiry."""

from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Final, get_args

import click

from wireproof import __version__
from wireproof.cases.case import Case, Level
from wireproof.cases.fixtures import Suite
from wireproof.cases.rules import cited
from wireproof.cli.common.general_options import retired_verb, with_fixtures
from wireproof.cli.common.options import suite_of
from wireproof.files import replace_text
from wireproof.run.baselines import baseline, baseline_adding, baseline_writing
from wireproof.run.baselines.baseline import applied_baseline, stored_baseline
from wireproof.run.baselines.known_failures import (
    Baseline,
    BaselineError,
    CaseNames,
    KnownFailure,
    baseline_text,
)
from wireproof.run.events import EventStream, read_events
from wireproof.run.exit_codes import Exit
from wireproof.wire.text import counted, escape_unsafe

LIFETIME = timedelta(days=180)
"""Lifetime of a new entry."""

MOST_LINES: Final = 20
"""Lines that `fix` prints of each kind of change."""


def today() -> date:
    return datetime.now(tz=UTC).date()


def runs_of(paths: Sequence[Path]) -> list[EventStream]:
    """Read the runs of files; raises `BaselineError` for a file without any, or a run of another suite."""
    found: list[EventStream] = []
    for path in paths:
        streams = read_events(path)
        if not streams:
            raise BaselineError(f"{path}: holds no run; write one with `check --out {path.name}`")
        for stream in streams:
            if stream.run.suite != __version__:
                raise BaselineError(
                    f"{path}: is a run of wireproof {stream.run.suite}, and this is {__version__}: "
                    "run `check` again"
                )
        found += streams
    return found


class Commands(click.Group):
    """The group of the commands; one that is gone is answered with what replaces it."""

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command; raises `click.UsageError` for one that is gone."""
        found = super().get_command(ctx, cmd_name)
        if found is None and (gone := retired_verb(f"baseline {cmd_name}")):
            raise click.UsageError(gone)
        return found


@click.group("baseline", cls=Commands)
def command() -> None:
    """Add to, fix, extend or check a file of known failures."""


@command.command("add")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.argument("words", metavar="RUN… [ID|KIND…]", nargs=-1, required=True)
@click.option(
    "--owner",
    default="",
    show_default=False,
    help="who is responsible for the new entries; otherwise that of FILE",
)
@click.option("--reason", default="not looked into", help="why they fail")
@click.option(
    "--issue", default="", show_default=False, metavar="URL", help="the issue in which it is discussed"
)
@with_fixtures
def add(
    file: Path, words: tuple[str, ...], owner: str, reason: str, issue: str, folders: tuple[Path, ...]
) -> None:
    """Add entries for the failures of the RUNs that FILE does not expect; all that it has stays as it is.

    With ids, patterns of ids or kinds such as fail:wrong-accept, only those; with new-case, level-changed,
    expectation-changed, base-passes or codec, those that are new for this reason. A FILE that is not there
    is written, and needs an owner. The entries are valid for 180 days.
    """
    run_files = [path for path in map(Path, words) if path.exists() and not path.is_dir()]
    chosen = [word for word in words if Path(word) not in run_files]
    if not run_files:
        raise BaselineError(f"{words[0]}: no such file; write a run with `check --out run.jsonl`")
    suite, streams = suite_of(folders), runs_of(run_files)
    origins = {  # why the failures are not in the baselines that they were judged with
        name: origin.kind
        for stream in streams
        if (known := stored_baseline(stream, suite))
        for name, origin in applied_baseline(stream, known, suite).origins.items()
    }
    done = baseline_adding.add(
        baseline_text(file) if file.exists() else "",
        streams,
        CaseNames.of(suite),
        KnownFailure("", "", "", reason, owner, today() + LIFETIME, issue),
        chosen,
        today=today(),
        name=file.name,
        origins=origins,
    )
    complete = rewrite_after_runs(file, done.text, streams, suite)
    changed = [f"{one}: is known as {was}, and fails as {now}" for one, (was, now) in done.changed.items()]
    echo_changes("added", [f"{entry.id} ({entry.kind})" for entry in done.added])
    echo_changes("changed", changed)
    echo_changes("expired", [f"{entry.id}: on {entry.expires.isoformat()}" for entry in done.expired])
    counts = {"known already": done.known, "not chosen": done.left, "changed": len(changed),
              "expired": len(done.expired)}  # fmt: skip
    added = f"{file.name}: {len(done.added):,} added for {counted(done.failures, 'failure')}"
    click.echo(", ".join([added, *(f"{n:,} {what}" for what, n in counts.items() if n)]) + complete)
    if done.changed:
        click.echo(f"`wireproof baseline fix {file} {run_files[0]}` rewrites the changed ones")
    if done.expired:
        click.echo(f"`wireproof baseline extend {file} --until DATE` makes the expired ones count again")


@command.command("fix")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument(
    "run_files", metavar="RUN…", nargs=-1, required=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
)  # fmt: skip
@with_fixtures
def fix(file: Path, run_files: tuple[Path, ...], folders: tuple[Path, ...]) -> None:
    """Rewrite FILE to match the RUNs: stale entries go, comments stay.

    Each RUN may have a part of the cases. Nothing is added, and an entry of a case that no RUN judged stays.
    """
    streams, suite = runs_of(run_files), suite_of(folders)
    done = baseline_writing.fix(baseline_text(file), streams, CaseNames.of(suite), file.name)
    complete = rewrite_after_runs(file, done.text, streams, suite)
    removed = [f"{entry.id} ({entry.kind}): passes now" for entry in done.removed]
    changed = [f"{name}: fails as {kind} now" for name, kind in done.changed.items()]
    mixed = [
        f"{entry.id} ({entry.kind}): some of its cases fail in another way"
        + (", which `baseline add` adds" if entry.prefix else "")
        for entry in done.mixed
    ]
    for word, lines in (("removed", removed), ("changed", changed), ("kept", mixed)):
        echo_changes(word, lines)
    unjudged = f", of which no run says anything about {done.unjudged:,}" if done.unjudged else ""
    click.echo(
        f"{file.name}: {len(removed):,} removed, {len(changed):,} changed, "
        f"{done.kept:,} kept{unjudged}{complete}"
    )


def echo_changes(word: str, lines: Sequence[str]) -> None:
    """Print the first changes of one kind, and how many there are beside; `git diff` has them all."""
    more = [f"and {len(lines) - MOST_LINES:,} more"] if len(lines) > MOST_LINES else []
    for line in (*lines[:MOST_LINES], *more):
        click.echo(escape_unsafe(f"{word:7}  {line}"))


def rewrite_after_runs(file: Path, text: str, streams: Sequence[EventStream], suite: Suite) -> str:
    """Write a baseline, with the release that it is complete for now; return words that say so, or none."""
    settled = baseline_writing.settled(text, streams, suite, today())
    rewrite(file, settled)
    return "" if settled == text else f"; complete for wireproof {__version__}"


def rewrite(file: Path, text: str) -> None:
    """Write a baseline if its text is another one; raises `BaselineError` if it is read-only."""
    if file.exists() and text == baseline_text(file):
        return
    # A file can be replaced even so, if its folder can be written.
    if file.exists() and not file.stat().st_mode & 0o222:
        raise BaselineError(f"{file} is read-only and was not changed: allow writing, then run this again")
    replace_text(file, text)


@command.command("extend")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("words", metavar="[ID|KIND]…", nargs=-1)
@click.option(
    "--until", type=click.DateTime(["%Y-%m-%d"]), required=True, metavar="DATE",
    help="the last day on which the entries count, such as 2027-06-30",
)  # fmt: skip
def extend(file: Path, words: tuple[str, ...], until: datetime) -> None:
    """Give the entries of FILE a later last day: all, or those of the ids, patterns of ids or kinds."""
    done = baseline_writing.extend(baseline_text(file), until.date(), words, today(), file.name)
    rewrite(file, done.text)
    day = until.date().isoformat()
    lines = [f"{day}  {one.id} ({one.kind}), was {one.expires.isoformat()}" for one in done.extended]
    echo_changes("until", lines)
    later = f", of which {done.later:,} count as long or longer" if done.later else ""
    click.echo(f"{file.name}: {len(done.extended):,} extended, {done.kept + done.later:,} kept{later}")


@command.command("check")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@with_fixtures
def check(file: Path, folders: tuple[Path, ...]) -> int:
    """Check that the entries of FILE are about existing cases and not expired; name those that soon are.

    Exit code 2 if an entry is about no case, 3 if one has expired.
    """
    known_failures = Baseline.read(file).entries
    names = CaseNames.of(suite_of(folders))
    unknown, expired = baseline.check(known_failures, names, today(), file.name)
    notices = baseline.expiry_notices(known_failures, today(), str(file))
    for line in (*unknown, *expired, *notices):
        click.echo(escape_unsafe(line))
    click.echo(
        f"{counted(len(known_failures), 'known failure')}, {counted(len(unknown) + len(expired), 'problem')}"
    )
    if unknown:
        return Exit.USAGE
    return Exit.BASELINE if expired else Exit.CONFORMS


@command.command("list")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--level", type=click.Choice(get_args(Level)), help="only entries for cases of this level")
@with_fixtures
def list_(file: Path, level: Level | None, folders: tuple[Path, ...]) -> None:
    """Print each entry of FILE with the lines at fault, the rules of its cases, their basis and source."""
    suite = suite_of(folders)
    wanted = [case for case in suite.cases if level in {None, case.level}]
    for entry in sorted(Baseline.read(file, suite).entries, key=lambda entry: entry.id):
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
    for rule in map(suite.rules.__getitem__, names[:4]):  # a pattern may select cases of many
        source = next((place.url for place in cited(rule.cites, suite.sources)), rule.reason)
        yield f"  rule    {rule.id} ({rule.basis or 'no basis'})  {source}"
    if len(names) > 4:
        yield f"  rule    and {len(names) - 4} more"
