"""Lanes of bars as SVG in a page: each lane has its own scale, so that the rare is seen beside the common.

Pure; needs neither a library nor a script. Whatever is written goes through `html.escape`.
"""

from collections.abc import Iterator, Sequence
from html import escape
from importlib.resources import files
from string import Template
from typing import Final

from attrs import frozen

from wireproof.report.sanitize import escape_unsafe

WIDTH: Final = 960
LEFT: Final = 250
"""Where bars begin; left of it stand the names, and of each the value of its highest bar."""

RIGHT: Final = WIDTH - 10
LANE: Final = 28
GAP: Final = 6
LONGEST: Final = 34
"""Characters of a name."""


@frozen
class Lane:
    """One row of bars.

    Attributes:
        name: of what is counted.
        bars: values from left to right, none below 0, all of the same width.
        colour: a class of the page: `pass`, `bad`, `mild` or none.
        most: what the highest bar is, in words.
    """

    name: str
    bars: Sequence[float]
    colour: str = ""
    most: str = ""


@frozen
class Chart:
    """Lanes over one axis, which goes from `begin` to `end`."""

    title: str
    lanes: Sequence[Lane]
    begin: str
    end: str


def svg(chart: Chart) -> str:
    """Render the chart as an HTML figure."""
    source = files("wireproof.report").joinpath("templates/chart.html").read_text(encoding="utf-8")
    height = len(chart.lanes) * (LANE + GAP) + 20
    return Template(source).substitute(
        title=_text(chart.title),
        width=WIDTH,
        height=height,
        left=LEFT,
        right=RIGHT,
        foot=height - 6,
        begin=_text(chart.begin),
        end=_text(chart.end),
        lanes="\n".join(part for row, lane in enumerate(chart.lanes) for part in _lane(row, lane)),
    )


def _lane(row: int, lane: Lane) -> Iterator[str]:
    top, most = row * (LANE + GAP) + 2, max(lane.bars, default=0)
    width = (RIGHT - LEFT) / max(1, len(lane.bars))
    name = lane.name if len(lane.name) <= LONGEST else f"{lane.name[: LONGEST - 1]}…"
    yield f'<text x="4" y="{top + 12}">{_text(name)}<title>{_text(lane.name)}</title></text>'
    yield f'<text class="dim" x="4" y="{top + 25}">{_text(lane.most)}</text>'
    yield f'<rect class="ground" x="{LEFT}" y="{top}" width="{RIGHT - LEFT}" height="{LANE}"/>'
    for number, value in enumerate(lane.bars):
        if value > 0:
            high = max(1.0, LANE * value / most)
            yield (
                f'<rect class="{escape(lane.colour)}" x="{LEFT + number * width:.2f}" '
                f'y="{top + LANE - high:.2f}" width="{max(0.5, width):.2f}" height="{high:.2f}">'
                f"<title>{value:,.6g}</title></rect>"
            )


def _text(text: str) -> str:
    return escape(escape_unsafe(text))
