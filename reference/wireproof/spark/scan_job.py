"""Scan archives: objects in, tables of what is damaged and of what adapters read differently out.

`scan` returns the tables as DataFrames of any session, also one of Spark Connect, and changes nothing in it.
`scan_folder` writes them to a folder.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from typing import Any, Final

import pyarrow as pa
from attrs import define
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sql
from pyspark.sql.pandas.types import from_arrow_schema

from wireproof.spark import verdict_tables
from wireproof.spark.batches import parallelism
from wireproof.spark.errors import LostObjectError, SourceError
from wireproof.spark.item_cases import REFERENCE, make_item_case
from wireproof.spark.logs import sources
from wireproof.spark.logs.objects import (
    EMPTY,
    UNREADABLE,
    ObjectPlace,
    SkippedObject,
    list_objects,
    unreadable,
)
from wireproof.spark.logs.sources import TASKS_PER_CORE, SourceSettings
from wireproof.spark.logs.spans import (
    ObjectSpan,
    group_spans,
    is_one,
    open_span,
    split_span,
    whole_objects,
)
from wireproof.spark.session import source_options
from wireproof.spark.table_columns import TABLES, schema_of, spark_schema
from wireproof.spark.verdict_rows import FRAMES_SCHEMA, ScanSettings, read_tasks
from wireproof.spark.verdict_tables import Counts
from wireproof.wire.scan_items import Item

SPAN_BYTES: Final = 64 * 1024 * 1024
"""Bytes of a span: a larger object is cut, so that several tasks read it."""

ASKED_SPAN_BYTES: Final = 32 * 1024 * 1024
"""The same if adapters are asked: they start for each span, and read a few megabytes in a second."""

MIN_TASK_BYTES: Final = 32 * 1024 * 1024
"""Bytes of a task, below which starting it costs more than reading them: about a tenth of a second."""

SAMPLES: Final = 3
"""Samples that are kept of a finding, if no other number is given."""

# --- spans ---


def plan_spans(spark: SparkSession, settings: ScanSettings, spans: Sequence[ObjectSpan]) -> list[ObjectSpan]:
    """Cut spans that are too large, each in a task: the driver of a cluster reads no object.

    If all runs on this machine and the objects are here, their headers are read sooner than a task starts.
    """
    grain = ASKED_SPAN_BYTES if settings.adapters else SPAN_BYTES
    is_local = str(spark.conf.get("spark.master", "")).startswith("local")
    cut = dict[ObjectSpan, list[ObjectSpan]]()
    find = partial(split_span, settings.source.framing, settings.source.options, grain)
    for span in (span for span in spans if not is_one(span, grain)):
        cut[span] = find(span) if is_local and not span.place.store else []
    if large := [span for span, parts in cut.items() if not parts]:
        tasks = min(len(large), TASKS_PER_CORE * parallelism(spark))
        numbers = spark.range(0, len(large), 1, tasks)
        found = numbers.mapInArrow(partial(_cut, settings, large, grain), from_arrow_schema(_CUT)).collect()
        for number, start, end, garbage in sorted(map(tuple, found)):
            cut[large[number]].append(ObjectSpan(large[number].place, start, end, garbage))
    return [part for span in spans for part in cut.get(span, [span])]


_CUT: Final = pa.schema(
    [("number", pa.int64()), ("start", pa.int64()), ("end", pa.int64()), ("garbage", pa.string())]
)
"""The rows of `_cut`: the number of a span, a part of it, and the class of the garbage that it is."""


def _cut(
    settings: ScanSettings, spans: Sequence[ObjectSpan], grain: int, numbers: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Yield the parts of the spans whose numbers are in some Arrow batches, for `mapInArrow`."""
    source = settings.source
    for batch in numbers:
        for number in batch.column(0).to_pylist():
            rows = [
                {"number": number, "start": part.start, "end": part.end, "garbage": part.garbage}
                for part in split_span(source.framing, source.options, grain, spans[number])
            ]
            yield pa.RecordBatch.from_pylist(rows, schema=_CUT)


def frames_of(spark: SparkSession, settings: ScanSettings, spans: Sequence[ObjectSpan]) -> DataFrame:
    """Return the rows of some spans, in a few tasks for each core.

    Small tasks become fewer, down to one for each core, because the reference alone reads them in less time
    than Spark needs to start them. If adapters are asked, even a few bytes take long.
    """
    cores = parallelism(spark)
    count, total = TASKS_PER_CORE * cores, sum(span.weight for span in spans)
    if not settings.adapters:
        count = min(count, max(-(-total // MIN_TASK_BYTES), cores))
    tasks = list(group_spans(spans, max(1, -(-total // count))))
    rows = spark.range(0, len(tasks), 1, max(len(tasks), 1))
    return rows.mapInArrow(partial(read_tasks, settings, tasks), from_arrow_schema(FRAMES_SCHEMA))


# --- tables ---


@define(slots=False)
class ScanTables:
    """The tables of a scan; `table_columns.TABLES` says what each column is.

    The tables that count are small: they are made in this process of the result of one query.

    Attributes:
        spark: the session.
        settings: the source, its options and the adapters.
        rows: one row for each entry, also of objects that a task could not read to their end.
        places: the objects.
        left_out: the objects that are not read, and the reasons.
        samples_of_each: how many samples of a finding there are.
        is_cut: whether an object is read in several spans.
    """

    spark: SparkSession
    settings: ScanSettings
    rows: DataFrame
    places: Sequence[ObjectPlace]
    left_out: Sequence[SkippedObject] = ()
    samples_of_each: int = SAMPLES
    is_cut: bool = True

    @cached_property
    def _all_counts(self) -> Counts:
        return verdict_tables.count_scan(self.rows)

    @cached_property
    def lost(self) -> dict[str, str]:
        """Return the reason for each object that a task could not read."""
        return {row["path"]: row["fault"] for row in self._all_counts if row["kind"] == "lost"}

    @property
    def counts(self) -> Counts:
        """Return the counts of the objects that were read."""
        return [row for row in self._all_counts if row["path"] not in self.lost]

    @cached_property
    def frames(self) -> DataFrame:
        """Return one row for each entry of the objects that were read."""
        return self.rows.filter(~sql.col("path").isin(list(self.lost))) if self.lost else self.rows

    @cached_property
    def _between(self) -> list[dict[str, Any]]:
        """Return the damaged places between spans."""
        if not (self.is_cut and "leader_epoch" in self.settings.source.kind.facts):
            return []
        return verdict_tables.order_between(self.frames)

    def small(self, name: str) -> list[dict[str, Any]]:
        """Return the rows of `signatures`, `matrix`, `files` or `skipped`."""
        match name:
            case "signatures":
                return verdict_tables.signatures(verdict_tables.with_bytes(self.counts))
            case "matrix":
                return verdict_tables.matrix(verdict_tables.with_bytes(self.counts))
            case "files":
                between = Counter(row["path"] for row in self._between)
                read = [each for each in self.places if each.display_name not in self.lost]
                return verdict_tables.files(read, self.counts, between)
            case _:
                rows = {each.display_name: (each.size, each.reason) for each in self.left_out}
                sizes = {each.display_name: each.size for each in self.places}
                rows |= {path: (sizes[path], f"{UNREADABLE}: {why}") for path, why in self.lost.items()}
                found = ((path, *rows[path]) for path in sorted(rows))
                return [dict(zip(("path", "size", "reason"), row, strict=True)) for row in found]

    def _frame(self, name: str) -> DataFrame:
        return verdict_tables.small_frame(self.spark, self.small(name), TABLES[name])

    signatures = cached_property(partial(_frame, name="signatures"))
    """A row for each way to fail, with counts."""
    matrix = cached_property(partial(_frame, name="matrix"))
    """A row for each combination of answers."""
    files = cached_property(partial(_frame, name="files"))
    """A row for each object: the bytes of its frames, garbage and tails."""
    skipped = cached_property(partial(_frame, name="skipped"))
    """A row for each object that was not read, with the reason."""

    @cached_property
    def damage(self) -> DataFrame:
        """Return a row for each damaged place."""
        return verdict_tables.damage(self.frames, self._between)

    @cached_property
    def failures(self) -> DataFrame:
        """Return a row for each answer of an adapter that is a finding."""
        return verdict_tables.failures(self.frames)

    @cached_property
    def samples(self) -> DataFrame:
        """Return the smallest entries of each finding, with their bytes."""
        chosen = verdict_tables.samples(self.frames, self.samples_of_each).coalesce(1)
        places = {place.display_name: place for place in self.places}
        add = partial(_with_bytes, self.settings, places)
        return chosen.mapInArrow(add, spark_schema(TABLES["samples"]))

    def is_empty(self, name: str) -> bool:
        """Return whether `damage`, `failures` or `samples` certainly has no row, as the counts show."""
        answers = [(row["damaged"], one) for row in self.counts for one in row["answers"]]
        match name:
            case "damage":
                return not self._between and not any(damaged for damaged, _ in answers)
            case "failures":
                return not any(one["finding"] and one["implementation"] != REFERENCE for _, one in answers)
            case _:
                return not any(one["finding"] for _, one in answers)


def _with_bytes(
    settings: ScanSettings, places: Mapping[str, ObjectPlace], rows: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Add the bytes of samples, for `mapInArrow`."""
    for batch in rows:
        found = add_bytes(settings, places, batch.to_pylist())
        yield pa.RecordBatch.from_pylist(found, schema=schema_of(TABLES["samples"]))


def add_bytes(
    settings: ScanSettings, places: Mapping[str, ObjectPlace], rows: Iterable[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Add the bytes of samples, and the format as which adapters were asked; without those that are gone."""
    source, found = settings.source, list[dict[str, Any]]()
    for row in rows:
        place = places[row["path"]]
        try:
            with open_span(ObjectSpan(place, 0, place.size), source.max_unpacked) as (stored, *_):
                data = stored.read(row["position"], row["length"])
        except LostObjectError:
            continue
        item = Item("garbage", row["position"], row["length"], cls=row["class"] or None)
        case = make_item_case(source.framing, item, data, source.options).case
        found.append(row | {"raw": data, "codec_format": case.format_id if case else ""})
    return found


# --- a scan in a session ---


def scan(
    spark: SparkSession,
    paths: str | Sequence[str],
    *,
    source: str | None = None,
    adapters: Sequence[str] = (),
    samples: int = SAMPLES,
    **options: str,
) -> ScanTables:
    """Scan objects, and return the tables as DataFrames.

    The rows of entries are persisted when the first table is asked for; `tables.rows.unpersist()` frees them.

    Args:
        spark: a session, classic or of Spark Connect; nothing in it is changed.
        paths: local paths, folders, patterns and URIs.
        source: the name of a source without `wireproof.`; None is that of Kafka's logs.
        adapters: codecs that read every entry too, as `wireproof check` names them.
        samples: how many samples of a finding to keep.
        options: of the source, as for `spark.read`.

    Raises:
        SourceError: nothing was found, or an option is wrong.
    """
    given = source_options([paths] if isinstance(paths, str) else list(paths), **options)
    settings = ScanSettings(sources.full_name(source), given, tuple(adapters))
    places, skipped = list_logs(settings.source)
    spans = plan_spans(spark, settings, whole_objects(places))
    rows = frames_of(spark, settings, spans).persist()
    return ScanTables(spark, settings, rows, places, skipped, samples, len(spans) > len(places))


def list_logs(
    source: SourceSettings, known: Mapping[str, Any] | None = None
) -> tuple[list[ObjectPlace], list[SkippedObject]]:
    """Return the objects that have bytes to read, and the others.

    Args:
        source: the settings.
        known: objects by name of which nothing new is read, so that nobody has to look whether it can be.

    Raises:
        SourceError: nothing was found, or the settings are for parts of objects.
    """
    source, found = sources.of_whole_objects(source), list[ObjectPlace]()
    places, skipped = list_objects(source.paths, source.kind.suffixes, source.chosen)
    for place in places:
        reason = "" if place.size else EMPTY
        if not reason and place.display_name not in (known or {}):
            reason = unreadable(place)
        if reason:
            skipped.append(SkippedObject(place.display_name, place.size, reason))
        else:
            found.append(place)
    if not found:
        raise SourceError("nothing to scan: every object is empty or cannot be read")
    return found, skipped
