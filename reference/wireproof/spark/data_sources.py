"""The data sources for Spark: `spark.read.format("wireproof.kafka_log").load(path)`.

Each is a subclass of `LogSource` in its family. Spark finds them by name through the modules
`pyspark_wireproof_*` beside this package. Their options are in `source_settings`.
"""

import sys
from collections.abc import Iterable, Iterator
from typing import Any, Final

import pyarrow as pa
from pyspark.sql.datasource import (
    DataSource,
    DataSourceReader,
    DataSourceStreamReader,
    Filter,
    InputPartition,
    Not,
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

from wireproof.spark import filters, source_settings
from wireproof.spark.errors import SourceError
from wireproof.spark.filters import ColumnTest
from wireproof.spark.object_places import expand_paths
from wireproof.spark.object_spans import ObjectSpan, filter_spans, plan_tasks, whole_objects
from wireproof.spark.read_span import ReadRequest, read_spans
from wireproof.spark.source_settings import SourceSettings
from wireproof.spark.streaming_offsets import OffsetTracker, StepLimit

PUSHDOWN_MODULE: Final = "pyspark.sql.worker.data_source_pushdown_filters"
"""The module of the worker that plans with filters.

If filters are not to be pushed (the default of `spark.sql.python.filterPushdown.enabled`), Spark refuses
every reader with a method `pushFilters`.
"""

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
        kind = FilteringLogReader if PUSHDOWN_MODULE in sys.modules else LogReader
        return kind(source, make_request(source, schema))

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
        self.source, self.rows, self.tests = source, rows, list[ColumnTest]()

    def partitions(self) -> list[SpanTask]:
        """Return the tasks, without objects and spans whose rows the pushed filters would all drop."""
        source = self.source
        places = [
            place
            for place in expand_paths(source.paths, source.kind.suffixes)
            if filters.may_keep_path(place.display_name, self.tests)
        ]
        tasks = plan_tasks(source.framing, source.options, whole_objects(places), source.tasks)
        kept = (tuple(filter_spans(task, self._reaches)) for task in tasks)
        return [SpanTask(spans) for spans in kept if spans]

    def _reaches(self, first: int, last: int) -> bool:
        return filters.may_keep_range(first, last, self.tests)

    def read(self, partition: InputPartition) -> Iterator[Any]:
        """Yield the rows of a task as Arrow batches."""
        for batch in _read(partition, self.rows):
            yield filters.apply_tests(batch, self.tests)


def _read(partition: InputPartition, rows: ReadRequest) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a task; if there is nothing to read, Spark passes a partition of its own."""
    return read_spans(partition.spans, rows) if isinstance(partition, SpanTask) else iter(())


class FilteringLogReader(LogReader):
    """A reader that also takes filters from Spark."""

    def pushFilters(self, filters: list[Filter]) -> Iterable[Filter]:  # noqa: N802 - Spark's name
        """Take the filters that can be tested on Arrow columns; yield the others back."""
        for spark_filter in filters:
            test = self._test(spark_filter)
            if test is None:
                yield spark_filter
            else:
                self.tests.append(test)

    def _test(self, spark_filter: Filter) -> ColumnTest | None:
        negated = isinstance(spark_filter, Not)
        inner: Any = spark_filter.child if isinstance(spark_filter, Not) else spark_filter
        path = inner.attribute
        if len(path) != 1 or path[0] not in self.rows.schema.names:
            return None
        test = ColumnTest(path[0], type(inner).__name__, getattr(inner, "value", None), negated)
        return test if filters.can_test(test, self.rows.schema.field(path[0]).type) else None


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
