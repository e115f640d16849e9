"""An archive in an object store, by Hadoop's name for it, and tables that Hadoop's own file system writes."""

import json
import os
import subprocess
import sys
from pathlib import Path

import logs
import pytest
import s3_server
import spark_scans
from machine import needs
from pyarrow import dataset, fs
from pyspark.sql import SparkSession

from tests.mutants.registry import spec_of

pytestmark = [pytest.mark.builds, needs("java")]

ENTRIES = [logs.batch(bytes([n % 251]) * 2000, n) for n in range(12)]
FLIPPED = ENTRIES[7][:500] + bytes([ENTRIES[7][500] ^ 1]) + ENTRIES[7][501:]
LOGS = {
    f"orders-{n}/{0:020}.log": b"".join(ENTRIES[:10]) + FLIPPED + b"".join(ENTRIES[10:]) for n in range(2)
}
ADAPTER = spec_of("mutant:crc-skip")
TABLES = ("frames", "damage", "failures", "signatures", "matrix", "samples", "files", "skipped")

HADOOP, SDK = "3.5.0", "2.35.4"
"""The release of Hadoop that is in Spark 4.3, and of the client for S3 that it was built with."""

JARS = {
    "spark.jars.packages": f"org.apache.hadoop:hadoop-aws:{HADOOP},software.amazon.awssdk:s3:{SDK},"
    f"software.amazon.awssdk:s3-transfer-manager:{SDK}",
    "spark.jars.excludes": "software.amazon.awssdk:bundle",  # 600 MB for all services
    "spark.hadoop.fs.s3a.path.style.access": "true",
}

DRIVER = """
import json, sys
import wireproof.spark
from wireproof.cli import group
from wireproof.spark.session import session

conf, adapter, names, out = json.loads(sys.argv[1])
spark = session("local[2,2]", conf=conf)
tables = wireproof.spark.scan(spark, "s3a://archive/orders-*", adapters=[adapter])
for name in names:
    getattr(tables, name).write.parquet(f"s3a://verdicts/{name}")
listed = spark.read.format("binaryFile").option("recursiveFileLookup", "true").load("s3a://archive/")
print("LISTED" + json.dumps([list(row) for row in listed.select("path", "length").collect()]))
group.main(["scan", "s3a://archive/orders-*", "--adapter", adapter, "--out", out], standalone_mode=False)
"""


def test_an_archive_in_a_store_gives_the_tables_of_a_disk_and_they_are_written_to_the_store(
    tmp_path: Path, spark: SparkSession
) -> None:
    for name, data in LOGS.items():
        path = tmp_path / "in" / name
        path.parent.mkdir(parents=True)
        path.write_bytes(data)
    spark_scans.scanned(spark, tmp_path / "in", tmp_path / "local", ADAPTER)
    with s3_server.served() as address:
        for name, data in LOGS.items():
            s3_server.put(address, "archive", name, data)
        s3_server.put(address, "verdicts", "_made", b"")
        user, _, secret = s3_server.USER.partition(":")
        conf = {**JARS, "spark.hadoop.fs.s3a.endpoint": f"http://{address}"}
        done = subprocess.run(
            [sys.executable, "-c", DRIVER, json.dumps([conf, ADAPTER, TABLES, str(tmp_path / "out")])],
            capture_output=True, text=True, check=False, timeout=900, cwd=tmp_path,
            env={
                **os.environ, "AWS_ACCESS_KEY_ID": user, "AWS_SECRET_ACCESS_KEY": secret,
                "AWS_REGION": "us-east-1", "AWS_ENDPOINT_URL": f"http://{address}",
            },
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        store = fs.S3FileSystem(access_key=user, secret_key=secret, endpoint_override=f"http://{address}")
        written = {
            name: dataset.dataset(f"verdicts/{name}", filesystem=store).to_table().to_pylist()
            for name in TABLES
        }
    [line] = [line for line in done.stdout.splitlines() if line.startswith("LISTED")]
    listed = {path.replace("s3a://", "s3://"): size for path, size in json.loads(line.removeprefix("LISTED"))}
    assert {row["path"]: row["size"] for row in written["files"]} == listed, "as Hadoop lists them"
    local = _in_any_order(_all_tables(tmp_path / "local"), f"{tmp_path}/in/")
    assert _in_any_order(_all_tables(tmp_path / "out"), "s3://archive/") == local
    assert _in_any_order(written, "s3://archive/") == {name: local[name] for name in TABLES}


def _all_tables(out: Path) -> dict[str, spark_scans.Rows]:
    return {**spark_scans.tables(out), "frames": spark_scans.frames(out)}


def _in_any_order(tables: dict[str, spark_scans.Rows], top: str) -> dict[str, list[str]]:
    """The rows as texts, with the names of objects below the archive's top."""
    return {name: sorted(repr(row).replace(top, "") for row in rows) for name, rows in tables.items()}
