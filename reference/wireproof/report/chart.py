"""Lanes of bars as SVG in a page: each lane has its own scale, so that the rare is seen beside the common."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from attrs import frozen

from wireproof.report.html_template import render_template

if TYPE_CHECKING:
    from markupsafe import Markup

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


def svg(chart: Chart) -> "Markup":
    """Render the chart as an HTML figure."""
    height = len(chart.lanes) * (LANE + GAP) + 20
    return render_template(
        "chart.html",
        chart=chart,
        width=WIDTH,
        height=height,
        left=LEFT,
        right=RIGHT,
        lane_height=LANE,
        foot=height - 6,
        lanes=[_lane(row, lane) for row, lane in enumerate(chart.lanes)],
    )


def _lane(row: int, lane: Lane) -> dict[str, Any]:
    """Return the values of a lane in the template."""
    top = row * (LANE + GAP) + 2
    return {
        "top": top,
        "label": lane.name if len(lane.name) <= LONGEST else f"{lane.name[: LONGEST - 1]}…",
        "name": lane.name,
        "most": lane.most,
        "colour": lane.colour,
        "bars": list(_bars(lane, top)),
    }


def _bars(lane: Lane, top: int) -> Iterator[dict[str, str]]:
    """Yield the values of each bar above 0 in the template."""
    most, width = max(lane.bars, default=0), (RIGHT - LEFT) / max(1, len(lane.bars))
    for number, value in enumerate(lane.bars):
        if value > 0:
            high = max(1.0, LANE * value / most)
            yield {
                "x": f"{LEFT + number * width:.2f}",
                "y": f"{top + LANE - high:.2f}",
                "width": f"{max(0.5, width):.2f}",
                "height": f"{high:.2f}",
                "value": f"{value:,.6g}",
            }
