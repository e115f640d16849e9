"""`wireproof diff`: compare two runs, several versions, the cases of two exports, or two scans."""

from collections.abc import Sequence
from pathlib import Path

import click

from wireproof.cases.fixtures import load
from wireproof.cli.common.last_run import streams_of
from wireproof.install_hint import install_command
from wireproof.report.diff import changelog, diff, export_diff, histories, read_export
from wireproof.run.events import EventError, EventStream
from wireproof.run.exit_codes import Exit
from wireproof.spark.job_state import STATE
from wireproof.wire.text import escape_unsafe


@click.command("diff")
@click.argument(
    "paths", nargs=-1, required=True, metavar="RUN…", type=click.Path(exists=True, path_type=Path)
)
@click.option("--markdown", is_flag=True, help="of two exports: print the list of changes as Markdown")
def command(paths: tuple[Path, ...], markdown: bool) -> int:
    """Print the changes from one RUN of `check --out` to the next, between two exports, or between two scans.

    Of two runs: fixed, broken and changed cases. Of one file, or of three and more: the version that failed
    each case first, and the one that fixed it. Of exports: added, removed and changed cases. Of
    scans, two folders or one with two scans: what is newly damaged or read otherwise, and what is no longer.
    Exit code 1 means that a case is broken, that one of an export is removed or has another input, or that a
    scan found something new.
    """
    if all((path / STATE).exists() for path in paths):
        return _scans(paths)
    folders = [path.is_dir() for path in paths]
    if any(folders):
        if folders != [True, True]:
            raise click.UsageError("name runs, two exports or scans: a run is a file, the others are folders")
        found = export_diff(*map(read_export, paths))
        for line in [changelog(found)] if markdown else list(found.lines()) or ["no change"]:
            click.echo(line if markdown else escape_unsafe(line))
        return Exit.FAILS if found.broken else Exit.CONFORMS
    if markdown:
        raise click.UsageError("--markdown is for two exports: `report --markdown` renders runs")
    return _runs(*paths) if len(paths) == 2 else _versions(paths)


def _scans(folders: Sequence[Path]) -> int:
    """Print what is in one of two scans only."""
    try:
        from wireproof.spark.stored_tables import scan_changes  # noqa: PLC0415 - Spark is an extra
    except ImportError as error:
        text = f"the tables need further packages: {install_command('spark')} ({error})"
        raise click.ClickException(text) from None
    if len(folders) > 2:
        raise click.UsageError("name two scans, or one folder that holds two")
    lines, worse = scan_changes(folders)
    for line in lines or ("no change",):
        click.echo(escape_unsafe(line))
    return Exit.FAILS if worse else Exit.CONFORMS


def _versions(paths: Sequence[Path]) -> int:
    """Print which version failed each case first; the exit code is that of the last version of each."""
    found = list(histories(streams_of(paths)))
    if not any(len(one.versions) > 1 for one in found):
        raise click.UsageError("nothing to compare: no implementation has two versions in these runs")
    for line in (line for one in found for line in one.lines()):
        click.echo(escape_unsafe(line))
    broken = any(turn.passed and not turn.fixed_in for one in found for turn in one.turns)
    return Exit.FAILS if broken else Exit.CONFORMS


def _runs(before: Path, after: Path) -> int:
    """Compare the only runs of two files, whatever their names are; else those with the same name."""
    old, new = streams_of([before]), streams_of([after])
    if len(old) == len(new) == 1:
        names = list(dict.fromkeys((old[0].run.adapter, new[0].run.adapter)))
        return Exit.FAILS if _compared(" and ".join(names), old[0], new[0]) else Exit.CONFORMS
    olds, news = _by_adapter(before, old), _by_adapter(after, new)
    both = sorted(olds.keys() & news.keys())
    for name in sorted(olds.keys() ^ news.keys()):
        click.echo(escape_unsafe(f"{name}: only in {before if name in olds else after}"))
    if not both:
        raise EventError(f"{before} and {after} have no run of the same adapter")
    broken = [_compared(name, olds[name], news[name]) for name in both]
    return Exit.FAILS if any(broken) else Exit.CONFORMS


def _compared(name: str, old: EventStream, new: EventStream) -> bool:
    found = diff(old, new, load() if old.run.suite != new.run.suite else None)
    for line in found.lines() or ["no change"]:
        click.echo(escape_unsafe(f"{name}: {line}"))
    return bool(found.broken)


def _by_adapter(path: Path, streams: Sequence[EventStream]) -> dict[str, EventStream]:
    """Return the runs by name; raises `EventError` if two have one name, as codecs of one template do."""
    found: dict[str, EventStream] = {}
    for stream in streams:
        name = stream.run.adapter
        if name in found:
            specs = f"{found[name].run.spec} and {stream.run.spec}"
            raise EventError(f"{path}: two runs have the name {name} ({specs}): write each to its own file")
        found[name] = stream
    return found
