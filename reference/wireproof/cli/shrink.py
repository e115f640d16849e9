"""`wireproof shrink`: make a failing case smaller while it fails in the same way."""

from pathlib import Path
from typing import Final

import click

from wireproof.cases.case import Data, Steps, Value
from wireproof.cases.token import save_token
from wireproof.cli.case_names import find_named
from wireproof.cli.check.run import announce_builds
from wireproof.cli.common.general_options import with_fixtures, with_scale
from wireproof.cli.common.options import suite_of
from wireproof.fuzz.shrink import shrink, weight
from wireproof.inspect.field_listing import field_lines
from wireproof.inspect.hexdump import layout_of
from wireproof.report.case_view import step_lines
from wireproof.run.engine import Engine
from wireproof.wire.text import counted

SECONDS: Final = 60.0
"""Time limit; then the smallest case so far is printed."""


@click.command("shrink")
@click.argument("name", metavar="ID|TOKEN|DIR#FINDING|#N")
@click.argument("adapter")
@click.option("--in-process", is_flag=True, help="call a Python adapter in this process: faster, no timeouts")
@with_scale
@click.option("--out", default=Path(), show_default="current folder",
              type=click.Path(file_okay=False, path_type=Path),
              help="the folder for a token over 2 KiB, which becomes a file")  # fmt: skip
@with_fixtures
def command(
    name: str,
    adapter: str,
    in_process: bool,
    scale: float,
    out: Path,
    folders: tuple[Path, ...],
) -> None:
    """Make the case of an ID or TOKEN smaller while ADAPTER still fails in the same way.

    DIR#FINDING is a finding of `fuzz` or `scan`, by its name or a part of its line; #N is the Nth
    finding that the last `check` printed, and RUN.jsonl#N that of a stream.
    """
    named = find_named(suite_of(folders), name)
    case = named.case
    announce_builds((adapter,))
    with Engine(adapter, in_process=in_process, timeout_scale=scale) as engine:
        shrunk = shrink(engine, case, SECONDS, named.way)
    before, after = weight(case.input)[0], weight(shrunk.case.input)[0]
    click.echo(f"{shrunk.signature}")
    end = "nothing smaller fails in the same way" if shrunk.done else "the time limit was reached"
    steps = f"{counted(shrunk.kept, 'step')}, {shrunk.asked} asked, {shrunk.seconds:.1f} s"
    unit = "step" if isinstance(shrunk.case.input, Steps) else "byte"
    click.echo(f"{counted(before, unit, grouped=False)} became {after}: {steps}; {end}")
    match shrunk.case.input:
        case Data(data):
            click.echo(data.hex())
        case Value(value):
            click.echo(str(value))
        case Steps():
            for step in step_lines(shrunk.case):
                click.echo(step)
        case _:
            pass
    layout = layout_of(shrunk.case)
    for line in field_lines(layout, layout.rejected.at if layout.rejected else None) if layout else ():
        click.echo(str(line))
    if shrunk.behind:
        click.echo(shrunk.verdict.text)
    click.echo(save_token(shrunk.case, out))
