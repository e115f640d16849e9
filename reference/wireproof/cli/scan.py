"""`wireproof scan`: archives of any size, on Spark."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TimeElapsedColumn, TransferSpeedColumn
from rich.table import Table

from wireproof.trial.exit_codes import Exit, worst
from wireproof.trial.verdicts import ROWS, gates

if TYPE_CHECKING:
    from wireproof.spark.scan import Plan, Summary

NOT_JUDGED = frozenset({"frame", "garbage", "tail"})
"""The kinds of what the reference says of the items of a scan, which are no verdicts."""

EXTRA = "scan needs further packages: pip install 'wireproof[spark]'"


@click.command("scan")
@click.argument("paths", nargs=-1, required=True, metavar="PATH…")
@click.option("--out", required=True, type=click.Path(file_okay=False, path_type=Path),
              help="the folder for the tables; a scan that was killed goes on there")  # fmt: skip
@click.option("--adapter", "adapters", multiple=True, help="ask this adapter about every entry; repeatable")
@click.option("--source", default="kafka_log", type=click.Choice(["kafka_log", "heka_stream", "iggy_log"]),
              help="what the objects are")  # fmt: skip
@click.option("--set", "assignments", multiple=True, metavar="NAME=VALUE", help="an option of the source")
@click.option("--master", help="of Spark; all cores of this machine if left out")
@click.option("--samples", default=3, type=click.IntRange(0, 1000), help="kept of each signature")
def command(
    paths: tuple[str, ...],
    out: Path,
    adapters: tuple[str, ...],
    source: str,
    assignments: tuple[str, ...],
    master: str | None,
    samples: int,
) -> int:
    """Read every object that PATH… name: which frames are refused, and which are understood differently."""
    try:
        from wireproof.spark import jobs, scan  # noqa: PLC0415 - Spark is an extra
    except ImportError as error:
        raise click.ClickException(f"{EXTRA} ({error})") from None
    options = jobs.source_options(paths, assignments)
    jobs.ready(adapters)
    plan = scan.planned(f"wireproof.{source}", options, adapters, out.absolute(), samples)
    summary = _watched(plan, master)
    _shown(summary, out)
    return exit_of(summary.signatures)


def _watched(plan: "Plan", master: str | None) -> "Summary":
    """With a bar on a terminal."""
    from wireproof.spark import jobs, scan  # noqa: PLC0415 - as above

    console = Console(stderr=True)
    columns = (BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("scan")
        with jobs.told():
            return scan.run(plan, master, lambda done, total: bar.update(task, completed=done, total=total))


def _shown(summary: "Summary", out: Path) -> None:
    table = Table(box=None)
    for name in ("implementation", "format", "verdict", "class", "path"):
        table.add_column(name, overflow="fold")
    for name in ("frames", "bytes"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in summary.signatures:
        count, size = f"{row['count']:,}", f"{row['bytes']:,}"
        table.add_row(
            row["implementation"], row["format"], row["kind"], row["class"], row["path"], count, size
        )
    console = Console()
    console.print(table)
    read, garbage, tails = (
        sum(row[n] for row in summary.files) for n in ("read", "garbage_bytes", "tail_bytes")
    )
    console.print(
        f"{len(summary.files)} objects, {read:,} bytes: {read - garbage - tails:,} of frames, "
        f"{garbage:,} of garbage, {tails:,} of torn tails; "
        f"{summary.spans} spans in {summary.seconds:.1f} s; tables in {out}",
        soft_wrap=True,
    )


def exit_of(signatures: list[dict[str, Any]]) -> int:
    """As a run of cases ends: what the reference refuses of a log is no finding about a codec."""
    return int(worst(_code(row) for row in signatures if row["kind"] not in NOT_JUDGED))


def _code(row: dict[str, Any]) -> Exit:
    name = row["kind"].partition(":")[0]
    by_gate = {"suite": Exit.SUITE, "adapter": Exit.ADAPTER}
    if (gate := ROWS[name].gate) in by_gate:
        return by_gate[gate]
    if name == "not-run":
        return Exit.ADAPTER
    return Exit.FAILS if gates(name, "must") else Exit.CONFORMS
