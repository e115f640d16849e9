"""Logs that grow: how far each of them may be read by now, so that every byte is read once.

What is committed of a log ends at an edge that is settled: bytes which come later cannot change what lies
before it. A torn tail is left until it is whole; garbage is left until something stands behind it. What a log
waits for is logged, once for each place.
"""

import logging
from collections.abc import Iterable, Mapping
from typing import Final

from attrs import define, evolve, field, frozen

from wireproof.cases.survey import wanted
from wireproof.spark.columns import HEAD
from wireproof.spark.errors import SourceError
from wireproof.spark.framing import edges
from wireproof.spark.places import Place, expand
from wireproof.spark.settings import Settings
from wireproof.spark.spans import Range
from wireproof.spark.stored import Stored

LOG: Final = logging.getLogger("wireproof.spark")

Committed = Mapping[str, int]
"""By `Place.shown`, the bytes of each log that were read; of a compressed object, all or none."""


@frozen
class Limit:
    """What one step may take: bytes, or objects; None is no limit. Of an object at least one item is."""

    bytes: int | None = None
    files: int | None = None


@define
class Follower:
    """Finds out how far to read.

    Attributes:
        asked: the settings; a path in them that names nothing yet is waited for.
        stop: sizes beyond which nothing is read, by `Place.shown`; None: as far as there is something.
    """

    asked: Settings
    stop: dict[str, int] | None = None
    _looked: dict[str, tuple[int, int, int]] = field(factory=dict, init=False)
    _waiting: set[tuple[str, int]] = field(factory=set, init=False)

    def freeze(self) -> None:
        """Read no further than what is there now."""
        self.stop = {place.shown: place.size for place in self._places()}

    def latest(self, start: Committed, limit: Limit) -> dict[str, int]:
        """What may be committed after one step from `start`."""
        news = [place for place in self._bounded() if _grown(place, start.get(place.shown, 0))]
        news = news[: limit.files]
        share = None if limit.bytes is None else limit.bytes // max(len(news), 1)
        reached = {place.shown: self._reach(place, start.get(place.shown, 0), share) for place in news}
        return {**start, **{shown: at for shown, at in reached.items() if at > start.get(shown, 0)}}

    def ranges(self, start: Committed, end: Committed) -> list[Range]:
        """What lies between two commitments; raises `SourceError` if some of it is gone."""
        there = {place.shown: place for place in self._places()}
        wanted = {shown: at for shown, at in end.items() if at > start.get(shown, 0)}
        if lost := [shown for shown, at in wanted.items() if shown not in there or there[shown].size < at]:
            raise SourceError(
                f"{lost[0]}: bytes that were to be read are gone; begin with another checkpoint"
            )
        return [(there[shown], start.get(shown, 0), at) for shown, at in sorted(wanted.items())]

    def _places(self) -> list[Place]:
        places: list[Place] = []
        for path in self.asked.paths:
            try:
                places += expand([path], self.asked.kind.suffixes)
            except SourceError:  # a log that is not there yet
                continue
        return places

    def _bounded(self) -> Iterable[Place]:
        for place in self._places():
            if self.stop is None:
                yield place
            elif place.shown in self.stop:
                yield evolve(place, size=min(place.size, self.stop[place.shown]))

    def _reach(self, place: Place, start: int, share: int | None) -> int:
        """The last settled edge within `share` bytes; the first one, if it lies behind them."""
        if place.compression:
            return place.size
        if self._looked.get(place.shown, (0, 0, 0))[:2] == (start, place.size):
            return self._looked[place.shown][2]
        stored, reached = Stored.of(place), start
        try:
            for edge in edges(self.asked.framing, stored, self.asked.options, start):
                if not edge.settled:
                    self._waits(place, stored, reached)
                    break
                if share is not None and reached > start and edge.at - start > share:
                    break
                reached = edge.at
        finally:
            stored.close()
        if share is None:
            self._looked[place.shown] = (start, place.size, reached)
        return reached

    def _waits(self, place: Place, stored: Stored, at: int) -> None:
        """Log what a log waits for."""
        if (place.shown, at) in self._waiting:
            return
        self._waiting.add((place.shown, at))
        there = place.size - at
        needs = wanted(self.asked.framing.row, stored.read(at, HEAD))
        what = (
            f"an entry of {needs} bytes begins there, and {there} are there"
            if needs > there
            else f"where the next entry begins cannot be seen in the {there} bytes that are there"
        )
        LOG.warning("%s waits for more bytes at %d: %s", place.shown, at, what)


def _grown(place: Place, committed: int) -> bool:
    """Whether there is something new; raises `SourceError` where there is less than was read."""
    changed = place.compression and committed and place.size != committed
    if changed or place.size < committed:
        raise SourceError(f"{place.shown}: {committed} bytes were read and there are {place.size} now")
    return place.size > committed
