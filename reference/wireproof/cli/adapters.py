"""`wireproof adapters`: the registered adapters, and what one claims against what it does."""

import click
from rich.console import Console
from rich.table import Table

from wireproof.adapters.registry import entries


@click.group("adapters", invoke_without_command=True)
@click.pass_context
def command(ctx: click.Context) -> None:
    """List the registered adapters, mutants too."""
    if ctx.invoked_subcommand is None:
        table = Table("adapter", "formats", "what it is", "needs")
        for entry in entries().values():
            needs = f"wireproof[{entry.extra}]" if entry.extra else "a build" if entry.prepare else ""
            table.add_row(entry.name, ", ".join(entry.formats), entry.description, needs)
        Console().print(table)
