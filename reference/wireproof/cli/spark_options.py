"""The options of the verbs that run on Spark: the cluster, and the files for its executors."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])

FILE = click.Path(dir_okay=False, path_type=Path)


def on_cluster(command: F) -> F:
    """Add the options `--master`, `--archive`, `--wheel` and `--conf`."""
    for option in (
        click.option("--conf", "given", multiple=True, metavar="NAME=VALUE", help="a setting of Spark"),
        click.option("--wheel", type=FILE, help="wireproof's own wheel, for executors that have the rest"),
        click.option(
            "--archive", type=FILE, help="a packed environment for the executors, made by venv-pack"
        ),
        click.option("--master", help="master URL of Spark  [default: all cores of this machine]"),
    ):
        command = option(command)
    return command
