"""Cut objects into spans at split points, and group the spans into tasks of about equal size."""

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Final

from attrs import frozen

from wireproof.spark.errors import SourceError
from wireproof.spark.object_places import ObjectPlace
from wireproof.spark.object_reader import ObjectReader
from wireproof.spark.split_points import StreamFraming, find_split_points
from wireproof.wire.options import Options
from wireproof.wire.reject_classes import RejectClass
from wireproof.wire.scan_items import Item

MIN_GRAIN: Final = 1024 * 1024
"""The smallest span, a mebibyte: a smaller one costs more to schedule than to read."""

SLACK_FRACTION: Final = 8
"""A span or a task may exceed the grain by this fraction of it, because so small a rest is not worth one."""

COMPRESSED_WEIGHT: Final = 3
"""The weight of a compressed byte: it must be decompressed, and the object cannot be split."""

LONG_GARBAGE: Final = 4 * 1024 * 1024
"""Bytes of garbage that are a span of their own: its end is known, so that no task searches it again."""

INDEXERS: Final = 8
"""Objects on a store behind a network that are indexed at a time: most of that is waiting."""


@frozen
class ObjectSpan:
    """The bytes of an object that one task reads.

    Attributes:
        place: the object, with the size that it had when the spans were made.
        start, end: split points. A compressed object has one span, from 0 to its stored size.
        garbage: the class of the garbage that it is, which is not searched again; None if it is to be read.
    """

    place: ObjectPlace
    start: int
    end: int
    garbage: RejectClass | None = None

    @property
    def known(self) -> tuple[Item, ...]:
        """Return the items of the span if they are known without reading it; else none."""
        if self.garbage is None:
            return ()
        return (Item("garbage", self.start, self.end - self.start, cls=self.garbage),)

    @property
    def weight(self) -> int:
        """Return the cost, in bytes to read."""
        if self.garbage is not None:
            return 1
        return (self.end - self.start) * (COMPRESSED_WEIGHT if self.place.compression else 1)


ObjectRange = tuple[ObjectPlace, int, int]


def whole_objects(places: Iterable[ObjectPlace]) -> list[ObjectRange]:
    """Return the whole objects as ranges."""
    return [(place, 0, place.size) for place in places]


def part_of_object(
    framing: StreamFraming, options: Options, first: int, end: int, part: ObjectRange
) -> ObjectRange:
    """Return the part of a whole object whose items begin from `first` to before `end`.

    Raises:
        SourceError: the object is compressed.
    """
    place, start, _ = part
    if place.compression:
        raise SourceError(
            f"option positions: {place.display_name} is compressed: decompress it, or leave it out"
        )
    stored, bounds = ObjectReader.of(place), list[int]()
    try:
        for goal in (first, end):
            if goal > start:
                points = find_split_points(framing, stored, options, start, goal - start)
                start = next((point.at for point in points if point.at >= goal), place.size)
            bounds.append(start)
    finally:
        stored.close()
    return place, bounds[0], bounds[1]


def plan_tasks(
    framing: StreamFraming, options: Options, ranges: Iterable[ObjectRange], tasks: int
) -> list[tuple[ObjectSpan, ...]]:
    """Group the ranges into about `tasks` tasks; none is empty.

    Each range begins and ends at a split point.
    """
    nonempty = [(place, start, end) for place, start, end in ranges if end > start]
    total = sum(end - start for _, start, end in nonempty)
    grain = max(MIN_GRAIN, -(-total // tasks))
    is_remote = any(place.store for place, _, _ in nonempty)
    with ThreadPoolExecutor(INDEXERS if is_remote else 1) as pool:
        spans = [
            span
            for parts in pool.map(lambda part: split_range(framing, options, part, grain), nonempty)
            for span in parts
        ]
    return list(group_spans(spans, grain))


def split_range(framing: StreamFraming, options: Options, part: ObjectRange, grain: int) -> list[ObjectSpan]:
    """Cut a range at the first split point after each `grain` bytes.

    A range that is only a little longer than `grain` stays whole.
    """
    place, start, end = part
    if place.compression or end - start <= grain + grain // SLACK_FRACTION:
        return [ObjectSpan(place, start, end)]
    stored, garbage = ObjectReader.of(place), dict[int, Item]()
    try:
        points = [start, *choose_split_points(framing, stored, options, start, end, grain, garbage), end]
    finally:
        stored.close()
    return [
        ObjectSpan(place, first, last, garbage[first].cls if first in garbage else None)
        for first, last in pairwise(points)
        if last > first
    ]


def choose_split_points(
    framing: StreamFraming, stored: ObjectReader, options: Options, start: int, end: int, grain: int,
    garbage: dict[int, Item] | None = None,
) -> Iterator[int]:  # fmt: skip
    """Yield split points in a range, at least `grain` bytes apart, and those around long garbage.

    The search ends once the rest is one span, so it looks only at the start of a short object. Long garbage
    is added to `garbage`, if that is given, by its position.
    """
    last = start
    for point in find_split_points(framing, stored, options, start, grain):
        found = point.garbage if point.at <= end else None
        if garbage is not None and found is not None and found.cls and found.length >= LONG_GARBAGE:
            garbage[found.at] = found
            if found.at > last:
                yield found.at
            last = point.at
            if point.at >= end:
                return
            yield last
            continue
        if point.at >= end:
            return
        if point.at - last >= grain:
            last = point.at
            yield last
            if end - last <= grain + grain // SLACK_FRACTION:
                return


def group_spans(spans: Iterable[ObjectSpan], grain: int) -> Iterator[tuple[ObjectSpan, ...]]:
    """Group spans into tasks of about `grain` bytes, in order, so that a task reads adjacent bytes.

    A larger span, such as a compressed object that cannot be split, is a task of its own.
    """
    task: list[ObjectSpan] = []
    weight = 0
    for span in spans:
        if task and weight + span.weight > grain + grain // SLACK_FRACTION:
            yield tuple(task)
            task, weight = [], 0
        task.append(span)
        weight += span.weight
    if task:
        yield tuple(task)
