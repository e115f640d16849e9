"""`wireproof export`: write the suite as data, for other test runners."""

from pathlib import Path

import click

from wireproof.cli.options import selection, selection_options, suite_of
from wireproof.report.export import export


@click.command("export")
@click.option("--out", "folder", required=True, type=click.Path(file_okay=False, path_type=Path),
              metavar="DIR", help="a new or an empty folder")  # fmt: skip
@click.option("--generated", is_flag=True,
              help="write the inputs of generated cases too, not only their recipes")  # fmt: skip
@selection_options
def command(
    folder: Path,
    generated: bool,
    patterns: tuple[str, ...],
    skipped: tuple[str, ...],
    folders: tuple[Path, ...],
) -> None:
    """Write the cases as lines of JSON and as raw files, with readers in five languages.

    Prints the number of cases and the digest that each reader prints too.
    """
    if folder.exists() and any(folder.iterdir()):
        raise click.UsageError(f"--out {folder}: exists and is not empty: name a new folder")
    suite = suite_of(folders)
    done = export(suite, selection(suite, patterns, skipped), folder, generated=generated)
    click.echo(f"{done.cases} {done.digest:08x}")
    click.echo(
        f"{folder}: {done.cases} cases, {done.size} bytes of raw files; begin with README.md", err=True
    )
