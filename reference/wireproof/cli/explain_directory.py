"""`wireproof explain DIR`: every file of a data directory, its partitions, and the problems between them."""

from pathlib import Path

import click

from wireproof.report import directory_view
from wireproof.runner.data_directory import DirectoryTotals, read_directory
from wireproof.runner.exit_codes import Exit


def command_for(path: Path, *, as_json: bool = False) -> int:
    """Print what is in a directory, while it is read; return the exit code."""
    totals = DirectoryTotals()
    lines = directory_view.event_json if as_json else directory_view.event_lines
    for event in read_directory(path, totals):
        for line in lines(event):
            click.echo(line)
    if not totals.files:
        raise click.UsageError(f"{path} has no files: there is nothing to explain")
    for line in [directory_view.total_json(totals)] if as_json else directory_view.total_lines(totals):
        click.echo(line)
    if not totals.named and totals.size:
        return Exit.USAGE
    return Exit.CONFORMS if totals.is_sound else Exit.FAILS
