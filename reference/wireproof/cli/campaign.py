"""`wireproof campaign`: generated cases by the million, on Spark."""

from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from wireproof.cli.fuzz import formats_of
from wireproof.cli.scan import exit_of
from wireproof.formats import FORMATS

if TYPE_CHECKING:
    from wireproof.spark.campaign import Plan, Summary

EXTRA = "campaign needs further packages: pip install 'wireproof[spark]'"

APART = ("pass", "info", "unsupported")
"""Verdicts that are counted in one line of an adapter; the table `signatures` has them all."""


@click.command("campaign")
@click.option("--adapters", required=True, metavar="A,B", help="who is asked; a comma stands between two")
@click.option("--out", required=True, type=click.Path(file_okay=False, path_type=Path),
              help="the folder for the tables; a campaign that was killed goes on there")  # fmt: skip
@click.option("--cases", default=100_000, type=click.IntRange(min=1), help="how many are generated")
@click.option("--seed", default=1, help="of all that is drawn; with a case's number it makes the case")
@click.option(
    "--format", "patterns", multiple=True, help="as kafka.batch, iggy.*/0.0.60; else what is claimed"
)
@click.option("--master", help="of Spark; all cores of this machine if left out")
@click.option("--tasks", type=click.IntRange(min=1), help="about how many; they change nothing of the result")
@click.option("--samples", default=3, type=click.IntRange(0, 1000), help="kept of each signature")
def command(
    adapters: str,
    out: Path,
    patterns: tuple[str, ...],
    master: str | None,
    tasks: int | None,
    **drawn: int,  # `cases`, `seed`, `samples`
) -> int:
    """Generate cases, ask every adapter, judge, and keep the smallest of each way in which one fails."""
    try:
        from wireproof.fuzz.numbered import Numbered  # noqa: PLC0415 - as below
        from wireproof.spark import campaign, jobs  # noqa: PLC0415 - Spark is an extra
    except ImportError as error:
        raise click.ClickException(f"{EXTRA} ({error})") from None
    specs = [spec.strip() for spec in adapters.split(",") if spec.strip()]
    if not specs:
        raise click.UsageError("--adapters: name one at least")
    wanted = formats_of(patterns) if patterns else tuple(FORMATS)
    hellos = jobs.ready(specs)
    numbered = Numbered(campaign.formats_of(hellos, wanted), campaign.ops_of(hellos), drawn["seed"])
    plan = campaign.planned(numbered, specs, drawn["cases"], out.absolute(), drawn["samples"])
    summary = _watched(plan, master, tasks)
    _shown(summary, out)
    return exit_of(summary.signatures)


def _watched(plan: "Plan", master: str | None, tasks: int | None) -> "Summary":
    """With a bar on a terminal."""
    from wireproof.spark import campaign, jobs  # noqa: PLC0415 - as above

    console = Console(stderr=True)
    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("campaign")
        with jobs.told():
            return campaign.run(
                plan, master, lambda done, total: bar.update(task, completed=done, total=total), tasks
            )


def _shown(summary: "Summary", out: Path) -> None:
    """A line for each finding, with what replays its smallest; the rest counted."""
    console = Console()
    table = Table(box=None)
    for name in ("implementation", "format", "op", "verdict", "class", "path", "finding"):
        table.add_column(name, overflow="fold")
    table.add_column("cases", justify="right", no_wrap=True)
    told = [row for row in summary.signatures if row["kind"].partition(":")[0] not in APART]
    for row in told:
        names = ("implementation", "format", "op", "kind", "class", "path", "finding")
        table.add_row(*(row[name] for name in names), f"{row['count']:,}")
    console.print(table)
    for name in dict.fromkeys(row["implementation"] for row in summary.signatures):
        console.print(Text(_counted(name, summary)), soft_wrap=True)
    rate = f", {summary.cases / summary.seconds:,.0f}/s" if summary.cases else ""
    console.print(
        f"{len(told)} findings; {summary.cases:,} cases in {summary.seconds:.1f} s{rate}; "
        f"tables in {out}; wireproof promote '{out}#FINDING' makes one a fixture",
        soft_wrap=True,
    )


def _counted(name: str, summary: "Summary") -> str:
    rows = [row for row in summary.signatures if row["implementation"] == name]
    by_kind: dict[str, int] = {}
    for row in rows:
        kind = row["kind"].partition(":")[0]
        by_kind[kind] = by_kind.get(kind, 0) + row["count"]
    return f"{name}: " + ", ".join(f"{count:,} {kind}" for kind, count in by_kind.items())
