"""The options for the files that `check` and `report` write."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TypeAlias, TypeVar

import click

from wireproof.cases.fixtures import Suite
from wireproof.files import replace_bytes
from wireproof.report.failure_groups import Kind
from wireproof.run.baselines.baseline import AppliedBaseline
from wireproof.run.events import EventStream

F = TypeVar("F", bound=Callable[..., Any])

HELP: Final = {
    "junit": "a JUnit file",
    "markdown": "a Markdown summary",
    "html": "the whole answer as one HTML page",
    "badge": "a badge as JSON, of the first adapter",
}
"""The views that are files: option and help text."""

Views: TypeAlias = Mapping[str, Path | bool | None]
"""The path of each view; None leaves it out, `-` prints it. `annotations` go to standard output, if True."""


def output_options(command: F) -> F:
    """Add the options of the views; `output_files_of` removes them from the arguments."""
    kind = click.Path(dir_okay=False, allow_dash=True, path_type=Path)
    for name, text in reversed(HELP.items()):
        command = click.option(f"--{name}", type=kind, metavar="FILE", help=text)(command)
    text = "print the findings as lines of a workflow"
    return click.option("--annotations", is_flag=True, help=text)(command)


def output_files_of(more: dict[str, Any]) -> Views:
    """Remove the options of the views from those of a command, and return them."""
    return {name: more.pop(name) for name in (*HELP, "annotations")}


def refuse_same_file(paths: Iterable[object]) -> None:
    """Raise `click.UsageError` if two options, or an input and an option, name one file: one is lost."""
    seen: set[Path] = set()
    for path in paths:
        if isinstance(path, Path) and str(path) != "-" and not path.is_char_device():
            if path.resolve() in seen:
                raise click.UsageError(f"{path} is named twice: give each file a name of its own")
            seen.add(path.resolve())


def write_outputs(
    streams: Sequence[EventStream],
    views: Views,
    suite: Suite,
    baselines: Sequence[AppliedBaseline],
    numbers: Mapping[tuple[str, Kind], int],
) -> None:
    """Write the views that the options name; write nothing without a run.

    All of them know the baseline as the exit code does, and the numbers that `check` gave to its findings.
    """
    if not streams or not any(views.values()):
        return
    from wireproof.report import junit  # noqa: PLC0415 - slow to import, and most runs ask for no view

    makers: dict[str, Callable[[], str]] = {
        "junit": lambda: junit.junit(streams, baselines).decode(),
        "markdown": lambda: junit.markdown(streams, baselines),
        "html": lambda: _page(streams, suite, baselines, numbers),
        "badge": lambda: junit.badge(streams[0], baselines[0]),
    }
    for name, make in makers.items():
        if isinstance(file := views[name], Path):
            content = make().encode()
            if str(file) == "-":
                click.echo(content, nl=False)
            else:
                replace_bytes(file, content)
    if views["annotations"]:
        for line in (
            line for one in zip(streams, baselines, strict=True) for line in junit.annotations(*one)
        ):
            click.echo(line)


def _page(
    streams: Sequence[EventStream],
    suite: Suite,
    baselines: Sequence[AppliedBaseline],
    numbers: Mapping[tuple[str, Kind], int],
) -> str:
    from wireproof.report.html import html  # noqa: PLC0415 - as above
    from wireproof.report.matrix import Page  # noqa: PLC0415 - as above
    from wireproof.report.uses import families_of, uses_of  # noqa: PLC0415 - as above
    from wireproof.run.case_lookup import CaseLookup  # noqa: PLC0415 - as above

    families = families_of(streams)
    names = ", ".join(map(str.capitalize, sorted(families))) or "no case"
    noun = "implementation" if len(streams) == 1 else "implementations"
    page = Page(
        f"wireproof: {len(streams)} {noun} × {names}",
        CaseLookup(suite).case,
        suite.by_id,
        suite.rules,
        suite.sources,
        uses_of(suite, families),
        numbers,
    )
    return html(streams, page, baselines)
