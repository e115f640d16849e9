"""`wireproof check`: its arguments and options; `check.run` does the work.

The two are separate so that shell completion, which needs only the options, does not import the runner.
"""

from pathlib import Path
from typing import Any

import click

from wireproof.cli.common.general_options import with_scale
from wireproof.cli.common.options import adapter_names, all_findings_option, selection_options
from wireproof.cli.common.output_files import output_options, refuse_same_file


@click.command("check")
@click.argument("adapters", nargs=-1, metavar="ADAPTER…", shell_complete=adapter_names)
@click.option(
    "--all-ready", "every", is_flag=True, help="check every adapter that can run here, for the chosen formats"
)
@selection_options
@click.option(
    "--families/--no-families", default=True, help="derive families of damaged bytes from each golden case"
)
@click.option("--large", is_flag=True,
              help="run the cases of more than 8 MiB or 10,000 records too, which take most of the time; a "
              "named set always has them")  # fmt: skip
@click.option("--property", "examples", type=click.IntRange(min=0), metavar="N",
              help="check N generated examples of each format and op that the codec claims; by default 4 "
              "of the release's seed, none with --run, --shard or --no-golden")  # fmt: skip
@click.option("--golden/--no-golden", default=True,
              help="--no-golden: skip golden cases, except those in --baseline")  # fmt: skip
@click.option(
    "--level",
    type=click.Choice(["must", "should"]),
    default="must",
    help="lowest level whose failures set exit code 1",
)
@click.option("--in-process", is_flag=True, help="call Python adapters in this process: faster, no timeouts")
@click.option("--seed", default=0, help="random seed of the order of the cases and of --property")
@click.option("--jobs", default=0, type=click.IntRange(min=0), metavar="N",
              show_default="one per core",
              help="number of processes")  # fmt: skip
@click.option(
    "--shard", metavar="K/N", help="only every N-th case, from the K-th on; `report` joins the runs"
)
@with_scale
@click.option("--min-cases", default=1, help="exit with 2 if fewer cases were judged")
@click.option("--baseline", "baseline_file", type=click.Path(exists=True, dir_okay=False, path_type=Path),
              help="a file of known failures, which do not set the exit code")  # fmt: skip
@click.option(
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="RUN",
    help="store the events as JSON lines",
)
@click.option("--trace", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
              help="store requests and answers as JSON lines, up to 64 MiB for each adapter")  # fmt: skip
@click.option("--keep-stderr", "stderr_folder", type=click.Path(file_okay=False, path_type=Path),
              metavar="DIR", help="store the stderr of each adapter in DIR, up to 64 MiB")  # fmt: skip
@all_findings_option
@output_options
def command(adapters: tuple[str, ...], every: bool, **more: Any) -> int:  # noqa: ANN401 - the options of `check.run`
    """Check each ADAPTER against the cases and print its failures and a table of verdicts.

    An ADAPTER is a registered name (`wireproof adapters`), `py:module:attribute`, `exec:command …`,
    `jsonl:command …`, `kafka-broker:HOST:PORT` or `kafka-client:command …`. Exit code: 0 conforms, 1 does
    not, 2 usage, 3 only stale or changed baseline entries, 4 adapter, 5 a bug of the suite.
    """
    if not (adapters or every):
        raise click.UsageError("Missing argument 'ADAPTER…': name the codecs to check, or give --all-ready")
    refuse_same_file(more.values())
    from wireproof.cli.check import run as check_run  # noqa: PLC0415 - see the module's docstring

    return check_run.check(adapters, every=every, **more)
