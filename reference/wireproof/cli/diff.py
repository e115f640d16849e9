"""`wireproof diff`: compare two runs."""

from pathlib import Path

import click

from wireproof.report.diff import diff
from wireproof.report.sanitize import escape_unsafe
from wireproof.runner.event_files import EventStream, read_events
from wireproof.runner.events import EventError
from wireproof.runner.exit_codes import Exit


@click.command("diff")
@click.argument("before", metavar="OLD", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("after", metavar="NEW", type=click.Path(exists=True, dir_okay=False, path_type=Path))
def command(before: Path, after: Path) -> int:
    """Compare two files of `check --out`: print fixed, broken and changed cases from OLD to NEW."""
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
