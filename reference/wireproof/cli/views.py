"""The files that `check` and `report` write beside the terminal's view."""

from collections.abc import Sequence
from pathlib import Path

from attrs import frozen

from wireproof.cases.fixtures import Suite
from wireproof.report.html import Page, html
from wireproof.report.junit import junit
from wireproof.report.markdown import markdown
from wireproof.trial.lookup import Lookups
from wireproof.trial.streams import Stream


@frozen
class Views:
    """Where each view goes; None leaves it out."""

    junit: Path | None = None
    markdown: Path | None = None
    html: Path | None = None


def write_views(streams: Sequence[Stream], views: Views, lookups: Lookups, suite: Suite) -> None:
    """Write the views that were asked for."""
    if views.junit:
        views.junit.write_bytes(junit(streams))
    if views.markdown:
        views.markdown.write_text(markdown(streams), encoding="utf-8")
    if views.html:
        page = Page(f"wireproof: {len(suite.cases)} fixtures", lookups.case)
        views.html.write_text(html(streams, page), encoding="utf-8")
