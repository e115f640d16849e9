"""The options for the files that `check` and `report` write."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TypeVar

import click
from attrs import frozen

from wireproof.cases.fixtures import Suite
from wireproof.report.failure_groups import Kind
from wireproof.runner.baseline import AppliedBaseline
from wireproof.runner.events import EventStream

F = TypeVar("F", bound=Callable[..., Any])

HELP: Final = {
    "junit": "a JUnit file",
    "markdown": "a Markdown summary",
    "html": "the whole answer as one HTML page",
    "badge": "a badge as JSON, of the first adapter",
}
"""The views that are files: option and help text."""

STANDARD_OUTPUT: Final = "-"


@frozen
class OutputFiles:
    """The path of each view; None leaves it out, `-` prints it. `annotations` go to standard output."""

    junit: Path | None = None
    markdown: Path | None = None
    html: Path | None = None
    badge: Path | None = None
    annotations: bool = False


def output_options(command: F) -> F:
    """Add the options of the views; `output_files_of` removes them from the arguments."""
    for name, text in reversed(HELP.items()):
        kind = click.Path(dir_okay=False, allow_dash=True, path_type=Path)
        command = click.option(f"--{name}", type=kind, metavar="FILE", help=text)(command)
    return click.option("--annotations", is_flag=True, help="print the findings as lines of a workflow")(
        command
    )


def output_files_of(more: dict[str, Any]) -> OutputFiles:
    """Remove the options of the views from those of a command, and return them."""
    return OutputFiles(**{name: more.pop(name) for name in (*HELP, "annotations")})


def write_outputs(
    streams: Sequence[EventStream],
    views: OutputFiles,
    suite: Suite,
    baselines: Sequence[AppliedBaseline] = (),
    numbers: Mapping[tuple[str, Kind], int] | None = None,
) -> None:
    """Write the views that the options name; write nothing without a run. The rest is as of `write`."""
    if not streams or views == OutputFiles():
        return
    from wireproof.cli.write_output_files import write  # noqa: PLC0415 - slow to import, and most runs ask for no view

    write(streams, views, suite, baselines, numbers or {})
