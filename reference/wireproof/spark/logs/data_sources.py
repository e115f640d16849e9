"""The data sources for Spark: `spark.read.format("wireproof.kafka_log").load(path)`.

Each is a subclass of `LogSource` in its family. Spark finds them by name through the modules
`pyspark_wireproof_*` beside this package. Their options are in `sources`.

No reader has `pushFilters`. Spark 4.1 to 4.3.0 keep the reader with the filters of one query on the relation,
which all queries of a DataFrame share, so that each of them has only the rows of that filter (SPARK-51575; a
later Spark, SPARK-58551, keeps it with the scan).

In a stream each byte is read once. The offset of a log is a settled split point: bytes that arrive later
cannot change the items before it. A cut tail is left until it is complete, and garbage until something valid
follows it. If a log has to wait for more bytes, this is logged, once for each position. So is the limit of an
entry that a stream assumes if the option `max_message` is not given.
"""

import logging
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from functools import partial
from typing import Any, Final

from attrs import define, evolve, field
from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader, InputPartition
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxBytes,
    ReadMaxFiles,
    SupportsTriggerAvailableNow,
)
from pyspark.sql.types import StructType

from wireproof.formats import steps_of
from wireproof.spark.errors import SourceError
from wireproof.spark.logs import sources
from wireproof.spark.logs.columns import HEADER_BYTES
from wireproof.spark.logs.objects import ObjectPlace, ObjectReader, expand_paths
from wireproof.spark.logs.sources import SourceSettings
from wireproof.spark.logs.spans import (
    ObjectSpan,
    ReadRequest,
    part_of_object,
    plan_tasks,
    read_spans,
    whole_objects,
)
from wireproof.spark.logs.split_points import find_split_points

# --- offsets of a stream ---

LOG: Final = logging.getLogger("wireproof.spark")

Committed = Mapping[str, int]
"""The bytes of each log that were read, by `ObjectPlace.display_name`; of a compressed object all or none."""


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

    def latest(
        self, start: Committed, *, most_bytes: int | None = None, most_files: int | None = None
    ) -> dict[str, int]:
        """Return the offset after one step from `start`: at least one item of each object that grew."""
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
        places, stop = self._places(), self.stop
        if stop is not None:
            seen = (place for place in places if place.display_name in stop)
            places = [evolve(place, size=min(place.size, stop[place.display_name])) for place in seen]
        grown = [place for place in places if _has_grown(place, start.get(place.display_name, 0))][
            :most_files
        ]
        share = None if most_bytes is None else most_bytes // max(len(grown), 1)
        reached = {
            place.display_name: self._reach(place, start.get(place.display_name, 0), share) for place in grown
        }
        return {**start, **{name: at for name, at in reached.items() if at > start.get(name, 0)}}

    def available(self) -> dict[str, int]:
        """Return the number of objects, and of their bytes as stored."""
        places = self._places()
        return {"objects": len(places), "bytes": sum(place.size for place in places)}

    def ranges(self, start: Committed, end: Committed) -> list[ObjectSpan]:
        """Return the bytes between two offsets; raises `SourceError` if some of these bytes are gone."""
        places = {place.display_name: place for place in self._places()}
        wanted = {name: at for name, at in end.items() if at > start.get(name, 0)}
        if lost := [name for name, at in wanted.items() if name not in places or places[name].size < at]:
            raise SourceError(
                f"{lost[0]}: bytes that the checkpoint expects are gone; start with a new checkpoint"
            )
        return [ObjectSpan(places[name], start.get(name, 0), at) for name, at in sorted(wanted.items())]

    def _places(self) -> list[ObjectPlace]:
        places: list[ObjectPlace] = []
        for path in self.source.paths:
            try:
                places += expand_paths([path], self.source.kind.suffixes, self.source.chosen)
            except SourceError:  # a log that does not exist yet
                continue
        return places

    def _reach(self, place: ObjectPlace, start: int, share: int | None) -> int:
        """Return the last settled split point within `share` bytes, or the first one if it is further."""
        if place.compression:
            return place.size
        if self._reached.get(place.display_name, (0, 0, 0))[:2] == (start, place.size):
            return self._reached[place.display_name][2]
        reached = start
        with closing(ObjectReader.of(place)) as stored:
            for point in find_split_points(self.source.framing, stored, self.source.options, start):
                if not point.settled:
                    self._log_waiting(place, stored, reached)
                    break
                if share is not None and reached > start and point.at - start > share:
                    break
                reached = point.at
        if share is None:
            self._reached[place.display_name] = (start, place.size, reached)
        return reached

    def _log_waiting(self, place: ObjectPlace, stored: ObjectReader, at: int) -> None:
        if (place.display_name, at) in self._logged:
            return
        self._logged.add((place.display_name, at))
        available = place.size - at
        needs = steps_of(self.source.framing.fmt).size(stored.read(at, HEADER_BYTES))
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


# --- sources ---

COMMITTED: Final = "committed"
"""The only key of a stream offset; its value is a `Committed`."""


def make_request(source: SourceSettings, schema: StructType) -> ReadRequest:
    """Return the request for rows of `schema`, which may have fewer columns than the source.

    Raises:
        SourceError: an unknown column, a wrong type, or no path.
    """
    columns = source.table.chosen(schema.fieldNames())
    known = from_arrow_schema(source.table.schema(everything=True))
    for column in schema:
        if known[column.name].dataType != column.dataType:
            expected, found = (each.dataType.simpleString() for each in (known[column.name], column))
            raise SourceError(f"column {column.name} has type {expected}, not {found}")
    arrow = to_arrow_schema(schema, timezone="UTC")
    if not source.paths:
        raise SourceError(f'{source.kind.name}: no path given; use .load("…")')
    return ReadRequest(source, columns, arrow)


def _tasks(source: SourceSettings, spans: Iterable[ObjectSpan]) -> list[InputPartition]:
    """Return the tasks that read some spans, which are cut: the value of each is its spans.

    If there is nothing to read, Spark makes a task of its own, whose value is None.
    """
    most = source.max_partition_bytes
    return list(map(InputPartition, plan_tasks(source.framing, source.options, spans, source.tasks, most)))


class LogSource(DataSource):
    """The base class of the sources; a subclass sets `KIND`."""

    KIND = ""

    @classmethod
    def name(cls) -> str:
        """Return the name for `format(...)`."""
        return cls.KIND

    def schema(self) -> StructType:
        """Return the schema of all columns that are not only on request."""
        source = sources.parse(self.KIND, self.options)
        return from_arrow_schema(source.table.schema(everything=source.raw))

    def reader(self, schema: StructType) -> DataSourceReader:
        """Return the reader of a batch query."""
        return LogReader(make_request(sources.parse(self.KIND, self.options), schema))

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802 - Spark's name
        """Return the reader of a stream over growing logs."""
        return LogStreamReader(
            make_request(sources.for_stream(sources.parse(self.KIND, self.options)), schema)
        )


class LogReader(DataSourceReader):
    """Reads the bytes that existed when the query was planned."""

    def __init__(self, rows: ReadRequest) -> None:
        """Read these rows."""
        self.rows = rows

    def partitions(self) -> list[InputPartition]:
        """Return the tasks."""
        source = self.rows.source
        places = expand_paths(source.paths, source.kind.suffixes, source.chosen)
        if source.positions is None:
            return _tasks(source, whole_objects(places))
        cut = partial(part_of_object, source.framing, source.options, *source.positions)
        return _tasks(source, map(cut, places))

    def read(self, partition: InputPartition) -> Iterator[Any]:
        """Yield the rows of a task as Arrow batches."""
        return read_spans(partition.value or (), self.rows)


class LogStreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Reads growing logs: each row once, as soon as later bytes cannot change it."""

    def __init__(self, rows: ReadRequest) -> None:
        """Follow the objects of these rows."""
        self.source, self.rows, self.follower = rows.source, rows, OffsetTracker(rows.source)

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802 - Spark's names, here and below
        """Return the offset at which nothing is read."""
        return {COMMITTED: {}}

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        """Return the limit from the options."""
        if self.source.max_bytes:
            return ReadMaxBytes(self.source.max_bytes)
        return ReadMaxFiles(self.source.max_files) if self.source.max_files else ReadAllAvailable()

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        """Leave bytes that arrive from now on to the next run."""
        self.follower.freeze()

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:  # noqa: N802
        """Return the offset after one step."""
        most_bytes = limit.max_bytes if isinstance(limit, ReadMaxBytes) else None
        most_files = limit.max_files if isinstance(limit, ReadMaxFiles) else None
        return {
            COMMITTED: self.follower.latest(start[COMMITTED], most_bytes=most_bytes, most_files=most_files)
        }

    def reportLatestOffset(self) -> dict[str, Any]:  # noqa: N802
        """Return what is there: with the bytes that were read, the progress of a query shows its backlog."""
        return self.follower.available()

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> list[InputPartition]:
        """Return the tasks of one step, the same ones if it is repeated."""
        return _tasks(self.source, self.follower.ranges(start[COMMITTED], end[COMMITTED]))

    def read(self, partition: InputPartition) -> Iterator[Any]:
        """Yield the rows of a task as Arrow batches."""
        return read_spans(partition.value or (), self.rows)
