"""Scans in a session of Spark, and the tables that they wrote."""

from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from wireproof.spark.scan_folder import FolderScan, open_scan
from wireproof.spark.session import source_options
from wireproof.spark.stored_tables import latest_table, scans_of, stored_rows
from wireproof.spark.verdict_rows import ScanSettings

Rows = list[dict[str, Any]]


def planned(folder: Path, out: Path, *adapters: str, source: str = "kafka_log", **options: str) -> FolderScan:
    """The scan of a folder, with what it is going to read."""
    settings = ScanSettings(f"wireproof.{source}", source_options([str(folder)], **options), adapters)
    return open_scan(settings, out)


def scanned(spark: SparkSession, folder: Path, out: Path, *adapters: str, **more: str) -> FolderScan:
    """A scan of a folder, with its result."""
    return planned(folder, out, *adapters, **more).run(spark)


def table(out: Path, name: str) -> Rows:
    return stored_rows(latest_table(out, name))


def frames(out: Path) -> Rows:
    """The rows of `frames` that any scan wrote, in the order of their places."""
    rows = [row for folder in out.glob("frames/scan_date=*/scan_id=*/batch=*") for row in stored_rows(folder)]
    return sorted(rows, key=lambda row: (row["path"], row["position"]))


def tables(out: Path, *, without: tuple[str, ...] = ("run", "frames")) -> dict[str, Rows]:
    """The tables of the newest scan by name."""
    assert scans_of(out), "a scan is complete"
    names = sorted(path.name for path in out.iterdir() if path.is_dir() and path.name not in without)
    return {name: table(out, name) for name in names}
