"""The data sources for Spark: `spark.read.format("wireproof.kafka_log").load(path)`.

Each is a subclass of `LogSource` in its family. Spark finds them by name through the modules
`pyspark_wireproof_*` beside this package. Their options are in `source_settings`.

No reader has `pushFilters`. Spark 4.1 to 4.3.0 keep the reader with the filters of one query on the relation,
which all queries of a DataFrame share, so that each of them has only the rows of that filter (SPARK-51575; a
later Spark, SPARK-58551, keeps it with the scan).
"""

from collections.abc import Iterator
from typing import Any, Final

import pyarrow as pa
from pyspark.sql.datasource import (
    DataSource,
    DataSourceReader,
    DataSourceStreamReader,
    InputPartition,
)
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxBytes,
    ReadMaxFiles,
    SupportsTriggerAvailableNow,
)
from pyspark.sql.types import StructType

from wireproof.spark import source_settings
from wireproof.spark.errors import SourceError
from wireproof.spark.object_places import expand_paths
from wireproof.spark.object_spans import ObjectSpan, part_of_object, plan_tasks, whole_objects
from wireproof.spark.read_span import ReadRequest, read_spans
from wireproof.spark.source_settings import SourceSettings
from wireproof.spark.streaming_offsets import OffsetTracker, StepLimit

COMMITTED: Final = "committed"
"""The only key of a stream offset; its value is a `streaming_offsets.Committed`."""


class SpanTask(InputPartition):
    """The spans of one task."""

    def __init__(self, spans: tuple[ObjectSpan, ...]) -> None:
        """Store the spans."""
        super().__init__(None)
        self.spans = spans


def make_request(source: SourceSettings, schema: StructType) -> ReadRequest:
    """Return the request for rows of `schema`, which may have fewer columns than the source.

    Raises:
        SourceError: an unknown column, or a wrong type.
    """
    columns = source.table.chosen(schema.fieldNames())
    known = _spark_schema(source.table.schema(everything=True))
    for field in schema:
        if known[field.name].dataType != field.dataType:
            expected = known[field.name].dataType.simpleString()
            raise SourceError(f"column {field.name} has type {expected}, not {field.dataType.simpleString()}")
    arrow = to_arrow_schema(schema, timezone="UTC")
    return ReadRequest(source.framing, source.options, source.table, columns, arrow, source.max_unpacked)


def _spark_schema(schema: pa.Schema) -> StructType:
    return from_arrow_schema(schema)


class LogSource(DataSource):
    """The base class of the sources; a subclass sets `KIND`."""

    KIND = ""

    @classmethod
    def name(cls) -> str:
        """Return the name for `format(...)`."""
        return cls.KIND

    def schema(self) -> StructType:
        """Return the schema of all columns that are not only on request."""
        source = source_settings.parse(self.KIND, self.options)
        return _spark_schema(source.table.schema(everything=source.raw))

    def reader(self, schema: StructType) -> DataSourceReader:
        """Return the reader of a batch query."""
        source = source_settings.parse(self.KIND, self.options)
        return LogReader(source, make_request(source, schema))

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802 - Spark's name
        """Return the reader of a stream over growing logs."""
        source = source_settings.for_stream(source_settings.parse(self.KIND, self.options))
        return LogStreamReader(source, make_request(source, schema))


class LogReader(DataSourceReader):
    """Reads the bytes that existed when the query was planned."""

    def __init__(self, source: SourceSettings, rows: ReadRequest) -> None:
        """Read `rows` of the objects of `source`; raises `SourceError` if it names none."""
        if not source.paths:
            raise SourceError(f'{source.kind.name}: no path given; use .load("…")')
        self.source, self.rows = source, rows

    def partitions(self) -> list[SpanTask]:
        """Return the tasks."""
        source = self.source
        ranges = whole_objects(expand_paths(source.paths, source.kind.suffixes))
        if source.positions:
            ranges = [
                part_of_object(source.framing, source.options, *source.positions, part) for part in ranges
            ]
        return [SpanTask(spans) for spans in plan_tasks(source.framing, source.options, ranges, source.tasks)]

    def read(self, partition: InputPartition) -> Iterator[Any]:
        """Yield the rows of a task as Arrow batches."""
        return _read(partition, self.rows)


def _read(partition: InputPartition, rows: ReadRequest) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a task; if there is nothing to read, Spark passes a partition of its own."""
    return read_spans(partition.spans, rows) if isinstance(partition, SpanTask) else iter(())


class LogStreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Reads growing logs: each row once, as soon as later bytes cannot change it."""

    def __init__(self, source: SourceSettings, rows: ReadRequest) -> None:
        """Follow the objects of `source`; raises `SourceError` if it names none."""
        if not source.paths:
            raise SourceError(f'{source.kind.name}: no path given; use .load("…")')
        self.source, self.rows, self.follower = source, rows, OffsetTracker(source)

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
        match limit:
            case ReadMaxBytes(max_bytes=most):
                step = StepLimit(bytes=most)
            case ReadMaxFiles(max_files=most):
                step = StepLimit(files=most)
            case _:
                step = StepLimit()
        return {COMMITTED: self.follower.latest(start[COMMITTED], step)}

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> list[SpanTask]:
        """Return the tasks of one step, the same ones if it is repeated."""
        ranges = self.follower.ranges(start[COMMITTED], end[COMMITTED])
        tasks = plan_tasks(self.source.framing, self.source.options, ranges, self.source.tasks)
        return [SpanTask(spans) for spans in tasks]

    def read(self, partition: InputPartition) -> Iterator[Any]:
        """Yield the rows of a task as Arrow batches."""
        return _read(partition, self.rows)
