"""`wireproof.spark` in a session that somebody has: what it returns, and that the session stays as it is."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import logs
import pytest
from pyspark.sql import DataFrame, SparkSession

import wireproof.spark
from tests.mutants.registry import spec_of
from wireproof.spark.errors import SourceError
from wireproof.spark.scan_job import ScanTables
from wireproof.spark.table_columns import CAMPAIGN_TABLES, TABLES, schema_of, spark_schema

pytestmark = pytest.mark.spark

MUTANT = spec_of("mutant:crc-skip")

GOOD = [logs.batch(bytes([n]) * 60, n) for n in range(40)]
SIZE = len(GOOD[0])


def flipped(entry: bytes) -> bytes:
    return entry[:100] + bytes([entry[100] ^ 1]) + entry[101:]


def rows(frame: DataFrame) -> list[dict[str, Any]]:
    return [row.asDict(recursive=True) for row in frame.collect()]


def test_a_scan_returns_tables_and_changes_nothing_in_the_session(
    spark: SparkSession, tmp_path: Path
) -> None:
    folder = logs.write(
        tmp_path / "orders-3", **{f"{0:020}": b"".join(GOOD[:20]) + flipped(GOOD[20]) + b"".join(GOOD[21:])}
    )
    (folder / "notes.txt").write_text("x")
    conf = dict(spark.conf.getAll)
    found = wireproof.spark.scan(spark, str(folder), adapters=["reference"])
    assert dict(spark.conf.getAll) == conf
    shown = rows(found.frames)
    assert (len(shown), {row["topic"] for row in shown}) == (40, {"orders"})
    assert sum(row["length"] for row in shown) == 40 * SIZE
    [damage] = rows(found.damage)
    assert (damage["position"], damage["class"], damage["partition"]) == (20 * SIZE, "crc-mismatch", 3)
    counts = {(row["implementation"], row["verdict"]): row["count"] for row in rows(found.signatures)}
    assert counts["reference", "garbage"] == 1
    assert counts["reference", "frame"] == 39
    assert [row["reason"] for row in rows(found.skipped)] == ["not named as a log"]
    assert rows(found.files)[0]["certain"] == 20 * SIZE
    for name, columns in TABLES.items():
        if frame := getattr(found, name, None):
            assert frame.schema.simpleString() == spark_schema(columns).simpleString(), name
    found.rows.unpersist()
    with pytest.raises(SourceError, match="not found"):
        wireproof.spark.scan(spark, str(tmp_path / "nothing"))


def test_a_lost_object_is_a_row_of_skipped_and_costs_the_others_nothing(
    spark: SparkSession, tmp_path: Path
) -> None:
    folder = logs.write(tmp_path / "in", a=b"".join(GOOD), b=b"".join(GOOD))
    found = wireproof.spark.scan(spark, str(folder))
    (folder / "a.log").write_bytes(GOOD[0])
    [lost] = rows(found.skipped)
    assert lost["reason"] == f"cannot be read: it had {40 * SIZE} bytes and ends at {SIZE}"
    assert {Path(row["path"]).name for row in rows(found.frames)} == {"b.log"}
    assert [Path(row["path"]).name for row in rows(found.files)] == ["b.log"]
    found.rows.unpersist()


def test_a_campaign_returns_tables(spark: SparkSession) -> None:
    adapter = "py:tests.support.hanging_codecs:Tires"
    found = wireproof.spark.campaign(spark, [adapter, "reference"], cases=40, formats=["kafka.batch/v2"])
    assert sum(row["count"] for row in rows(found.matrix)) == 40
    for name, columns in CAMPAIGN_TABLES.items():
        if frame := getattr(found, name, None):
            assert frame.schema.simpleString() == spark_schema(columns).simpleString(), name
    found.cases.unpersist()


# --- copies ---


def test_of_copies_each_record_is_taken_from_where_it_is_sound(spark: SparkSession, tmp_path: Path) -> None:
    """Each of two copies is damaged at another place, and one place is damaged in both."""
    one, two = list(GOOD), list(GOOD)
    for copy, numbers in ((one, (5, 30)), (two, (6, 30))):
        for number in numbers:
            copy[number] = flipped(copy[number])
    paths = [
        str(logs.write(tmp_path / name / "orders-3", **{f"{0:020}": b"".join(copy)}))
        for name, copy in (("one", one), ("two", two))
    ]
    found = wireproof.spark.recover(spark, paths, copies=True)
    assert sorted(row["offset"] for row in rows(found.records)) == [n for n in range(40) if n != 30]
    lost = {
        (Path(row["path"]).parts[-3], row["position"] // SIZE): row["recovered"] for row in rows(found.lost)
    }
    assert lost == {("one", 5): 1, ("one", 30): 0, ("two", 6): 1, ("two", 30): 0}
    nameless = logs.write(tmp_path / "three", a=GOOD[0] + GOOD[1], b=GOOD[1] + GOOD[2])
    apart = wireproof.spark.recover(spark, str(nameless), copies=True)
    assert apart.records.count() == 4, "a path that names no partition is a copy of no other"
    alone = wireproof.spark.recover(spark, paths[:1])
    assert (alone.records.count(), alone.lost.count()) == (38, 2)
    with pytest.raises(SourceError, match="copies are joined by offsets"):
        wireproof.spark.recover(spark, paths, source="heka_stream", copies=True)


# --- Spark Connect ---

CLIENT = """
import json, sys
from pyspark.sql import SparkSession
import wireproof.spark
spark = SparkSession.builder.remote(sys.argv[1]).getOrCreate()
found = wireproof.spark.scan(spark, sys.argv[2], adapters=[sys.argv[4]])
recovered = wireproof.spark.recover(spark, sys.argv[2])
frames = {name: getattr(found, name) for name in sys.argv[3].split()}
frames |= {"recovered": recovered.records, "lost": recovered.lost}
print(json.dumps({
    name: sorted(repr(row.asDict(recursive=True)) for row in frame.collect())
    for name, frame in frames.items()
}))
"""


def test_over_connect_come_the_same_tables(spark: SparkSession, connect_url: str, tmp_path: Path) -> None:
    folder = logs.write(tmp_path / "in", a=b"".join(GOOD[:20]) + flipped(GOOD[20]) + b"".join(GOOD[21:]))
    names = [name for name in TABLES if hasattr(ScanTables, name)]
    done = subprocess.run(
        [sys.executable, "-c", CLIENT, connect_url, str(folder), " ".join(names), MUTANT],
        capture_output=True, text=True, check=False, timeout=300, env=dict(os.environ),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    found = wireproof.spark.scan(spark, str(folder), adapters=[MUTANT])
    recovered = wireproof.spark.recover(spark, str(folder))
    frames = {name: getattr(found, name) for name in names}
    frames |= {"recovered": recovered.records, "lost": recovered.lost}
    wanted = {name: sorted(map(repr, rows(frame))) for name, frame in frames.items()}
    assert json.loads(done.stdout.splitlines()[-1]) == wanted
    assert {name: len(wanted[name]) for name in ("frames", "damage", "failures", "lost")} == {
        "frames": 40, "damage": 1, "failures": 1, "lost": 1,
    }  # fmt: skip
    found.rows.unpersist()


def test_the_tables_have_the_columns_that_are_documented() -> None:
    for columns in (*TABLES.values(), *CAMPAIGN_TABLES.values()):
        assert len({column.name for column in columns}) == len(columns)
        assert all(column.text and column.example for column in columns)
        assert schema_of(columns).names == [column.name for column in columns]
