"""`wireproof explain DIR`: every file of a data directory, its partitions, and the problems between them."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from wireproof.cli.explain import copy_spooled, spooled
from wireproof.inspect import data_directory, directory_view
from wireproof.inspect.data_directory import DirectoryTotals, read_directory
from wireproof.inspect.entry_list import fast_hint
from wireproof.run.exit_codes import Exit


def explain_directory(path: Path, *, as_json: bool) -> Exit:
    """Print what is in a directory: JSON lines while it is read, or what is wrong first when all was read."""
    totals = DirectoryTotals()
    if as_json:
        for event in read_directory(path, totals):
            for line in directory_view.event_json(event):
                click.echo(line)
    else:
        with spooled() as wrong, spooled() as files:
            with reading_bar(path) as seen:
                for event in read_directory(path, totals, seen):
                    wrong.writelines(f"{line}\n" for line in directory_view.wrong_lines(event))
                    files.writelines(f"{line}\n" for line in directory_view.event_lines(event))
            copy_spooled(wrong)
            copy_spooled(files)
    if hint := fast_hint(totals.logs):
        click.echo(hint, err=True)
    if not totals.files:
        raise click.UsageError(f"{path} has no files: there is nothing to explain")
    for line in [directory_view.total_json(totals)] if as_json else directory_view.total_lines(totals):
        click.echo(line)
    if not totals.named and totals.size:
        return Exit.USAGE
    return Exit.CONFORMS if totals.is_sound else Exit.FAILS


@contextmanager
def reading_bar(path: Path) -> Iterator[Callable[[str, int], None]]:
    """Show on a terminal how much was read; yields a function of a file and the bytes read of it."""
    if not sys.stderr.isatty():
        yield lambda _, __: None
        return
    from rich.console import Console  # noqa: PLC0415 - for a terminal alone

    from wireproof.cli.common.progress import step_bar  # noqa: PLC0415 - likewise

    total = data_directory.size_of(path) if path.is_dir() else path.stat().st_size
    before, last, shown = 0, ("", 0), -1
    with step_bar(Console(stderr=True), "MiB") as step:

        def seen(name: str, at: int) -> None:
            nonlocal before, last, shown
            before += last[1] if name != last[0] else 0
            last = name, at
            if (done := (before + at) >> 20) != shown:
                shown = done
                step(f"MiB, {name}", done, max(total >> 20, 1))

        yield seen


def explain_other_file(path: Path, *, as_json: bool) -> Exit | None:
    """Print what is in an index file or a small file of a data directory; None for any other file."""
    if (found := data_directory.check_small_file(path)) is not None:
        lines = [directory_view.small_file_json(found)] if as_json else directory_view.small_file_lines(found)
        sound = not (found.report.errors or found.report.unknown)
    elif data_directory.kind_of(path):
        index = data_directory.check_index_file(path)
        lines = directory_view.entry_json(index) if as_json else directory_view.entry_lines(index)
        sound = not index.errors
    else:
        return None
    for line in lines:
        click.echo(line)
    return Exit.CONFORMS if sound else Exit.FAILS


def explain_index_files_of(log: Path) -> Exit:
    """Print a line for each index file of a log."""
    found = data_directory.check_index_files(log)
    for line in directory_view.neighbour_lines(found):
        click.echo(line)
    return Exit.FAILS if any(one.errors for one in found) else Exit.CONFORMS
