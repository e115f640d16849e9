"""`wireproof doctor`: what is ready here, what is missing, and the one command that mends it."""

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from wireproof.adapters.doctor import Finding, examined
from wireproof.cli.options import said, saying


@click.command("doctor")
@saying
def command(form: str) -> None:
    """Look at Python, the extras of this package, the tools of other languages, and the adapters.

    Nothing is started but the tools' own `--version`. What is missing takes away what it is for and no more:
    the exit code is 0.
    """
    rows = examined()
    if form == "json":
        said([{"area": row.area, "name": row.name, "state": row.state, "version": row.version,
               "for": row.purpose, "mend": row.mend} for row in rows])  # fmt: skip
        return
    console = Console()
    table = Table("", "state", "version", "for, and what makes it so", box=None, pad_edge=False)
    for row in rows:
        mend = f" -> {row.mend}" if row.mend else ""
        table.add_row(Text(row.name), _state(row), Text(row.version), Text(row.purpose + mend))
    console.print(table)
    lacking = [row for row in rows if row.mend]
    console.print(f"{len(rows) - len(lacking)} of {len(rows)} ready", highlight=False)


def _state(row: Finding) -> Text:
    return Text(row.state, style="green" if not row.mend else "yellow")
