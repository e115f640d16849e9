"""`wireproof diff`: compare two runs, or the cases of two exports."""

from pathlib import Path

import click

from wireproof.report.diff import diff
from wireproof.report.export_diff import ExportDiff, changelog, export_diff, read_export
from wireproof.report.sanitize import escape_unsafe
from wireproof.runner.event_files import EventStream, read_events
from wireproof.runner.events import EventError
from wireproof.runner.exit_codes import Exit


@click.command("diff")
@click.argument("before", metavar="OLD", type=click.Path(exists=True, path_type=Path))
@click.argument("after", metavar="NEW", type=click.Path(exists=True, path_type=Path))
@click.option("--markdown", is_flag=True, help="of two exports: print the list of changes as Markdown")
def command(before: Path, after: Path, markdown: bool) -> int:
    """Print the changes from OLD to NEW: two files of `check --out`, or two folders of `export`.

    Of runs: fixed, broken and changed cases. Of exports: added, renamed, removed and changed cases. Exit code
    1 means that a case is broken, or that one of an export is removed or has another input.
    """
    folders = before.is_dir(), after.is_dir()
    if folders[0] != folders[1]:
        raise click.UsageError("name two runs or two exports: one is a file, the other one a folder")
    if all(folders):
        return _exports(export_diff(read_export(before), read_export(after)), markdown=markdown)
    if markdown:
        raise click.UsageError("--markdown is for two exports: `report --markdown` renders runs")
    return _runs(before, after)


def _exports(found: ExportDiff, *, markdown: bool) -> int:
    for line in [changelog(found)] if markdown else list(found.lines()) or ["no change"]:
        click.echo(line if markdown else escape_unsafe(line))
    return Exit.FAILS if found.broken else Exit.CONFORMS


def _runs(before: Path, after: Path) -> int:
    olds, news = (_by_adapter(path) for path in (before, after))
    broken = False
    for name in sorted(olds.keys() & news.keys()):
        found = diff(olds[name], news[name])
        broken |= bool(found.broken)
        for line in found.lines() or ["no change"]:
            click.echo(escape_unsafe(f"{name}: {line}"))
    for name in sorted(olds.keys() ^ news.keys()):
        click.echo(escape_unsafe(f"{name}: only in {before if name in olds else after}"))
    return Exit.FAILS if broken else Exit.CONFORMS


def _by_adapter(path: Path) -> dict[str, EventStream]:
    streams = {stream.run.adapter: stream for stream in read_events(path)}
    if not streams:
        raise EventError(f"{path}: holds no run: write one with `wireproof check … --out {path.name}`")
    return streams
