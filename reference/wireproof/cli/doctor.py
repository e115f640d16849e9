"""`wireproof doctor`: the tools that are ready here, those that are missing, and how to install them."""

import click
from rich.table import Table
from rich.text import Text

from wireproof.adapters.doctor import InstallationCheck, examined
from wireproof.cli.options import format_option, print_json
from wireproof.report.terminal import output_console, print_line


@click.command("doctor")
@format_option
def command(form: str) -> None:
    """Look at Python, the extras of this package, the tools of other languages, and the adapters.

    Only the tools' own `--version` is started. Missing tools only disable the features that need them; the
    exit code is 0.
    """
    rows = examined()
    if form == "json":
        print_json([{"area": row.area, "name": row.name, "state": row.state, "version": row.version,
               "for": row.purpose, "fix": row.fix} for row in rows])  # fmt: skip
        return
    output = output_console()
    table = Table("", "state", "version", box=None, pad_edge=False)
    for row in rows:
        table.add_row(Text(row.name), _state(row), Text(row.version))
    for column in table.columns:
        column.no_wrap = True
    output.print(table)
    lacking = [row for row in rows if row.state != "ready"]
    if lacking:
        output.print("\nmissing, with its purpose and what provides it:", highlight=False)
    for row in lacking:
        print_line(output, f"{row.name}: {row.purpose}")
        if row.fix:
            output.print(Text(f"  {row.fix}"), soft_wrap=True)
    output.print(f"{len(rows) - len(lacking)} of {len(rows)} ready", highlight=False)


def _state(row: InstallationCheck) -> Text:
    return Text(row.state, style="green" if row.state == "ready" else "yellow")
