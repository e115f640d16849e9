"""The data sources as Spark sees them: `spark.read.format("wireproof.kafka_log").load(path)`.

Found by name through the modules `pyspark_wireproof_*` beside this package. Options are in `settings`.
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

from wireproof.spark import filters, settings
from wireproof.spark.errors import SourceError
from wireproof.spark.filters import Test
from wireproof.spark.following import Follower, Limit
from wireproof.spark.places import expand
from wireproof.spark.reading import Wanted, read
from wireproof.spark.settings import Settings
from wireproof.spark.spans import Span, plan, whole, within

PUSHING: Final = "pyspark.sql.worker.data_source_pushdown_filters"
"""The module of the worker that plans with filters. Where filters are not to be pushed, the default of
`spark.sql.python.filterPushdown.enabled`, Spark refuses every reader that could take some."""

COMMITTED: Final = "committed"
"""The one key of a stream's offset, over a `following.Committed`."""


class Task(InputPartition):
    """The spans of one task."""

    def __init__(self, spans: tuple[Span, ...]) -> None:
        """Keep them."""
        super().__init__(None)
        self.spans = spans


def wanted(asked: Settings, schema: StructType) -> Wanted:
    """What to read for rows of `schema`, which may be narrower than the source's; raises `SourceError`."""
    columns = asked.table.chosen(schema.fieldNames())
    full = _spark_schema(asked.table.schema(everything=True))
    for one in schema:
        if full[one.name].dataType != one.dataType:
            there = full[one.name].dataType.simpleString()
            raise SourceError(f"column {one.name} is {there}, not {one.dataType.simpleString()}")
    arrow = to_arrow_schema(schema, timezone="UTC")
    return Wanted(asked.framing, asked.options, asked.table, columns, arrow, asked.max_unpacked)


def _spark_schema(schema: pa.Schema) -> StructType:
    return from_arrow_schema(schema)


class LogSource(DataSource):
    """What the three sources share; a subclass says which it is."""

    KIND = ""

    @classmethod
    def name(cls) -> str:
        """As in `format(...)`."""
        return cls.KIND

    def schema(self) -> StructType:
        """All columns that need not be asked for."""
        asked = settings.parse(self.KIND, self.options)
        return _spark_schema(asked.table.schema(everything=asked.raw))

    def reader(self, schema: StructType) -> DataSourceReader:
        """The reader of a batch query."""
        asked = settings.parse(self.KIND, self.options)
        kind = PushingReader if PUSHING in sys.modules else Reader
        return kind(asked, wanted(asked, schema))

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802 - Spark's name
        """The reader of a stream over logs that grow."""
        asked = settings.parse(self.KIND, self.options)
        return StreamReader(asked, wanted(asked, schema))


class Reader(DataSourceReader):
    """Rows of all the bytes that there were when the query was planned."""

    def __init__(self, asked: Settings, rows: Wanted) -> None:
        """Read `rows` of what `asked` says."""
        if not asked.paths:
            raise SourceError(f'{asked.kind.name}: no path; say .load("…")')
        self.asked, self.rows, self.tests = asked, rows, list[Test]()

    def partitions(self) -> list[Task]:
        """The tasks; objects and spans whose rows the pushed filters would all drop are left out."""
        asked = self.asked
        places = [
            place
            for place in expand(asked.paths, asked.kind.suffixes)
            if filters.keeps_path(place.shown, self.tests)
        ]
        tasks = plan(asked.framing, asked.options, whole(places), asked.tasks)
        kept = (tuple(within(task, self._reaches)) for task in tasks)
        return [Task(spans) for spans in kept if spans]

    def _reaches(self, first: int, last: int) -> bool:
        return filters.keeps_range(first, last, self.tests)

    def read(self, partition: InputPartition) -> Iterator[Any]:
        """The rows of a task, as Arrow batches."""
        for batch in _read(partition, self.rows):
            yield filters.kept(batch, self.tests)


def _read(partition: InputPartition, rows: Wanted) -> Iterator[pa.RecordBatch]:
    """Where nothing is to be read, Spark makes a partition of its own."""
    return read(partition.spans, rows) if isinstance(partition, Task) else iter(())


class PushingReader(Reader):
    """The same where Spark may push filters."""

    def pushFilters(self, filters: list[Filter]) -> Iterable[Filter]:  # noqa: N802 - Spark's name
        """Take the filters that can be tested on Arrow columns; gives back the others."""
        for one in filters:
            test = self._test(one)
            if test is None:
                yield one
            else:
                self.tests.append(test)

    def _test(self, one: Filter) -> Test | None:
        negated = isinstance(one, Not)
        inner: Any = one.child if isinstance(one, Not) else one
        path = inner.attribute
        if len(path) != 1 or path[0] not in self.rows.schema.names:
            return None
        test = Test(path[0], type(inner).__name__, getattr(inner, "value", None), negated)
        return test if filters.possible(test, self.rows.schema.field(path[0]).type) else None


class StreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Rows of logs that grow: each once, when later bytes cannot change it. `following` says how far."""

    def __init__(self, asked: Settings, rows: Wanted) -> None:
        """Follow what `asked` says."""
        if not asked.paths:
            raise SourceError(f'{asked.kind.name}: no path; say .load("…")')
        self.asked, self.rows, self.follower = asked, rows, Follower(asked)

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802 - Spark's names, here and below
        """Nothing is read."""
        return {COMMITTED: {}}

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        """As the options say."""
        if self.asked.max_bytes:
            return ReadMaxBytes(self.asked.max_bytes)
        return ReadMaxFiles(self.asked.max_files) if self.asked.max_files else ReadAllAvailable()

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        """What comes from now on is not of this run."""
        self.follower.freeze()

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:  # noqa: N802
        """How far one step goes."""
        match limit:
            case ReadMaxBytes(max_bytes=most):
                step = Limit(bytes=most)
            case ReadMaxFiles(max_files=most):
                step = Limit(files=most)
            case _:
                step = Limit()
        return {COMMITTED: self.follower.latest(start[COMMITTED], step)}

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> list[Task]:
        """The tasks of one step, the same if it is taken again."""
        ranges = self.follower.ranges(start[COMMITTED], end[COMMITTED])
        tasks = plan(self.asked.framing, self.asked.options, ranges, self.asked.tasks)
        return [Task(spans) for spans in tasks]

    def read(self, partition: InputPartition) -> Iterator[Any]:
        """The rows of a task, as Arrow batches."""
        return _read(partition, self.rows)


class KafkaLog(LogSource):
    """`wireproof.kafka_log`: segments, or any entries one after another."""

    KIND = "wireproof.kafka_log"


class HekaStream(LogSource):
    """`wireproof.heka_stream`: framed messages."""

    KIND = "wireproof.heka_stream"


class IggyLog(LogSource):
    """`wireproof.iggy_log`: segments of the revision that the option `revision` names."""

    KIND = "wireproof.iggy_log"
