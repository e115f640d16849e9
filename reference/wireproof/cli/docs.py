"""`wireproof docs`: write pages about the rules, cases and fields, and the open questions of the formats."""

from pathlib import Path
from typing import Final

import click

from wireproof.cli.fixtures_option import with_fixtures
from wireproof.cli.options import suite_of
from wireproof.files import replace_text
from wireproof.install_hint import install_command
from wireproof.report.implementation_answers import votes
from wireproof.report.kills import read_kills
from wireproof.runner.event_files import read_events

RUN_FILE: Final = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command("docs")
@click.argument("runs", nargs=-1, metavar="[RUN]…", type=RUN_FILE)
@click.option("--out", required=True, type=click.Path(file_okay=False, path_type=Path), metavar="DIR",
              help="the folder for the pages; begin with index.html")  # fmt: skip
@click.option("--kill", type=click.Path(exists=True, file_okay=False, path_type=Path), metavar="DIR",
              help="the folder of a kill.json, to show the mutants that each rule kills")  # fmt: skip
@with_fixtures
def command(runs: tuple[Path, ...], out: Path, kill: Path | None, folders: tuple[Path, ...]) -> None:
    """Write a page for each rule and each case, the fields of each format and the decision register.

    RUNs are streams of `check … --out`: with them the pages show which implementations are safe for which
    use, which of them fail a rule, and which answers they chose where the formats allow several.
    """
    try:
        from wireproof.report.docs_site import Site, pages  # noqa: PLC0415 - it needs the extra `report`
        from wireproof.report.results_pages import results_of  # noqa: PLC0415 - as above
    except ImportError as error:
        raise click.ClickException(
            f"the pages need another package: {install_command('report')} ({error})"
        ) from None
    suite = suite_of(folders)
    kills = read_kills(kill) if kill else {}
    streams = [stream for run in runs for stream in read_events(run)]
    results = results_of(suite, streams)
    site = Site(suite, votes(results.newest), kills, results)
    number = 0
    for number, (name, text) in enumerate(pages(site), 1):  # noqa: B007 - how many there were
        replace_text(out / name, text, durable=False)
    click.echo(f"{number} files: {out / 'index.html'}")
