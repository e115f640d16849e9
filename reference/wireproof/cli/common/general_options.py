"""The options before the verb (`--fixtures`, `--timeout-scale`), and what replaces removed verbs and options.

It imports none of the cases, because it is imported before every verb.
"""

from collections.abc import Callable
from functools import wraps
from math import isnan
from pathlib import Path
from typing import Any, Final, TypeVar, cast

import click
from click import ClickException

F = TypeVar("F", bound=Callable[..., Any])


class LimitedNumber(click.FloatRange):
    """A number from 0, itself only if `zero`, up to a maximum; `nan`, which no range refuses, is none."""

    def __init__(self, most: float, *, zero: bool = False) -> None:
        super().__init__(min=0, max=most, min_open=not zero)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:  # noqa: ANN401 - click's signature
        found = float(super().convert(value, param, ctx))
        if isnan(found):
            self.fail(f"{value!r} is no number", param, ctx)
        return found


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
    type=LimitedNumber(1000),
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


VERBS: Final = {
    "baseline write": "`wireproof baseline add FILE RUN --owner NAME` writes a new file too",
    "campaign": "`wireproof fuzz ADAPTER… --spark --cases N --dir DIR`",
    "completion": "`_WIREPROOF_COMPLETE=bash_source wireproof` prints the script; or zsh_source, fish_source",
    "docs": "`report RUN… --html FILE` compares implementations, `show` prints a rule or a case",
    "doctor": "`wireproof adapters` lists what is missing and the command that installs it",
    "formats": "`wireproof show` lists the formats; `show kafka.batch/v2` shows one",
    "history": "`wireproof check NAME@V1 NAME@V2 … --out RUN`, then `wireproof diff RUN`",
    "requirements": "`wireproof cases @` lists the sets, `cases @DATE:NAME` the cases of one",
    "rule": "`wireproof show RULE`; `export` writes the sentences of the format documents",
    "verify": "`wireproof replay CASE ADAPTER` judges again; a signature of the file shows who wrote it",
}
"""By verb: what to do instead."""

OPTIONS: Final = {
    ("baseline check", "--ratchet"): "compare two versions of the file with `git diff`",
    **{
        (verb, option): instead
        for verb in ("check", "report")
        for option, instead in {
            "--badges": "`--badge FILE` writes one badge; `--run FORMAT/**` chooses its format",
            "--by-rule": "the filter of the page of `--html FILE` takes the id of a rule",
        }.items()
    },
    ("check", "--requirements"): "`--run @DATE:NAME` runs a set",
    ("fuzz", "--max-size"): "an input has at most 4 KiB; `check --large` judges large cases",
    ("interop", "--tokens"): "tokens of long inputs are in `wireproof-interop` of the current folder",
    ("lint", "--generated"): "`wireproof check reference` makes the large cases and judges them",
    ("promote", "--pull-request"): "`show CASE` prints expectation and bytes, `show RULE` its sources",
    ("scan", "--html"): "`wireproof report DIR --html FILE` writes the page",
    ("scan", "--samples"): "three samples of each kind of failure are kept",
    ("scan", "--set"): "--revision, --keys, --compression, --max-message and --max-output take its place",
    ("shrink", "--seconds"): "it takes at most 60 s, and prints the smallest case so far",
    ("check", "--strict-class"): "the table of verdicts counts `pass-unclassified`",
}
"""By command and option: what to do instead."""

GENERAL: Final = {"--fixtures": "DIR", "--timeout-scale": "N"}
"""The options that stand before the verb now, with their values."""


def retired_verb(name: str) -> str:
    """Return the line for a verb that is gone; empty for any other word."""
    return f"there is no verb {name} any more: {VERBS[name]}" if name in VERBS else ""


def retired_option(error: ClickException) -> str:
    """Return the line for an option that is gone; empty for any other mistake."""
    context = getattr(error, "ctx", None)
    words = context.command_path.split()[1:] if context else []
    verb, option = " ".join(words), getattr(error, "option_name", "")
    instead = OPTIONS.get((verb, option), "")
    if verb and option in GENERAL:
        instead = f"`wireproof {option} {GENERAL[option]} {verb} …` has it before the verb"
    return f"{verb} has no option {option} any more: {instead}" if instead else ""
