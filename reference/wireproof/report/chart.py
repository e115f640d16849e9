"""Lanes of bars as SVG in a page: each lane has its own scale, so that the rare is seen beside the common."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from attrs import frozen

from wireproof.report.html_template import render_template

if TYPE_CHECKING:
    from markupsafe import Markup

LANE: Final = 28
"""The height of a lane. Its width is that of the page, so the page stretches its bars."""


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


def svg(chart: Chart) -> "Markup":
    """Render the chart as an HTML figure; labels are text of the page, so a phone does not scale them."""
    lanes = [
        {"lane": lane, "count": max(1, len(lane.bars)), "bars": list(_bars(lane))} for lane in chart.lanes
    ]
    return render_template("chart.html", chart=chart, lane_height=LANE, lanes=lanes)


def _bars(lane: Lane) -> Iterator[dict[str, str]]:
    """Yield the values of each bar above 0 in the template; a bar is one wide."""
    most = max(lane.bars, default=0)
    for number, value in enumerate(lane.bars):
        if value > 0:
            high = max(1.0, LANE * value / most)
            yield {
                "x": str(number),
                "y": f"{LANE - high:.2f}",
                "height": f"{high:.2f}",
                "value": f"{value:,.6g}",
            }
