"""`wireproof check`: its arguments and options; `check_run` does the work.

They are apart so that shell completion, which needs the options only, does not import what judges.
"""

from pathlib import Path
from typing import Any

import click

from wireproof.cli.options import adapter_names, selecting, showing_all
from wireproof.cli.views import viewing


@click.command("check")
@click.argument("adapters", nargs=-1, metavar="ADAPTER…", shell_complete=adapter_names)
@click.option(
    "--all-ready", "every", is_flag=True, help="every adapter that is ready here, for the chosen formats"
)
@selecting
@click.option(
    "--families/--no-families", default=True, help="derive families of damaged bytes from each fixture"
)
@click.option("--property", "examples", default=0, type=click.IntRange(min=0), metavar="N",
              help="also N generated examples of each format and op that the codec claims")  # fmt: skip
@click.option("--golden/--no-golden", default=True,
              help="leave the fixtures out, but for those of a baseline's known failures")  # fmt: skip
@click.option(
    "--level", type=click.Choice(["must", "should"]), default="must", help="what ends with exit code 1"
)
@click.option("--strict-class", is_flag=True, help="a refusal without its class fails too")
@click.option("--in-process", is_flag=True, help="call Python adapters in this process: faster, no timeouts")
@click.option("--seed", default=0, help="of the order in which cases are asked, and of the examples")
@click.option("--jobs", default=0, type=click.IntRange(min=0), metavar="N",
              help="processes that judge and derive side by side  [default: one for each core]")  # fmt: skip
@click.option("--timeout-scale", "scale", default=1.0, help="multiplies every time limit")
@click.option("--min-cases", default=1, show_default=True, help="fewer judged cases are a usage error")
@click.option("--baseline", "known_failures", type=click.Path(exists=True, dir_okay=False, path_type=Path),
              help="known failures, which do not count")  # fmt: skip
@click.option(
    "--out", type=click.Path(dir_okay=False, path_type=Path), help="the stream of events, as JSON lines"
)
@showing_all
@viewing
def command(adapters: tuple[str, ...], every: bool, **more: Any) -> int:  # noqa: ANN401 - the options of `check_run`
    """Hold each ADAPTER to the cases and end with a matrix.

    An ADAPTER is a registered name (`wireproof adapters`), `py:module:attribute`, `exec:command …` or
    `jsonl:command …`. Exit code: 0 conforms, 1 does not, 2 usage, 3 only stale or changed baseline entries,
    4 adapter, 5 a bug of the suite.
    """
    if not (adapters or every):
        raise click.UsageError("Missing argument 'ADAPTER…': name the codecs to judge, or give --all-ready")
    from wireproof.cli import check_run  # noqa: PLC0415 - see the module's docstring

    return check_run.check(adapters, every=every, **more)
