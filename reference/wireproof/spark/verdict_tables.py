"""The tables of scans and campaigns, as queries on the rows of entries and cases.

A scan makes one row for each entry (`FRAMES`). All other tables are queries on these rows, which Spark runs
where the rows are. Every scan of a folder is appended under its date and its id:

    OUT/frames/scan_date=2026-11-29/scan_id=…/batch=0/*.parquet    one row for each entry
    OUT/<table>/scan_date=2026-11-29/scan_id=…/*.parquet           the other tables, complete in every scan
    OUT/_job.json                                                  what was read already

A campaign writes the same tables without date and id, and `cases` in place of `frames`.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as sql

from wireproof.spark.errors import SourceError
from wireproof.spark.item_cases import REFERENCE
from wireproof.spark.logs.objects import ObjectPlace
from wireproof.spark.table_columns import (
    ENTRY,
    EPOCH_ORDER,
    NUMBER,
    OFFSET_ORDER,
    PLACE,
    SEGMENT,
    TABLES,
    VERDICT,
    TableColumn,
    schema_of,
    spark_schema,
)


def _names(columns: Sequence[TableColumn]) -> list[str]:
    return [column.name for column in columns]


# --- counts ---
#
# One query counts the rows by object and answers. Its result is small, and the tables that count are made of
# it.

Counts = Sequence[Mapping[str, Any]]
"""The rows of `count_scan` and `count_cases`."""


def scan_answers(frames: DataFrame) -> DataFrame:
    """Return `frames` with the answers of all implementations, of which the reference is the first."""
    reference = sql.struct(
        sql.lit(REFERENCE).alias("implementation"), "format", sql.lit("scan").alias("op"),
        sql.col("kind").alias("verdict"), sql.coalesce("fault", sql.lit("")).alias("class"),
        sql.lit("").alias("field"), "finding",
    )  # fmt: skip
    return frames.withColumn("answers", sql.concat(sql.array(reference), _without_cluster()))


def _without_cluster() -> Column:
    return sql.transform(sql.col("verdicts"), lambda one: one.dropFields("cluster"))


def count_scan(rows: DataFrame) -> Counts:
    """Return number, bytes, damage, first and last position of the rows of each object and each answers."""
    damaged = sql.sum(sql.size("damage")).alias("damaged")
    return _counted(scan_answers(rows), ["path", "kind", "fault", "answers"], damaged)


def count_cases(cases: DataFrame) -> Counts:
    """Return number, bytes and first case of each answers of a campaign."""
    rows = cases.select(
        sql.col("case_number").alias("position"), "length", _without_cluster().alias("answers")
    )
    return _counted(rows.withColumn("path", sql.lit("")), ["path", "answers"])


def _counted(rows: DataFrame, keys: Sequence[str], *more: Column) -> Counts:
    found: Counts = rows.groupBy(*keys).agg(
        sql.count("*").alias("count"), sql.sum("length").alias("bytes"),
        sql.min("position").alias("first"), sql.max("position").alias("last"), *more,
    ).toArrow().to_pylist()  # fmt: skip
    return found


def small_frame(
    spark: SparkSession, rows: Sequence[Mapping[str, Any]], columns: Sequence[TableColumn]
) -> DataFrame:
    """Return rows of this process as a DataFrame."""
    table = pa.Table.from_pylist(list(rows), schema_of(columns))
    return spark.createDataFrame(table, spark_schema(columns))


def with_bytes(counts: Counts) -> Counts:
    """Return the counts of rows that are bytes of an object that was read."""
    return [row for row in counts if row["kind"] in {"frame", "garbage", "tail"}]


def matrix(counts: Counts) -> list[dict[str, Any]]:
    """Return the rows of the table `matrix`."""
    found = _grouped(({"answers": row["answers"]}, (row["path"], row["first"]), row) for row in counts)
    return [row | {"path": row["at"][0], "position": row["at"][1]} for row in found]


def signatures(counts: Counts) -> list[dict[str, Any]]:
    """Return the rows of the table `signatures`, of a scan or of a campaign."""
    found = _grouped((one, row["first"], row) for row in counts for one in row["answers"])
    return [row | {"first_case": row["at"]} for row in found]


def _grouped(rows: Iterable[tuple[dict[str, Any], Any, Mapping[str, Any]]]) -> Iterable[dict[str, Any]]:
    """Return the sums of the counts of equal groups, and the first place of each."""
    found: dict[str, dict[str, Any]] = {}
    for group, at, row in rows:
        whole = found.setdefault(repr(group), group | {"count": 0, "bytes": 0, "at": at})
        whole["count"] += row["count"]
        whole["bytes"] += row["bytes"]
        whole["at"] = min(whole["at"], at)
    return found.values()


_OF_KIND: Final = {
    "frame": ("frames", "frame_bytes"),
    "garbage": ("garbage", "garbage_bytes"),
    "tail": ("tails", "tail_bytes"),
}
"""The columns of `files` that count the rows of a kind, and their bytes."""


def files(places: Sequence[ObjectPlace], counts: Counts, between: Mapping[str, int]) -> list[dict[str, Any]]:
    """Return the rows of the table `files`; `between` has for objects the damaged places between their spans.

    Raises:
        SourceError: the rows of an object that is not compressed are not its bytes, each once.
    """
    numbers = [column.name for column in TABLES["files"] if column.type == NUMBER]
    by_path: dict[str, list[Mapping[str, Any]]] = {place.display_name: [] for place in places}
    for row in counts:
        if row["path"] in by_path:
            by_path[row["path"]].append(row)
    found = list[dict[str, Any]]()
    for place in places:
        path, rows = place.display_name, by_path[place.display_name]
        whole: dict[str, Any] = {**dict.fromkeys(numbers, 0), "path": path, "size": place.size, "fault": None}
        for row in rows:
            for name, value in zip(_OF_KIND.get(row["kind"], ()), (row["count"], row["bytes"]), strict=False):
                whole[name] += value
            whole["bytes_read"] += row["bytes"]
            whole["damaged_places"] += row["damaged"]
            whole["fault"] = row["fault"] if row["kind"] == "stopped" else whole["fault"]
        if not place.compression and whole["bytes_read"] != place.size:
            held = f"the table frames has {whole['bytes_read']} of its {place.size} bytes"
            raise SourceError(f"{path}: {held}: rows are missing or there twice; scan to another folder")
        whole["damaged_places"] += between.get(path, 0)
        # What is appended may complete what follows the last entry, and some streams accept an entry only
        # because of what follows it.
        entry = max((row["last"] for row in rows if row["kind"] == "frame"), default=0)
        whole["certain"] = min((row["first"] for row in rows if row["kind"] != "frame"), default=entry)
        whole["certain"] = min(whole["certain"], entry)
        found.append(whole)
    return found


def failures(frames: DataFrame) -> DataFrame:
    """Return a row for each answer of an adapter that is a finding."""
    each = frames.withColumn("one", sql.explode("verdicts")).filter("one.finding is not null")
    return each.select(*_names(PLACE), *("one." + name for name in _names(VERDICT)))


def smallest(rows: DataFrame, most: int, *order: str) -> DataFrame:
    """Return the first `most` rows of each finding in the given order."""
    within = Window.partitionBy("finding").orderBy(*order)
    ranked = rows.withColumn("rank", sql.row_number().over(within)).filter(sql.col("rank") <= most)
    return ranked.drop("rank")


def samples(frames: DataFrame, most: int) -> DataFrame:
    """Return the smallest entries of each finding, also of the reference, without their bytes."""
    answered = scan_answers(frames.filter(sql.col("length") <= 1024 * 1024))  # longer ones are counted only
    each = answered.select("path", "position", "length", sql.explode("answers").alias("one"))
    rows = each.filter("one.finding is not null").select("one.*", "path", "position", "length")
    return smallest(rows, most, "length", "path", "position")


def damage(frames: DataFrame, between: Sequence[Mapping[str, Any]]) -> DataFrame:
    """Return a row for each damaged place; `between` has those that `order_between` finds."""
    columns = TABLES["damage"]
    found = frames.filter(sql.size("damage") > 0).withColumn("class", sql.explode("damage"))
    rows = found.select(*_names(columns))
    return rows.unionByName(small_frame(frames.sparkSession, between, columns)) if between else rows


def order_between(frames: DataFrame) -> list[dict[str, Any]]:
    """Return the rows of `damage` for the batches that are out of order with the last one of an earlier span.

    No checksum covers offsets and leader epochs of Kafka's batches, but in a segment they rise. Within a
    span the reading task checks that.
    """
    is_batch = sql.col("path").rlike(SEGMENT) & sql.col("leader_epoch").isNotNull()
    row = sql.struct(*_names(PLACE), *_names(ENTRY), "leader_epoch")
    ends = (
        frames.filter(is_batch)
        .groupBy("path", "span")
        .agg(sql.min_by(row, "position").alias("begins"), sql.max_by(row, "position").alias("ends"))
    )
    before = sql.lag("ends").over(Window.partitionBy("path").orderBy("span"))
    pairs = ends.withColumn("before", before).filter("before is not null")
    wrong = sql.array_compact(
        sql.array(
            sql.when(sql.expr("begins.first_offset <= before.last_offset"), OFFSET_ORDER),
            sql.when(sql.expr("begins.leader_epoch < before.leader_epoch"), EPOCH_ORDER),
        )
    )
    rows = pairs.withColumn("class", sql.explode(wrong)).select("begins.*", "class")
    found: list[dict[str, Any]] = rows.select(*_names(TABLES["damage"])).toArrow().to_pylist()
    return found
