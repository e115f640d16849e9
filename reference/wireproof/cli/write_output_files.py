"""Write the files of `output_files`. Their modules are imported only if a run needs one of them."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from wireproof.cases.fixtures import Suite
from wireproof.cli.output_files import STANDARD_OUTPUT, OutputFiles
from wireproof.files import replace_bytes
from wireproof.report.failure_groups import Kind
from wireproof.report.html import html
from wireproof.report.junit import annotations, badge, junit, markdown
from wireproof.report.matrix import Page
from wireproof.report.uses import families_of, uses_of
from wireproof.runner.baseline import NO_BASELINE, AppliedBaseline
from wireproof.runner.case_lookup import CaseLookup
from wireproof.runner.events import EventStream


def write(
    streams: Sequence[EventStream],
    views: OutputFiles,
    suite: Suite,
    baselines: Sequence[AppliedBaseline],
    numbers: Mapping[tuple[str, Kind], int],
) -> None:
    """Write the requested views of one or more runs; `numbers` are those that `check` gave to its findings.

    All of them know the baseline as the exit code does; the page and the badge mark known failures as known.
    """
    known = baselines or [NO_BASELINE] * len(streams)
    if views.junit:
        _put(views.junit, junit(streams, known))
    if views.markdown:
        _put(views.markdown, markdown(streams, known).encode())
    if views.html:
        systems = sorted({event.format.partition(".")[0] for stream in streams for event in stream.cases})
        names = ", ".join(name.capitalize() for name in systems) or "no case"
        noun = "implementation" if len(streams) == 1 else "implementations"
        page = Page(
            f"wireproof: {len(streams)} {noun} × {names}",
            CaseLookup(suite).case,
            suite.by_id,
            suite.rules,
            suite.sources,
            uses_of(suite, families_of(streams)),
            numbers,
        )
        _put(views.html, html(streams, page, known).encode())
    if views.badge:
        _put(views.badge, badge(streams[0], known[0]).encode())
    if views.annotations:
        for line in (line for one in zip(streams, known, strict=True) for line in annotations(*one)):
            click.echo(line)


def _put(file: Path, content: bytes) -> None:
    """Write a view to its file, or print it if its name is `-`."""
    if str(file) == STANDARD_OUTPUT:
        click.echo(content, nl=False)
    else:
        replace_bytes(file, content)
