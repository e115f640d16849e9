"""The sound records of logs, also of several copies of one, and what is lost."""

import re
from collections.abc import Sequence

from attrs import frozen
from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as sql

from wireproof.spark.errors import SourceError
from wireproof.spark.logs import sources
from wireproof.spark.session import source_options


@frozen
class Recovered:
    """The sound records of some logs, and what is lost.

    Attributes:
        records: one row for each record, as `spark.read` gives them with `rows=records`; of copies each
            offset of a partition once.
        lost: one row for each run of bytes that is no sound entry: path, position, length, kind and fault.
            Of copies also `after` and `before`, the offsets around it in its own copy, and `recovered`, the
            number of records between them that another copy has.
    """

    records: DataFrame
    lost: DataFrame


def recover(
    spark: SparkSession,
    paths: str | Sequence[str],
    *,
    source: str | None = None,
    copies: bool = False,
    **options: str,
) -> Recovered:
    """Return the sound records of some logs, and what is lost.

    Args:
        spark: a session, classic or of Spark Connect; nothing in it is changed.
        paths: local paths, folders, patterns and URIs.
        source: as for `scan`.
        copies: whether the logs are copies of the same partitions: each record is taken from the
            first of them, by path, in which it is sound.
        options: of the source, as for `spark.read`.

    Raises:
        SourceError: the source has no offsets by which copies are joined, or an option is wrong.
    """
    name = sources.full_name(source)
    given = source_options([paths] if isinstance(paths, str) else list(paths), **options)
    kind = sources.parse(name, given).kind
    reader = spark.read.format(name).options(**given)
    records = reader.option("rows", "records").load().filter("kind = 'frame'")
    frames = reader.option("rows", "frames").load()
    place = ["path", "position", "length", "kind", "fault"]
    if not copies:
        return Recovered(records, frames.filter("kind <> 'frame'").select(*place))
    if "first_offset" not in kind.facts or kind.partition is None:
        raise SourceError(f"{name}: copies are joined by offsets, which this source has not")
    log = _log_of(kind.partition)
    within = Window.partitionBy("log", "offset").orderBy("path", "position")
    ranked = records.withColumn("log", log).withColumn("rank", sql.row_number().over(within))
    merged = ranked.filter("rank = 1").drop("rank")
    first, last = ("base_offset", "last_offset") if "base_offset" in frames.columns else ("offset", "offset")
    sound = sql.col("kind") == "frame"
    along = Window.partitionBy("path").orderBy("position")
    earlier = along.rowsBetween(Window.unboundedPreceding, -1)
    later = along.rowsBetween(1, Window.unboundedFollowing)
    around = frames.withColumns(
        {
            "log": log,
            "after": sql.last(sql.when(sound, sql.col(last)), ignorenulls=True).over(earlier).cast("long"),
            "before": sql.first(sql.when(sound, sql.col(first)), ignorenulls=True).over(later).cast("long"),
        }
    )
    lost = around.filter(~sound).select("log", *place, "after", "before")
    offsets = merged.select(sql.col("log").alias("of"), sql.col("offset").cast("long").alias("sound"))
    between = sql.expr("log = of and sound > coalesce(after, -1) and (before is null or sound < before)")
    counted = lost.join(offsets, between, "left").groupBy(*place, "after", "before")
    table = counted.agg(sql.count("sound").alias("recovered")).orderBy("path", "position")
    return Recovered(merged.drop("log"), table)


def _log_of(pattern: str) -> Column:
    """Return the topic and partition that a path names, as one text; a path that names none is alone."""
    groups, java = re.compile(pattern).groupindex, pattern.replace("(?P<", "(?<")
    topic, partition = (sql.regexp_extract("path", java, groups[name]) for name in ("topic", "partition"))
    return sql.when(topic == "", sql.col("path")).otherwise(sql.concat_ws("-", topic, partition))
