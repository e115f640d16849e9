"""What of a scanned object is damaged, place by place: garbage, wrong checksums, order that is lost.

No checksum covers the offsets and leader epochs of Kafka's batches; in a segment they rise. Of each span the
first and the last ones are kept, so that the order between two spans of an object is looked at in the end.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
from attrs import define, field

from wireproof.cases.survey import MISFITS
from wireproof.wire.items import Item

MOST: Final = 1000
"""Places that are kept of a span; the others are counted."""

ORDER: Final = "offsets-not-monotonic"
EPOCHS: Final = "leader-epoch-order"

SEGMENT: Final = re.compile(r"\d{20}\.log(\.gz|\.bz2|\.zst|\.lz4)?")
"""The name of a segment, whose entries are of one partition; other objects may hold entries of any."""

DAMAGE: Final = pa.schema(
    [("path", pa.string()), ("position", pa.int64()), ("length", pa.int64()), ("class", pa.string())]
)
"""One row a place."""


@define
class Damages:
    """The damaged places of a span.

    Attributes:
        places: position, length and class of the first ones.
        count: of all of them.
        begins, ends: of the span's batches: first offset, leader epoch, position and length of the
            first one; offset and epoch of the last one. None before a batch was seen.
    """

    places: list[list[Any]] = field(factory=list)
    count: int = 0
    begins: list[int] | None = None
    ends: list[int] | None = None

    def add(self, position: int, length: int, cls: str) -> None:
        """Add a place."""
        self.count += 1
        if len(self.places) < MOST:
            self.places.append([position, length, cls])

    def item(self, item: Item) -> None:
        """Add what is wrong with an item."""
        if item.kind == "garbage":
            self.add(item.at, item.length, item.cls or "other")
        for cls in dict.fromkeys(remark.cls for remark in item.remarks if remark.cls in MISFITS):
            self.add(item.at, item.length, cls)

    def batch(self, item: Item, data: bytes) -> None:
        """Add what is out of order in a sound entry; `data` begins with the head of it."""
        if len(data) < 27 or data[16] != 2:
            return
        first, delta = (int.from_bytes(data[a:b], "big", signed=True) for a, b in ((0, 8), (23, 27)))
        epoch = int.from_bytes(data[12:16], "big", signed=True)
        one = [np.array([number], np.int64) for number in (first, first + delta, epoch, item.at, item.length)]
        self.ordered(*one)

    def ordered(self, first: Any, last: Any, epoch: Any, position: Any, length: Any) -> None:  # noqa: ANN401 - arrays
        """Add what is out of order in batches, which are rows of these arrays."""
        if not first.size:
            return
        if self.begins is None:
            self.begins = [int(first[0]), int(epoch[0]), int(position[0]), int(length[0])]
            self.ends = [int(first[0]) - 1, int(epoch[0])]
        assert self.ends is not None, "as the beginning"
        lasts = np.concatenate([[self.ends[0]], last])
        epochs = np.concatenate([[self.ends[1]], epoch])
        for cls, wrong in ((ORDER, first <= lasts[:-1]), (EPOCHS, (epoch < epochs[:-1]) | (epoch < -1))):
            for row in np.flatnonzero(wrong).tolist():
                self.add(int(position[row]), int(length[row]), cls)
        self.ends = [int(lasts[-1]), int(epochs[-1])]

    def dump(self) -> dict[str, Any]:
        """As JSON."""
        return {"places": self.places, "count": self.count, "begins": self.begins, "ends": self.ends}


def segment(shown: str) -> bool:
    """Whether an object has the name of a segment."""
    return SEGMENT.fullmatch(Path(shown).name) is not None


def across(spans: Iterable[tuple[str, dict[str, Any]]]) -> Iterator[tuple[str, list[Any]]]:
    """The places of all spans, each with its object, and what is out of order between two spans of one."""
    before: dict[str, list[int]] = {}
    for shown, found in spans:
        begins, last = found["begins"], before.get(shown)
        if begins and last:
            if begins[0] <= last[0]:
                yield shown, [begins[2], begins[3], ORDER]
            if begins[1] < last[1]:
                yield shown, [begins[2], begins[3], EPOCHS]
        yield from ((shown, place) for place in found["places"])
        if found["ends"]:
            before[shown] = found["ends"]


def rows(spans: Iterable[tuple[str, dict[str, Any]]]) -> list[dict[str, Any]]:
    """The table of damages."""
    return [
        {"path": shown, "position": at, "length": length, "class": cls}
        for shown, (at, length, cls) in across(spans)
    ]
