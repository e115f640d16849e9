"""`wireproof salvage`: write what is sound in damaged logs, and the list of what is lost."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import click

from wireproof.cases.detect_format import is_named
from wireproof.cli.explain import formats_named
from wireproof.cli.explain_directory import reading_bar
from wireproof.cli.salvaged_files import (
    SHOWN,
    LinesOutput,
    LogsOutput,
    LostList,
    Output,
    TableOutput,
    sound_entries,
)
from wireproof.cli.standard_output import interrupted, rare_collections
from wireproof.formats import FORMATS
from wireproof.install_hint import install_command
from wireproof.runner.data_directory import folders_of
from wireproof.runner.entry_list import is_fast_installed
from wireproof.runner.exit_codes import Exit
from wireproof.wire.safe_text import escape_unsafe

OUTPUTS: Final = {".jsonl": LinesOutput, ".parquet": TableOutput, "": LogsOutput}
"""What is written, by the ending of its path."""


@click.command("salvage")
@click.argument("source", metavar="FILE|DIR", type=click.Path(exists=True, path_type=Path))
@click.option("--out", required=True, metavar="PATH", type=click.Path(path_type=Path),
              help="FILE.jsonl or FILE.parquet for records, or a new folder for repaired logs")  # fmt: skip
@click.option("--format", "name", metavar="FORMAT", help="a format such as kafka.log  [default: try all]")
def command(source: Path, out: Path, name: str | None) -> int:
    """Write the sound records of a log, or of all logs in a directory, and the list of what is lost.

    The list is JSON lines beside PATH. In a folder, each damaged log of Kafka gets a repaired one with its
    name; sound ones are not copied. Nothing is overwritten. Exit code 0 if nothing is lost, 1 if something
    is.
    """
    kind = OUTPUTS.get(out.suffix)
    if kind is None:
        raise click.UsageError(
            f"--out {out} is neither FILE.jsonl nor FILE.parquet, nor a folder without ending"
        )
    if kind is TableOutput and not is_fast_installed():
        raise click.UsageError(f"Parquet needs the packages of an extra: {install_command('columnar')}")
    files = [(source, source.name)] if not source.is_dir() else list(_logs(source))
    if not files:
        raise click.UsageError(f"{source} has no file with the name of a log: name the FILE itself")
    list_of_lost = out.with_name(f"{out.name}.lost.jsonl")
    for path in (out, list_of_lost):
        if path.exists():
            raise click.UsageError(f"{path} exists, and nothing is overwritten: name another --out")
    broken_off = None
    with list_of_lost.open("x", encoding="utf-8", newline="\n") as file, rare_collections():
        output: Output = kind(out, LostList(file))
        with reading_bar(source) as seen:
            entries = sound_entries(files, formats_named(name), output, seen)
            try:
                output.write(entries)
            except KeyboardInterrupt as error:
                broken_off = error
            finally:
                entries.close()
                is_complete = broken_off is None
                output.lost.end(output.records, complete=is_complete)
    for line in _lines(output, files, list_of_lost):
        click.echo(escape_unsafe(line))
    if broken_off is not None:
        return interrupted(broken_off, f"{out} and {list_of_lost} have what was read until then")
    return Exit.FAILS if output.lost.count or output.lost.messages else Exit.CONFORMS


def _logs(folder: Path) -> Iterator[tuple[Path, str]]:
    """Yield the files of a directory with the name of a log, and their names below it."""
    streams = [row for row in FORMATS.values() if row.scan is not None]
    for _, paths in folders_of(folder):
        for path in paths:
            is_log = any(is_named(row, path.name) for row in streams)
            if is_log and path.is_file() and not path.is_symlink():
                yield path, path.relative_to(folder).as_posix()


def _lines(output: Output, files: list[tuple[Path, str]], list_of_lost: Path) -> Iterator[str]:
    """Yield what was written, the first losses of each file, and the sums."""
    lost = output.lost
    for name, text in list(lost.messages.items())[:SHOWN]:
        yield f"wrong: {name}: {text}"
    for name, found in lost.files.items():
        yield from (f"{name}: {line}" for line in found.lines())
    if len(lost.damaged) > len(lost.files):
        yield f"… {len(lost.damaged) - len(lost.files)} more files"
    count = f"{len(files)} file{'s' * (len(files) != 1)}"
    logs = f" ({len(output.written)} repaired)" if isinstance(output, LogsOutput) else ""
    place = f"in {output.path}" if output.path.exists() else "and nothing was written"
    yield f"{count}: {output.records} sound records {place}{logs}"
    places = f"{lost.records} at {lost.count} place{'s' * (lost.count != 1)}, {lost.size} bytes"
    yield (
        f"lost: {places}; the list: {list_of_lost}" if lost.count else f"nothing is lost; see {list_of_lost}"
    )
