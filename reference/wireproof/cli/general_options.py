"""The options before the verb, which several verbs read: `--fixtures` and `--timeout-scale`.

It imports none of the cases, because it is imported before every verb.
"""

from collections.abc import Callable
from functools import wraps
from math import isnan
from pathlib import Path
from typing import Any, Final, TypeVar, cast

import click

F = TypeVar("F", bound=Callable[..., Any])


class LimitedNumber(click.FloatRange):
    """A number from 0 up to a maximum; `nan`, which no range refuses, is none."""

    def __init__(self, most: float, *, zero: bool = False) -> None:
        """Accept numbers up to `most`; 0 itself if `zero`."""
        super().__init__(min=0, max=most, min_open=not zero)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:  # noqa: ANN401 - click's signature
        """Return the number; fail for anything else."""
        found = float(super().convert(value, param, ctx))
        if isnan(found):
            self.fail(f"{value!r} is no number", param, ctx)
        return found


SCALE: Final = LimitedNumber(1000)
"""The type of `--timeout-scale`."""

fixtures_option: Final = click.option(
    "--fixtures",
    "folders",
    multiple=True,
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="additional fixtures, for every verb that reads cases",
)

scale_option: Final = click.option(
    "--timeout-scale",
    "scale",
    type=SCALE,
    default=1.0,
    metavar="NUMBER",
    help="multiplies every time limit of an adapter",
)


def with_fixtures(command: F) -> F:
    """Give a command the folders of `--fixtures`, which it takes as `folders`."""
    return _given(command, "folders")


def with_scale(command: F) -> F:
    """Give a command the number of `--timeout-scale`, which it takes as `scale`."""
    return _given(command, "scale")


def _given(command: F, name: str) -> F:
    @wraps(command)
    def called(*words: Any, **options: Any) -> Any:  # noqa: ANN401 - those of the command
        general = click.get_current_context().find_root().params
        return command(*words, **options, **{name: general[name]})

    return cast("F", called)
