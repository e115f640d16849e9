"""`wireproof scan`: read archives of any size on Spark."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, get_args

import click
from rich.console import Console
from rich.progress import DownloadColumn, TransferSpeedColumn
from rich.table import Table

from wireproof.cli.common.progress import job_bar
from wireproof.cli.common.spark_options import OUT, on_cluster
from wireproof.files import read_limited_text
from wireproof.formats import FAMILIES
from wireproof.inspect import directory_view
from wireproof.install_hint import install_command
from wireproof.judge.verdicts import CAUSED_BY_CODEC, ROWS, gates
from wireproof.run.conclusion import NO_RESULT
from wireproof.run.exit_codes import Exit, deciding_code
from wireproof.wire.options import Compression
from wireproof.wire.text import counted, escape_unsafe

if TYPE_CHECKING:
    from wireproof.spark.scan_folder import FolderScan

SOURCES = tuple(name for family in FAMILIES.values() for name in family.source_names)
"""The sources of all families."""

SOURCE_OPTIONS: Final = ("revision", "compression", "max_message", "max_output")
"""The options of a source that are options of this verb, beside the keys."""

NOT_JUDGED = frozenset({"frame", "garbage", "tail"})
"""Kinds of items that only the reference reports; they are not verdicts."""


@click.command("scan")
@click.argument("paths", nargs=-1, required=True, metavar="PATH…")
@click.option("--out", required=True, type=OUT,
              help="the folder for the tables; a repeated scan reads what is new or changed")  # fmt: skip
@click.option(
    "--adapter", "adapters", multiple=True, help="an adapter that reads every entry too; repeatable"
)
@click.option("--source", default=SOURCES[0], type=click.Choice(SOURCES),
              help="the format of the files")  # fmt: skip
@click.option("--revision", help="the revision of Iggy segments  [default: that of the first one]")
@click.option("--keys", type=click.Path(exists=True, dir_okay=False, path_type=Path), metavar="FILE",
              help='keys of Heka signers as JSON: {"signer_1": "<hex>"}  [default: none]')  # fmt: skip
@click.option("--compression", type=click.Choice(get_args(Compression)),
              help="of every Heka message  [default: none]")  # fmt: skip
@click.option("--max-message", type=click.IntRange(min=1), metavar="BYTES",
              help="maximum size of an entry  [default: that of the format]")  # fmt: skip
@click.option("--max-output", type=click.IntRange(min=1), metavar="BYTES",
              help="maximum size of what an entry decompresses to  [default: 64 MiB]")  # fmt: skip
@on_cluster
def command(
    paths: tuple[str, ...],
    out: Path,
    adapters: tuple[str, ...],
    source: str,
    keys: Path | None,
    **more: Any,  # noqa: ANN401 - `SOURCE_OPTIONS`, and the options of the cluster
) -> int:
    """Read every object of PATH… and count frames that are refused, or that adapters read differently.

    Damaged places and objects that were not read are listed, with exit code 1. The `.index`, `.timeindex`
    and `.txnindex` beside a local Kafka log are checked against it: exit code 1 if one of them is wrong.
    """
    try:
        from wireproof.spark import scan_folder, session, verdict_rows  # noqa: PLC0415 - Spark is an extra
    except ImportError as error:
        text = f"scan needs further packages: {install_command('spark')} ({error})"
        raise click.ClickException(text) from None
    given = {name: str(more[name]) for name in SOURCE_OPTIONS if more[name] is not None}
    if keys:
        try:
            given["keys"] = read_limited_text(keys, 1 << 20)
        except UnicodeDecodeError:
            raise click.UsageError(f"--keys {keys}: this is no text") from None
    options = _with_revision(source, session.source_options(paths, **given))
    where = session.cluster_env_of(more)
    where.settings()
    session.start_adapters(adapters)
    settings = verdict_rows.ScanSettings(f"wireproof.{source}", options, adapters)
    job = scan_folder.open_scan(settings, out.absolute())
    if job.is_current:
        job.load_tables()
        job.check_indexes()
    else:
        columns = (DownloadColumn(), TransferSpeedColumn())
        with (
            session.spark_of(where, job.out) as (spark, console),
            job_bar(console, "scan", *columns) as report_progress,
        ):
            job.run(spark, report_progress)
    for line in job.changes:
        click.echo(escape_unsafe(line))
    sound = _not_sound(job, out)
    signatures, files = job.tables["signatures"], job.tables["files"]
    print_scan_tables(signatures, files)
    speed = job.new_bytes / max(job.seconds, 0.001) / (1 << 20)
    rate = f", {speed:,.1f} MiB/s with Spark's start"
    Console().print(
        f"{job.new_bytes:,} bytes read in {job.seconds:.1f} s{rate * bool(job.new_bytes)}; tables in {out}",
        soft_wrap=True,
    )
    beside = _index_files(job)
    return deciding_code([Exit(job_exit_code(signatures)), sound, beside])


def _with_revision(source: str, options: dict[str, str]) -> dict[str, str]:
    """Return the options with the revision that the first object shows, if none of several is given."""
    if any(name.lower() == "revision" for name in options):
        return options
    from wireproof.spark import scan_report  # noqa: PLC0415 - Spark is an extra
    from wireproof.spark.logs import objects, sources  # noqa: PLC0415 - Spark is an extra

    asked = sources.parse(f"wireproof.{source}", options)
    if len(asked.kind.framings) < 2:
        return options
    found = scan_report.find_revision(asked.kind, objects.expand_paths(asked.paths, asked.kind.suffixes))
    if found is None:
        return options
    name = asked.kind.framings[found].fmt.format_id
    click.echo(f"read as {name}, the revision of the first segment; --revision names another")
    return {**options, "revision": found}


def _not_sound(job: "FolderScan", out: Path) -> Exit:
    """Print the damaged places and the objects that were not read; return the exit code for them."""
    from wireproof.spark import scan_report  # noqa: PLC0415 - as above

    source, files = job.settings.source, job.tables["files"]
    lines, wrong = scan_report.report_scan(source, job.places, job.skipped, files, out)
    for line in lines:
        click.echo(escape_unsafe(line))
    return Exit.FAILS if wrong else Exit.CONFORMS


def _index_files(job: "FolderScan") -> Exit:
    """Print a line for each wrong index file beside the logs, and a total."""
    found = job.indexes
    for line in directory_view.finding_lines([one for one in found if one.findings]):
        click.echo(line)
    errors = sum(one.errors for one in found)
    if found:
        logs = len({one.name.beside(".log") for one in found})
        click.echo(
            f"index files: {counted(len(found), 'index', 'indexes')} of {counted(logs, 'log')}, "
            f"{counted(errors, 'finding that misleads', 'findings that mislead')} a reader"
        )
    return Exit.FAILS if errors else Exit.CONFORMS


def print_scan_tables(signatures: Sequence[Mapping[str, Any]], files: Sequence[Mapping[str, Any]]) -> None:
    """Print the tables `signatures` and `files`."""
    table, names = Table(box=None), ("implementation", "format", "verdict", "class", "field")
    for name in names:
        table.add_column(name, overflow="fold")
    for name in ("frames", "bytes"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in signatures:
        table.add_row(*(row[name] for name in names), f"{row['count']:,}", f"{row['bytes']:,}")
    console = Console()
    console.print(table)
    read, garbage, tails = (
        sum(row[n] for row in files) for n in ("bytes_read", "garbage_bytes", "tail_bytes")
    )
    console.print(
        f"{counted(len(files), 'object')}, {counted(read, 'byte')}: {read - garbage - tails:,} of frames, "
        f"{garbage:,} of garbage, {tails:,} of cut tails;",
        soft_wrap=True,
        end=" ",
    )


def job_exit_code(signatures: Sequence[Mapping[str, Any]]) -> int:
    """Return the exit code of a job; an item that only the reference refuses is no finding."""
    rows = [row for row in signatures if row["verdict"] not in NOT_JUDGED]
    codes = list(map(_code, rows))
    for name in dict.fromkeys(row["implementation"] for row in rows):
        kinds = {row["verdict"].partition(":")[0] for row in rows if row["implementation"] == name}
        if kinds <= NO_RESULT:
            click.echo(f"wireproof: {name}: no case was judged: check its claims", err=True)
            codes.append(Exit.USAGE)
    return int(deciding_code(codes))


def _code(row: Mapping[str, Any]) -> Exit:
    name, _, kind = row["verdict"].partition(":")
    if code := {"suite": Exit.SUITE, "adapter": Exit.ADAPTER}.get(ROWS[name].gate):
        return code
    if name == "not-run":
        return Exit.FAILS if kind in CAUSED_BY_CODEC else Exit.ADAPTER
    return Exit.FAILS if gates(name, "must") else Exit.CONFORMS
