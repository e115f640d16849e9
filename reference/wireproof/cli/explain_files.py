"""`wireproof explain` of files that are no log: index files, and the small files of a data directory."""

from pathlib import Path

import click

from wireproof.cli import explain_directory
from wireproof.report import directory_view
from wireproof.runner import data_directory
from wireproof.runner.exit_codes import Exit


def explain_other_file(path: Path, *, as_json: bool) -> Exit | None:
    """Print what is in an index file or a small file of a data directory; None for any other file."""
    if (kind := explain_directory.kind_of_small_file(path)) is not None:
        return explain_directory.explain_small_file(path, kind, as_json=as_json)
    return _explain_index_file(path, as_json=as_json) if data_directory.kind_of(path) else None


def _explain_index_file(path: Path, *, as_json: bool) -> Exit:
    one = data_directory.check_index_file(path)
    for line in (directory_view.entry_json if as_json else directory_view.entry_lines)(one):
        click.echo(line)
    return Exit.FAILS if one.errors else Exit.CONFORMS


def explain_index_files_of(log: Path) -> Exit:
    """Print a line for each index file of a log."""
    found = data_directory.check_index_files(log)
    for line in directory_view.neighbour_lines(found):
        click.echo(line)
    return Exit.FAILS if any(one.errors for one in found) else Exit.CONFORMS
