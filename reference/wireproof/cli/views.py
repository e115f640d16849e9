"""The files that `check` and `report` write beside the terminal's view."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar

import click
from attrs import frozen

from wireproof.cases.fixtures import Suite
from wireproof.files import replace_bytes, replace_text
from wireproof.report.annotations import annotations
from wireproof.report.badge import badge, badges, file_of
from wireproof.report.html import Page, html
from wireproof.report.junit import junit
from wireproof.report.markdown import markdown
from wireproof.trial.events import CaseEvent
from wireproof.trial.lookup import Lookups
from wireproof.trial.streams import Stream
from wireproof.wire.options import DEFAULT

F = TypeVar("F", bound=Callable[..., Any])

HELP: Final = {
    "junit": "a JUnit file",
    "markdown": "a Markdown summary",
    "html": "the matrix as one HTML file",
    "badge": "a badge as JSON, of the first adapter",
}
"""The views that are files: the option, and what it writes."""


@frozen
class Views:
    """Where each view goes; None leaves it out. `annotations` go to standard output."""

    junit: Path | None = None
    markdown: Path | None = None
    html: Path | None = None
    badge: Path | None = None
    badges: Path | None = None
    annotations: bool = False


def viewing(command: F) -> F:
    """The options of the views; the command takes them together as `views`."""
    command = click.option(
        "--badges",
        type=click.Path(file_okay=False, path_type=Path),
        metavar="DIR",
        help="a badge for each format and profile, in a folder for each adapter",
    )(command)
    for name, text in reversed(HELP.items()):
        kind = click.Path(dir_okay=False, path_type=Path)
        command = click.option(f"--{name}", type=kind, metavar="FILE", help=text)(command)
    return click.option("--annotations", is_flag=True, help="print the findings as lines of a workflow")(
        command
    )


def views_of(more: dict[str, Any]) -> Views:
    """Take the options of the views out of those of a command."""
    return Views(**{name: more.pop(name) for name in (*HELP, "badges", "annotations")})


def write_views(streams: Sequence[Stream], views: Views, suite: Suite) -> None:
    """Write the views that were asked for; with no run at all there is nothing to see."""
    if not streams:
        return
    if views.junit:
        replace_bytes(views.junit, junit(streams))
    if views.markdown:
        replace_text(views.markdown, markdown(streams))
    if views.html:
        page = Page(_title(streams), Lookups(suite).case, suite.by_id, suite.rules)
        replace_text(views.html, html(streams, page))
    if views.badge:
        replace_text(views.badge, badge(streams[0]))
    if views.badges:
        _write_badges(streams, views.badges, suite)
    for line in (line for stream in streams for line in annotations(stream)) if views.annotations else ():
        click.echo(line)


def _write_badges(streams: Sequence[Stream], folder: Path, suite: Suite) -> None:
    for number, stream in enumerate(streams):
        room = folder / file_of(streams, number)
        for name, text in badges(stream, partial(_profile, suite)):
            replace_text(room / name, text, durable=False)


def _profile(suite: Suite, event: CaseEvent) -> str:
    """The profile of a fixture, which its families share; of a generated case, that of its format."""
    case = suite.by_id.get(event.id.partition("~")[0])
    return case.profile if case else DEFAULT.profile


def _title(streams: Sequence[Stream]) -> str:
    """Who was held to what."""
    systems = sorted({event.format.partition(".")[0] for stream in streams for event in stream.cases})
    names = ", ".join(name.capitalize() for name in systems) or "no case"
    return f"wireproof: {len(streams)} implementations × {names}"
