"""`wireproof history`: the first version of an implementation that failed a case, over many runs."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import click

from wireproof.report.history import AdapterHistory, histories
from wireproof.report.sanitize import escape_unsafe
from wireproof.runner.event_files import read_events
from wireproof.runner.events import EventError

RUN_FILE: Final = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command("history")
@click.argument("runs", nargs=-1, required=True, metavar="RUN…", type=RUN_FILE)
@click.option("--all", "every", is_flag=True, help="derived cases too, one line each")
def command(runs: tuple[Path, ...], every: bool) -> None:
    """Print each version's score and each case's first failing version, of the streams of `check … --out`."""
    streams = [stream for run in runs for stream in read_events(run)]
    if not streams:
        raise EventError(f"{runs[0]}: holds no run: write one with `wireproof check … --out {runs[0].name}`")
    for one in histories(streams):
        for line in _lines(one, every=every):
            click.echo(escape_unsafe(line))


def _lines(one: AdapterHistory, *, every: bool) -> Iterator[str]:
    for version in one.versions:
        passed, judged = one.passed[version]
        yield f"{one.adapter} {version}: {passed} of {judged} pass"
    shown = [turn for turn in one.turns if every or "~" not in turn.id]
    yield from (f"{one.adapter}: {turn}" for turn in shown)
    if len(shown) < len(one.turns):
        yield f"{one.adapter}: and {len(one.turns) - len(shown)} of damaged families: --all"
