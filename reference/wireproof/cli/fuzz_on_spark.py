"""`wireproof fuzz --spark`: check adapters against millions of generated cases, on Spark."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import click
from rich.console import Console
from rich.progress import MofNCompleteColumn
from rich.table import Table
from rich.text import Text

from wireproof.cli.common.progress import job_bar
from wireproof.cli.scan import job_exit_code
from wireproof.formats import FORMATS, matching_ids
from wireproof.install_hint import install_command
from wireproof.wire.text import counted

ONLY_COUNTED = ("pass", "info", "unsupported")
"""Verdicts that are only counted; the table `signatures` contains them."""

DEFAULT_CASES: Final = 100_000
"""Number of generated cases if `--cases` is not given."""


def fuzz_on_spark(
    specs: Sequence[str],
    out: Path,
    patterns: Sequence[str],
    **more: Any,  # noqa: ANN401 - `cases`, `seed` and the options of the cluster
) -> int:
    """Generate cases, check every adapter with them, and keep the smallest cases of each kind of failure."""
    try:
        from wireproof.spark import campaign_job, session  # noqa: PLC0415 - Spark is an extra
    except ImportError as error:
        text = f"fuzz --spark needs further packages: {install_command('spark')} ({error})"
        raise click.ClickException(text) from None
    wanted = matching_ids(patterns) if patterns else tuple(FORMATS)
    where = session.cluster_env_of(more)
    where.settings()
    hellos = session.start_adapters(specs)
    settings = campaign_job.campaign_settings(hellos, specs, wanted, more["seed"])
    job = campaign_job.open_campaign(settings, more["cases"] or DEFAULT_CASES, out.absolute())
    with (
        session.spark_of(where, job.out) as (spark, console),
        job_bar(console, "campaign", MofNCompleteColumn()) as report_progress,
    ):
        summary = job.run(spark, report_progress)
    print_campaign_tables(summary.signatures)
    rate = f", {summary.cases / summary.seconds:,.0f}/s" if summary.cases else ""
    Console().print(
        f"{counted(summary.cases, 'case')} in {summary.seconds:.1f} s{rate}; "
        f"tables in {out}; wireproof promote '{out}#FINDING' makes one a fixture",
        soft_wrap=True,
    )
    return job_exit_code(summary.signatures)


def print_campaign_tables(signatures: list[dict[str, Any]]) -> None:
    """Print the table `signatures`: a line for each finding, and the number of the other verdicts."""
    console = Console()
    table = Table(box=None)
    names = ("implementation", "format", "op", "verdict", "class", "field", "finding")
    for name in names:
        table.add_column(name, overflow="fold")
    table.add_column("cases", justify="right", no_wrap=True)
    told = [row for row in signatures if row["verdict"].partition(":")[0] not in ONLY_COUNTED]
    for row in told:
        table.add_row(*(row[name] or "" for name in names), f"{row['count']:,}")
    console.print(table)
    for name in dict.fromkeys(row["implementation"] for row in signatures):
        by_kind = Counter[str]()
        for row in (row for row in signatures if row["implementation"] == name):
            by_kind[row["verdict"].partition(":")[0]] += row["count"]
        counts = ", ".join(f"{count:,} {kind}" for kind, count in by_kind.items())
        console.print(Text(f"{name}: {counts}"), soft_wrap=True)
    console.print(f"{counted(len(told), 'finding')};", end=" ")
