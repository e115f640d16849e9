"""`wireproof report`: the views of streams that `check … --out` wrote, and of the tables of Spark's jobs."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from wireproof.cli import campaign, scan
from wireproof.cli.options import showing_all, suite_of, with_fixtures
from wireproof.cli.run_end import Judgement, print_report_end
from wireproof.cli.views import Views, viewing, views_of, write_views
from wireproof.files import replace_text
from wireproof.report.terminal import View, console, show, summary
from wireproof.trial.conclusion import trust_codes
from wireproof.trial.events import EventError
from wireproof.trial.exit_codes import Exit, worst
from wireproof.trial.lookup import Lookups
from wireproof.trial.streams import Stream, merge, read


@click.command("report")
@click.argument(
    "files", nargs=-1, required=True, metavar="RUN…", type=click.Path(exists=True, path_type=Path)
)
@showing_all
@viewing
@with_fixtures
@click.option("--quiet", is_flag=True, help="print the matrix only")
def command(
    files: tuple[Path, ...],
    folders: tuple[Path, ...],
    quiet: bool,
    every_finding: bool,
    **more: Any,  # noqa: ANN401 - the options of the views
) -> int:
    """Render RUNs, the files of `check --out`; shards are joined. A folder is that of a scan or a campaign.

    Failures do not change the exit code, they are what a report shows. A run that cannot be trusted does:
    2, it judged nothing; 1 or 4, it left cases out, because the codec died of them or for another reason.
    """
    if any(file.is_dir() for file in files):
        _tables(files, views_of(more))
        return Exit.CONFORMS
    streams = _joined([stream for file in files for stream in read(file)])
    if not streams:
        raise EventError(
            f"{files[0]}: holds no run: write one with `wireproof check … --out {files[0].name}`"
        )
    suite = suite_of(folders)
    output = console()
    if quiet:
        output.print(summary(streams))
    else:
        print_report_end(output, list(_shown(streams, output, Lookups(suite), every=every_finding)), files)
    write_views(streams, views_of(more), suite)
    return worst([code for stream in streams for code in trust_codes(stream)])


def _shown(
    streams: Sequence[Stream], output: Console, lookups: Lookups, *, every: bool
) -> Iterator[Judgement]:
    """Print each run."""
    first = 1
    for stream in streams:
        view = View(lookups.case, lookups.twin, every=every, share=len(streams), first=first)
        shown = show(stream, output, view)
        first += len(shown.found)
        yield Judgement(stream.run.spec, stream, shown, worst(trust_codes(stream)))


def _tables(files: tuple[Path, ...], views: Views) -> None:
    """Print the tables of one folder, and write their HTML page if it is wanted."""
    if len(files) > 1:
        raise click.UsageError("a folder of tables is rendered alone")
    if views != Views(html=views.html):
        raise click.UsageError("of a folder of tables there is --html, and what is printed here")
    try:
        from wireproof.spark import board  # noqa: PLC0415 - Spark is an extra
    except ImportError as error:
        raise click.ClickException(
            f"the tables want further packages: pip install 'wireproof[spark]' ({error})"
        ) from None
    found = board.kept(files[0])
    if found.is_scan:
        scan.shown(found.tables["signatures"], found.tables["files"])
    else:
        campaign.shown(found.tables["signatures"])
    Console().print(f"tables in {files[0]}", soft_wrap=True)
    if views.html:
        replace_text(views.html, board.html(files[0]))


def _joined(streams: list[Stream]) -> list[Stream]:
    whole = [stream for stream in streams if not stream.run.shard]
    shards: dict[str, list[Stream]] = {}
    for stream in streams:
        if stream.run.shard:
            shards.setdefault(stream.run.spec, []).append(stream)
    return [*whole, *(merge(parts) for parts in shards.values())]
