"""Objects cut at edges into spans, and spans packed into tasks of about the same bytes."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Final

from attrs import evolve, frozen

from wireproof.spark.framing import Framing, edges
from wireproof.spark.places import Place
from wireproof.spark.stored import Stored
from wireproof.wire.options import Options

GRAIN_LEAST: Final = 1024 * 1024
"""A span below a mebibyte costs more to hand out than to read."""

LITTLE: Final = 8
"""The part of a grain by which a span or a task may be larger: so little is not worth one of its own."""

PACKED: Final = 3
"""What a compressed byte weighs, as it is unpacked, read and cannot be shared."""

INDEXERS: Final = 8
"""Objects on stores behind a network that are indexed at a time: nearly all of it is waiting."""


@frozen
class Span:
    """Bytes of an object that are read by one task.

    Attributes:
        place: the object; its size is the one that was seen when the spans were cut.
        start, end: edges. A compressed object has one span, 0 to its stored size.
    """

    place: Place
    start: int
    end: int

    @property
    def weight(self) -> int:
        """What it costs, in bytes read."""
        return (self.end - self.start) * (PACKED if self.place.compression else 1)


Range = tuple[Place, int, int]


def whole(places: Iterable[Place]) -> list[Range]:
    """Everything."""
    return [(place, 0, place.size) for place in places]


def plan(framing: Framing, options: Options, ranges: Iterable[Range], tasks: int) -> list[tuple[Span, ...]]:
    """The ranges, each beginning and ending at an edge, as about `tasks` tasks; none is empty."""
    cut = [(place, start, end) for place, start, end in ranges if end > start]
    total = sum(end - start for _, start, end in cut)
    grain = max(GRAIN_LEAST, -(-total // tasks))
    far = any(place.store for place, _, _ in cut)
    with ThreadPoolExecutor(INDEXERS if far else 1) as pool:
        spans = [
            span for part in pool.map(lambda one: split(framing, options, one, grain), cut) for span in part
        ]
    return list(packed(spans, grain))


def split(framing: Framing, options: Options, one: Range, grain: int) -> list[Span]:
    """The range cut at the first edge behind each `grain` bytes; a little more than that is left whole."""
    place, start, end = one
    if place.compression or end - start <= grain + grain // LITTLE:
        return [Span(place, start, end)]
    stored = Stored.of(place)
    try:
        places = [start, *cuts(framing, stored, options, start, end, grain), end]
    finally:
        stored.close()
    return [Span(place, a, b) for a, b in pairwise(places)]


def cuts(
    framing: Framing, stored: Stored, options: Options, start: int, end: int, grain: int
) -> Iterator[int]:
    """Edges within a range, at least `grain` bytes apart and from its beginning.

    The pass ends where what is left is one span: of a short object it looks at the beginning only.
    """
    last = start
    for edge in edges(framing, stored, options, start, grain):
        if edge.at >= end:
            return
        if edge.at - last >= grain:
            last = edge.at
            yield last
            if end - last <= grain + grain // LITTLE:
                return


def packed(spans: Iterable[Span], grain: int) -> Iterator[tuple[Span, ...]]:
    """Spans as tasks: in order, so that a task reads on where it stands; a task is full at `grain`."""
    held: list[Span] = []
    weight = 0
    for span in spans:
        alone = span.place.compression is not None
        if held and (alone or weight + span.weight > grain + grain // LITTLE):
            yield tuple(held)
            held, weight = [], 0
        held.append(span)
        weight += span.weight
        if alone:
            yield tuple(held)
            held, weight = [], 0
    if held:
        yield tuple(held)


def within(spans: Iterable[Span], keeps: Callable[[int, int], bool]) -> Iterator[Span]:
    """The spans whose first and last byte `keeps` wants."""
    return (span for span in spans if span.place.compression or keeps(span.start, span.end - 1))


def resized(place: Place, size: int) -> Place:
    """The object at another moment."""
    return evolve(place, size=size)
