"""Options that several verbs share, and the selection that they make."""

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, TypeVar

import click

from wireproof.cases.case import Case
from wireproof.cases.fixtures import Suite, completions, fixtures_folder, load
from wireproof.cases.id_patterns import PatternError, select
from wireproof.cases.requirements import RequiredCases, required_cases
from wireproof.cli.common.general_options import LimitedNumber, with_fixtures
from wireproof.files import read_limited_text

F = TypeVar("F", bound=Callable[..., Any])

MINUTES: Final = LimitedNumber(7 * 24 * 60, zero=True)
"""The type of the minutes of a campaign: at most a week."""


def selection_options(command: F) -> F:
    """Add `--run` and `--skip`, and give the command the folders of `--fixtures`."""
    command = click.option(
        "--skip", "skipped", multiple=True, metavar="PATTERN", help="leave these cases out"
    )(with_fixtures(command))
    return click.option(
        "--run",
        "patterns",
        multiple=True,
        metavar="PATTERN",
        help="only these cases: * is one component, ** any number, @FILE contains patterns, @DATE:NAME is a "
        "set of `wireproof cases @`",
    )(command)


all_findings_option: Final = click.option(
    "--all", "every_finding", is_flag=True,
    help="show every kind of failure, not only those that fit the screen",
)  # fmt: skip
"""The option of a verb that prints findings."""

format_option: Final = click.option(
    "--format", "form", type=click.Choice(["auto", "json"]), default="auto",
    help="a table for people, or JSON for programs",
)  # fmt: skip
"""The option of a verb that prints a table."""


def print_json(rows: object) -> None:
    click.echo(json.dumps(rows, indent=1, ensure_ascii=False))


def adapter_names(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:  # noqa: ARG001 - click's signature
    from wireproof.adapters.registry.registry import names  # noqa: PLC0415 - most verbs need no adapter

    return [name for name in names() if name.startswith(incomplete)]


def case_ids(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:  # noqa: ARG001 - as above
    return completions(fixtures_folder(), incomplete)


def suite_of(folders: Sequence[Path]) -> Suite:
    return load(folders)


def selection(suite: Suite, patterns: Sequence[str], skipped: Sequence[str]) -> tuple[Case, ...]:
    """Return the selected cases in order; raises `PatternError` for a pattern that nothing matches."""
    wanted, unwanted = _words(suite, patterns), _words(suite, skipped)
    cases = select(suite, wanted) if patterns else suite.cases
    left_out = {case.id for case in select(suite, unwanted)} if skipped else frozenset()
    return tuple(case for case in cases if case.id not in left_out)


SET: Final = re.compile(r"@(\d{4}\.\d\d:.+)")
"""The pattern of a named set: `@2026.12:heka-reader`."""


def named_set(suite: Suite, patterns: Sequence[str]) -> RequiredCases | None:
    """Return the named set that is the only pattern; raise `RequirementError` if there is no such set."""
    match = SET.fullmatch(patterns[0]) if len(patterns) == 1 else None
    return required_cases(suite, match[1]) if match else None


def _words(suite: Suite, patterns: Sequence[str]) -> list[str]:
    """Return the patterns, a named set replaced by its ids, and `@FILE` by its lines without comments."""
    words: list[str] = []
    for pattern in patterns:
        if not pattern.startswith("@"):
            words.append(pattern)
            continue
        if named := named_set(suite, [pattern]):
            words += [case.id for case in named.cases]
            continue
        try:
            lines = read_limited_text(Path(pattern[1:]), 4 << 20).splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise PatternError(f"{Path(pattern[1:])}: {error}") from None
        words += [word for line in lines if (word := line.partition("#")[0].strip())]
    return words
