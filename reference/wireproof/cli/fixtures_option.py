"""The option `--fixtures`, for verbs that read cases late or never: it imports none of the cases."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])


def with_fixtures(command: F) -> F:
    """Add `--fixtures`, which the command takes as `folders`."""
    return click.option(
        "--fixtures",
        "folders",
        multiple=True,
        metavar="DIR",
        type=click.Path(exists=True, file_okay=False, path_type=Path),
        help="additional fixtures",
    )(command)
