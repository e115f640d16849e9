"""`wireproof report`: the views of streams that `check … --out` wrote, and of the tables of Spark's jobs."""

from functools import partial
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from wireproof.cli import fuzz_on_spark, scan
from wireproof.cli.check.run import PrintedRun, print_report_end
from wireproof.cli.common.general_options import with_fixtures
from wireproof.cli.common.last_run import NAMED, RunFile, readable_last_run, streams_of
from wireproof.cli.common.options import all_findings_option, suite_of
from wireproof.cli.common.output_files import (
    Views,
    output_files_of,
    output_options,
    refuse_same_file,
    write_outputs,
)
from wireproof.files import replace_text
from wireproof.install_hint import install_command
from wireproof.report.terminal import RunView, output_console, print_run, summary
from wireproof.run.baselines.baseline import NO_BASELINE, applied_baseline, known_origin_text, stored_baseline
from wireproof.run.case_lookup import CaseLookup
from wireproof.run.conclusion import exit_code
from wireproof.run.exit_codes import Exit, deciding_code


@click.command("report")
@click.argument("files", nargs=-1, required=True, metavar="RUN…", type=RunFile())
@all_findings_option
@output_options
@with_fixtures
@click.option("--quiet", is_flag=True, help="print the matrix only")
def command(
    files: tuple[Path, ...],
    folders: tuple[Path, ...],
    quiet: bool,
    every_finding: bool,
    **more: Any,  # noqa: ANN401 - the options of the views
) -> int:
    """Render RUNs, the files of `check --out`; shards are joined. A folder is of `scan` or `fuzz --spark`.

    `last` is the last run of this project: every kind of failure, with the number that `check` gave it.

    The exit code is that of `check`: joined shards end as the whole run would have, with its baseline.
    """
    refuse_same_file([*dict.fromkeys(files), *more.values()])
    if any(file.is_dir() for file in files):
        _tables(files, output_files_of(more))
        return Exit.CONFORMS
    stored = readable_last_run()
    last = [str(file.absolute()) for file in files] == [stored.file]
    numbers = stored.numbers if last else {}
    streams = streams_of(files)
    suite = suite_of(folders)
    applied = [
        applied_baseline(stream, stored_in, suite)
        if (stored_in := stored_baseline(stream, suite))
        else NO_BASELINE
        for stream in streams
    ]
    output = output_console()
    if quiet:
        output.print(summary(streams))
    else:
        lookups, first, shown = CaseLookup(suite), 1, []
        for stream, known in zip(streams, applied, strict=True):
            view = RunView(
                lookups.case, lookups.twin, lookups.basis, known, share=len(streams), first=first,
                every=every_finding or NAMED in click.get_current_context().meta,
                numbers=numbers, origin=partial(known_origin_text, known),
            )  # fmt: skip
            found, printed = print_run(stream, output, view)
            first += len(found)
            shown.append(PrintedRun(stream, found, printed, exit_code(stream, known), known))
        print_report_end(output, shown, files, last=last)
    write_outputs(streams, output_files_of(more), suite, applied, numbers)
    return deciding_code(map(exit_code, streams, applied))


def _tables(files: tuple[Path, ...], views: Views) -> None:
    """Print the tables of one folder, and write their HTML page if `--html` is given."""
    if len(files) > 1:
        raise click.UsageError("a folder of tables must be the only argument")
    if any(view for name, view in views.items() if name != "html"):
        raise click.UsageError("of a folder of tables there is --html, and what is printed here")
    try:
        from wireproof.spark import report_page  # noqa: PLC0415 - Spark is an extra
    except ImportError as error:
        raise click.ClickException(
            f"the tables need further packages: {install_command('spark')} ({error})"
        ) from None
    found = report_page.load_job(files[0])
    if found.is_scan:
        scan.print_scan_tables(found.tables["signatures"], found.tables["files"])
    else:
        fuzz_on_spark.print_campaign_tables(found.tables["signatures"])
    Console().print(f"tables in {files[0]}", soft_wrap=True)
    if isinstance(file := views["html"], Path):
        replace_text(file, report_page.render_page(files[0]))
