"""`wireproof export`: write the suite as data, for other test runners and fuzzers."""

from pathlib import Path

import click

from wireproof.cli.common.options import selection, selection_options, suite_of
from wireproof.report.export import export, export_seeds
from wireproof.wire.text import counted


@click.command("export")
@click.option("--out", "folder", type=click.Path(file_okay=False, path_type=Path),
              metavar="DIR", help="write the cases to a new or an empty folder")  # fmt: skip
@click.option("--seeds", "seeds", type=click.Path(file_okay=False, path_type=Path), metavar="DIR",
              help="write seeds for libFuzzer, AFL++, Go and Jazzer to a new or an empty folder")  # fmt: skip
@click.option("--generated", is_flag=True,
              help="write the inputs of generated cases too, not only their recipes")  # fmt: skip
@selection_options
def command(
    folder: Path | None,
    seeds: Path | None,
    generated: bool,
    patterns: tuple[str, ...],
    skipped: tuple[str, ...],
    folders: tuple[Path, ...],
) -> None:
    """Write the cases as lines of JSON and as raw files."""
    if folder is None and seeds is None:
        raise click.UsageError("nothing to write: name a folder with --out (cases) or --seeds (for fuzzers)")
    for option, place in (("--out", folder), ("--seeds", seeds)):
        if place is not None and place.exists() and any(place.iterdir()):
            raise click.UsageError(f"{option} {place}: exists and is not empty: name a new folder")
    suite = suite_of(folders)
    cases = selection(suite, patterns, skipped)
    if folder is not None:
        size = export(suite, cases, folder, generated=generated)
        count = counted(len(cases), "case", grouped=False)
        click.echo(f"{folder}: {count}, {size} bytes of raw files; begin with README.md")
    if seeds is not None:
        made = export_seeds(suite, cases, seeds)
        counts = f"{counted(made.seeds, 'seed', grouped=False)} of {counted(made.formats, 'format')}"
        click.echo(f"{seeds}: {counts}, {made.size} bytes in each layout; begin with README.md", err=True)
