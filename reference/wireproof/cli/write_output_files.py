"""Write the files of `output_files`. Their modules are imported only if a run needs one of them."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import click

from wireproof.cases.fixtures import Suite
from wireproof.cli.output_files import STANDARD_OUTPUT, OutputFiles
from wireproof.files import replace_bytes, replace_text
from wireproof.report.annotations import annotations
from wireproof.report.badge import badge, badge_folder, badges
from wireproof.report.html import Page, about_runs, html
from wireproof.report.junit import junit
from wireproof.report.markdown import markdown
from wireproof.report.rule_page import rule_html, rule_markdown
from wireproof.report.rule_table import rule_table
from wireproof.runner.baseline import NO_BASELINE, AppliedBaseline
from wireproof.runner.case_lookup import CaseLookup
from wireproof.runner.event_files import EventStream
from wireproof.runner.events import CaseEvent
from wireproof.wire.options import DEFAULT_OPTIONS


def write(
    streams: Sequence[EventStream],
    views: OutputFiles,
    suite: Suite,
    baselines: Sequence[AppliedBaseline] = (),
) -> None:
    """Write the requested views of one or more runs.

    JUnit, Markdown and annotations decide whether a job of CI is red, so they know the baseline as the exit
    code does. The page and the badges show what the codec does, known or not.
    """
    known = baselines or [NO_BASELINE] * len(streams)
    if views.junit:
        _put(views.junit, junit(streams, known))
    if views.markdown:
        _put(views.markdown, markdown(streams, known).encode())
    if views.html:
        page = Page(_title(streams), CaseLookup(suite).case, suite.by_id, suite.rules, suite.sources)
        _put(views.html, html(streams, page).encode())
    if views.badge:
        _put(views.badge, badge(streams[0]).encode())
    if views.badges:
        _write_badges(streams, views.badges, suite)
    for file in views.by_rule:
        _write_rules(streams, file, suite)
    if views.annotations:
        for line in (line for one in zip(streams, known, strict=True) for line in annotations(*one)):
            click.echo(line)


def _write_rules(streams: Sequence[EventStream], file: Path, suite: Suite) -> None:
    """Write the table of rules in the form that the name of its file says, or print it."""
    table = rule_table(streams, suite)
    texts = (_title(streams, "rules"), about_runs(streams))
    render = rule_html if file.suffix == ".html" else rule_markdown
    _put(file, render(table, *texts).encode())


def _put(file: Path, content: bytes) -> None:
    """Write a view to its file, or print it if its name is `-`."""
    if str(file) == STANDARD_OUTPUT:
        click.echo(content, nl=False)
    else:
        replace_bytes(file, content)


def _write_badges(streams: Sequence[EventStream], folder: Path, suite: Suite) -> None:
    for number, stream in enumerate(streams):
        room = folder / badge_folder(streams, number)
        for name, text in badges(stream, partial(_profile, suite)):
            replace_text(room / name, text, durable=False)


def _profile(suite: Suite, event: CaseEvent) -> str:
    """Return the profile of a fixture and its families; for a generated case, the default profile."""
    case = suite.by_id.get(event.id.partition("~")[0])
    return case.profile if case else DEFAULT_OPTIONS.profile


def _title(streams: Sequence[EventStream], what: str = "") -> str:
    """Return the title of the page, whose rows are those of the formats or `what`."""
    systems = sorted({event.format.partition(".")[0] for stream in streams for event in stream.cases})
    names = ", ".join(name.capitalize() for name in systems) or "no case"
    noun = "implementation" if len(streams) == 1 else "implementations"
    return f"wireproof: {len(streams)} {noun} × {' '.join(filter(None, (names, what)))}"
