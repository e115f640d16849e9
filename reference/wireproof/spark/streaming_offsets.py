"""The offsets of a stream over growing logs: how far each log may be read now.

Each byte is read once. The offset of a log is a settled split point: bytes that arrive later cannot change
the items before it. A cut tail is left until it is complete, and garbage until something valid follows it.
If a log has to wait for more bytes, this is logged, once for each position. So is the limit of an entry that
a stream assumes if the option `max_message` is not given.
"""

import logging
from collections.abc import Iterable, Mapping
from typing import Final

from attrs import define, evolve, field, frozen

from wireproof.cases.log_survey import bytes_needed
from wireproof.spark.columns import HEADER_BYTES
from wireproof.spark.errors import SourceError
from wireproof.spark.object_places import ObjectPlace, expand_paths
from wireproof.spark.object_reader import ObjectReader
from wireproof.spark.object_spans import ObjectRange
from wireproof.spark.source_settings import SourceSettings
from wireproof.spark.split_points import find_split_points

LOG: Final = logging.getLogger("wireproof.spark")

Committed = Mapping[str, int]
"""The bytes of each log that were read, by `ObjectPlace.display_name`; of a compressed object all or none."""


@frozen
class StepLimit:
    """The limit of one step: bytes, or objects; None is no limit. At least one item of an object is read."""

    bytes: int | None = None
    files: int | None = None


@define
class OffsetTracker:
    """Finds how far to read.

    Attributes:
        source: the settings; a path that names nothing yet is waited for.
        stop: by `ObjectPlace.display_name`, the size up to which a log is read; None if there is no limit.
    """

    source: SourceSettings
    stop: dict[str, int] | None = None
    _reached: dict[str, tuple[int, int, int]] = field(factory=dict, init=False)
    _logged: set[tuple[str, int]] = field(factory=set, init=False)
    _assumption_logged: bool = field(default=False, init=False)

    def freeze(self) -> None:
        """Ignore bytes that are appended from now on."""
        self.stop = {place.display_name: place.size for place in self._places()}

    def latest(self, start: Committed, limit: StepLimit) -> dict[str, int]:
        """Return the offset after one step from `start`."""
        self._log_assumption()
        grown = [
            place for place in self._places_to_stop() if _has_grown(place, start.get(place.display_name, 0))
        ]
        grown = grown[: limit.files]
        share = None if limit.bytes is None else limit.bytes // max(len(grown), 1)
        reached = {
            place.display_name: self._reach(place, start.get(place.display_name, 0), share) for place in grown
        }
        return {**start, **{name: at for name, at in reached.items() if at > start.get(name, 0)}}

    def ranges(self, start: Committed, end: Committed) -> list[ObjectRange]:
        """Return the ranges between two offsets; raises `SourceError` if some of these bytes are gone."""
        places = {place.display_name: place for place in self._places()}
        wanted = {name: at for name, at in end.items() if at > start.get(name, 0)}
        if lost := [name for name, at in wanted.items() if name not in places or places[name].size < at]:
            raise SourceError(
                f"{lost[0]}: bytes that the checkpoint expects are gone; start with a new checkpoint"
            )
        return [(places[name], start.get(name, 0), at) for name, at in sorted(wanted.items())]

    def _places(self) -> list[ObjectPlace]:
        places: list[ObjectPlace] = []
        for path in self.source.paths:
            try:
                places += expand_paths([path], self.source.kind.suffixes)
            except SourceError:  # a log that does not exist yet
                continue
        return places

    def _places_to_stop(self) -> Iterable[ObjectPlace]:
        for place in self._places():
            if self.stop is None:
                yield place
            elif place.display_name in self.stop:
                yield evolve(place, size=min(place.size, self.stop[place.display_name]))

    def _reach(self, place: ObjectPlace, start: int, share: int | None) -> int:
        """Return the last settled split point within `share` bytes, or the first one if it is further."""
        if place.compression:
            return place.size
        if self._reached.get(place.display_name, (0, 0, 0))[:2] == (start, place.size):
            return self._reached[place.display_name][2]
        stored, reached = ObjectReader.of(place), start
        try:
            for point in find_split_points(self.source.framing, stored, self.source.options, start):
                if not point.settled:
                    self._log_waiting(place, stored, reached)
                    break
                if share is not None and reached > start and point.at - start > share:
                    break
                reached = point.at
        finally:
            stored.close()
        if share is None:
            self._reached[place.display_name] = (start, place.size, reached)
        return reached

    def _log_assumption(self) -> None:
        """Log the limit that nobody gave, once."""
        most = self.source.assumed_max_message
        if most is not None and not self._assumption_logged:
            self._assumption_logged = True
            LOG.warning(
                "%s: entries are assumed to have at most %d bytes, the default of max.message.bytes; larger "
                "ones are read as garbage with the fault limit-exceeded: if the topic allows more, set the "
                "option max_message",
                self.source.kind.name,
                most,
            )

    def _log_waiting(self, place: ObjectPlace, stored: ObjectReader, at: int) -> None:
        """Log that a log waits for more bytes."""
        if (place.display_name, at) in self._logged:
            return
        self._logged.add((place.display_name, at))
        available = place.size - at
        needs = bytes_needed(self.source.framing.fmt, stored.read(at, HEADER_BYTES))
        reason = (
            f"the entry there has {needs} bytes, of which {available} are available"
            if needs > available
            else f"no start of an entry was found in the {available} bytes available"
        )
        LOG.warning("%s waits for more bytes at %d: %s", place.display_name, at, reason)


def _has_grown(place: ObjectPlace, committed: int) -> bool:
    """Return whether there is something new; raises `SourceError` if the object got shorter."""
    changed = place.compression and committed and place.size != committed
    if changed or place.size < committed:
        raise SourceError(
            f"{place.display_name}: {committed} bytes were read before, and the object has {place.size} now"
        )
    return place.size > committed
