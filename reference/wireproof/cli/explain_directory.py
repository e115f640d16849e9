"""`wireproof explain DIR`: every file of a data directory, its partitions, and the problems between them."""

from pathlib import Path

import click

from wireproof.data_files import FileKind
from wireproof.report import directory_view
from wireproof.runner import data_directory
from wireproof.runner.data_directory import DirectoryTotals, read_directory
from wireproof.runner.exit_codes import Exit

SmallFile = tuple[str, FileKind]
"""The system and the kind of a file that is no log."""


def command_for(path: Path, *, as_json: bool = False) -> Exit:
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


def kind_of_small_file(path: Path) -> SmallFile | None:
    """Return system and kind of a file of a data directory that is neither log nor index; else None."""
    return data_directory.kind_of_small_file(path)


def explain_small_file(path: Path, small: SmallFile, *, as_json: bool = False) -> Exit:
    """Print what is in such a file; return the exit code."""
    found = data_directory.check_small_file(path, *small)
    lines = [directory_view.small_file_json(found)] if as_json else directory_view.small_file_lines(found)
    for line in lines:
        click.echo(line)
    return Exit.FAILS if found.report.errors or found.report.unknown else Exit.CONFORMS
