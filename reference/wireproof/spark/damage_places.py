"""The damaged places of a scanned object: garbage, wrong checksums, and entries out of order.

No checksum covers offsets and leader epochs of Kafka's batches, but in a segment they rise. The first and the
last ones of each span are stored, so that the order between two spans of an object can be checked at the end.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
from attrs import define, field

from wireproof.cases.log_survey import mismatch_remarks
from wireproof.wire.scan_items import Item

MAX_PLACES: Final = 1000
"""Places that are listed for a span; the others are only counted."""

OFFSET_ORDER: Final = "offsets-not-monotonic"
EPOCH_ORDER: Final = "leader-epoch-order"

SEGMENT: Final = re.compile(r"\d{20}\.log(\.gz|\.bz2|\.zst|\.lz4)?")
"""The name of a segment, whose entries belong to one partition; other objects may mix partitions."""

DAMAGE: Final = pa.schema(
    [("path", pa.string()), ("position", pa.int64()), ("length", pa.int64()), ("class", pa.string())]
)
"""One row for each place."""


@define
class SpanDamage:
    """The damaged places of a span.

    Attributes:
        places: position, length and class of the first places.
        count: of all places.
        begins: first offset, leader epoch, position and length of the first batch; None if there is none.
        ends: last offset and leader epoch of the last batch; None if there is none.
    """

    places: list[list[Any]] = field(factory=list)
    count: int = 0
    begins: list[int] | None = None
    ends: list[int] | None = None

    def add(self, position: int, length: int, cls: str) -> None:
        """Add a place."""
        self.count += 1
        if len(self.places) < MAX_PLACES:
            self.places.append([position, length, cls])

    def add_item(self, item: Item) -> None:
        """Add the errors of an item."""
        if item.kind == "garbage":
            self.add(item.at, item.length, item.cls or "other")
        for cls in dict.fromkeys(remark.cls for remark in item.remarks if remark.cls in mismatch_remarks()):
            self.add(item.at, item.length, cls)

    def add_entry(self, item: Item, order: tuple[int, int, int]) -> None:
        """Add the errors in the order of an entry, by its first and last offset and its leader epoch."""
        self.add_batches(*(np.array([number], np.int64) for number in (*order, item.at, item.length)))

    def add_batches(self, first: Any, last: Any, epoch: Any, position: Any, length: Any) -> None:  # noqa: ANN401 - arrays
        """Add the batches that are out of order; each array has one element for each batch."""
        if not first.size:
            return
        if self.begins is None:
            self.begins = [int(first[0]), int(epoch[0]), int(position[0]), int(length[0])]
            self.ends = [int(first[0]) - 1, int(epoch[0])]
        assert self.ends is not None, "set together with `begins`"
        lasts = np.concatenate([[self.ends[0]], last])
        epochs = np.concatenate([[self.ends[1]], epoch])
        for cls, wrong in (
            (OFFSET_ORDER, first <= lasts[:-1]),
            (EPOCH_ORDER, (epoch < epochs[:-1]) | (epoch < -1)),
        ):
            for row in np.flatnonzero(wrong).tolist():
                self.add(int(position[row]), int(length[row]), cls)
        self.ends = [int(lasts[-1]), int(epochs[-1])]

    def dump(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {"places": self.places, "count": self.count, "begins": self.begins, "ends": self.ends}


def is_segment(name: str) -> bool:
    """Return whether an object has the name of a segment."""
    return SEGMENT.fullmatch(Path(name).name) is not None


def damage_across_spans(spans: Iterable[tuple[str, dict[str, Any]]]) -> Iterator[tuple[str, list[Any]]]:
    """Yield the places of all spans, with their objects, and the entries out of order between two spans."""
    before: dict[str, list[int]] = {}
    for name, damage in spans:
        begins, last = damage["begins"], before.get(name)
        if begins and last:
            if begins[0] <= last[0]:
                yield name, [begins[2], begins[3], OFFSET_ORDER]
            if begins[1] < last[1]:
                yield name, [begins[2], begins[3], EPOCH_ORDER]
        yield from ((name, place) for place in damage["places"])
        if damage["ends"]:
            before[name] = damage["ends"]


def damage_rows(spans: Iterable[tuple[str, dict[str, Any]]]) -> list[dict[str, Any]]:
    """Return the rows of the table of damage."""
    return [
        {"path": name, "position": at, "length": length, "class": cls}
        for name, (at, length, cls) in damage_across_spans(spans)
    ]
