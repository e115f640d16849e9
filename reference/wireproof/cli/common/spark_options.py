"""The options of the verbs that run on Spark: the cluster, the files for its executors, and the output."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])

FILE = click.Path(dir_okay=False, path_type=Path)


class WrittenPath(click.Path):
    """A path that is written after a long job; a URI would become folders with its name."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ANN401 - as in click
        """Refuse a URI before anything is started."""
        if "://" in str(value):
            self.fail(
                f"{value} is a URI: name a path that this machine and every executor can write to", param, ctx
            )
        return super().convert(value, param, ctx)


OUT = WrittenPath(file_okay=False, path_type=Path)


def on_cluster(command: F) -> F:
    """Add the options `--master`, `--archive`, `--wheel` and `--conf`.

    `--conf` stays beside Spark's own files: a setting of it is joined with what the two archives need.
    """
    for option in (
        click.option(
            "--conf",
            "given",
            multiple=True,
            metavar="SETTING=VALUE",
            help="a setting of Spark, as for spark-submit",
        ),
        click.option("--wheel", type=FILE, help="wireproof's own wheel, for executors that have the rest"),
        click.option(
            "--archive", type=FILE, help="a packed environment for the executors, made by venv-pack"
        ),
        click.option("--master", help="master URL of Spark  [default: all cores of this machine]"),
    ):
        command = option(command)
    return command
