"""A scan that is disturbed in the middle, one whose tasks fail, and tables as Spark reads them."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import logs
import pytest
from machine import needs
from pyspark.sql import SparkSession
from spark_scans import planned, scanned, tables

from wireproof.spark import session
from wireproof.spark.errors import SourceError

ENTRIES = [logs.batch(bytes([n % 251]) * 4000, n) for n in range(1500)]
SHORT = b"".join(ENTRIES[:300]) + b"\xff" * 50 + b"".join(ENTRIES[300:400]) + ENTRIES[0][:90]


@pytest.mark.spark
def test_the_tables_of_a_scan_are_read_by_spark(spark: SparkSession, tmp_path: Path) -> None:
    """Those of a folder with every sort of character in its name."""
    folder, out = logs.write(tmp_path / "in ü=1 %41", a=SHORT[:50_000]), tmp_path / "out ü=1 %41"
    scanned(spark, folder, out)
    rows = spark.read.parquet(str(out / "frames")).groupBy("scan_id", "kind").count().collect()
    assert {row["kind"]: row["count"] for row in rows} == {"frame": 12, "tail": 1}
    assert spark.read.parquet(str(out / "files")).first()["path"] == str(folder / "a.log")  # type: ignore[index]


@pytest.mark.spark
def test_a_failure_in_a_task_is_reported_in_one_line(spark: SparkSession, tmp_path: Path) -> None:
    job = planned(logs.write(tmp_path / "in", a=SHORT), tmp_path / "out")
    (tmp_path / "out" / "frames").write_bytes(b"")  # no folder for the rows
    with pytest.raises(SourceError, match="frames") as raised, session.one_line_errors():
        job.run(spark)
    assert "\n" not in str(raised.value)


@pytest.mark.cluster
@needs("java")
def test_a_scan_whose_driver_is_killed_goes_on_to_the_same_tables(
    tmp_path: Path, spark: SparkSession
) -> None:
    folder = logs.write(tmp_path / "in", **{f"f{n}": SHORT * 6 for n in range(8)})
    out = tmp_path / "out"
    where = ["--adapter", "reference", "--master", "local[1,2]", "--out", str(out)]
    command = [sys.executable, "-m", "wireproof", "scan", str(folder), *where]

    def started() -> "subprocess.Popen[bytes]":
        quiet = subprocess.DEVNULL
        return subprocess.Popen(command, stdout=quiet, stderr=quiet, start_new_session=True)

    victim = started()
    deadline = time.monotonic() + 300
    while not list(out.glob("frames/*/*/batch=0/_SUCCESS")):
        assert victim.poll() is None, "it ended before it was killed"
        assert time.monotonic() < deadline
        time.sleep(0.05)
    os.kill(victim.pid, signal.SIGKILL)
    victim.wait()
    assert not list(out.glob("run/*")), "it was killed in the middle"
    assert started().wait(600) == 1, "the logs are damaged"
    scanned(spark, folder, tmp_path / "whole", "reference")
    assert tables(out) == tables(tmp_path / "whole")


@pytest.mark.cluster
@needs("java")
def test_a_scan_of_which_a_python_worker_is_killed_gives_the_same_tables(
    tmp_path: Path, spark: SparkSession
) -> None:
    folder, killed = logs.write(tmp_path / "in", a=SHORT, b=SHORT), tmp_path / "killed"
    adapter = "py:tests.support.crashing_codecs:KillsAWorker"
    where = ["--adapter", adapter, "--master", "local[1,2]", "--out", str(tmp_path / "out")]
    done = subprocess.run(
        [sys.executable, "-m", "wireproof", "scan", str(folder), *where],
        check=False, env={**os.environ, "KILLED": str(killed)},
    )  # fmt: skip
    assert (done.returncode, killed.exists()) == (1, True)
    scanned(spark, folder, tmp_path / "whole", adapter)
    assert tables(tmp_path / "out") == tables(tmp_path / "whole")


@pytest.mark.spark
def test_a_scan_whose_disk_is_full_goes_on_to_the_same_tables(tmp_path: Path, spark: SparkSession) -> None:
    folder, disk = logs.write(tmp_path / "in", a=SHORT, b=SHORT), tmp_path / "disk"
    disk.mkdir()
    small = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(disk)]
    if not shutil.which("mount") or subprocess.run(small, check=False, capture_output=True).returncode:
        pytest.skip("only root can make a disk of one mebibyte")
    try:
        for room in (8, 24, 48):  # KiB: for the state, for some of the rows, for some of the tables
            (disk / "filler").write_bytes(bytes((1024 - room) * 1024))
            with pytest.raises((SourceError, OSError), match="No space left"), session.one_line_errors():
                planned(folder, disk / "out").run(spark)
            (disk / "filler").unlink()
        scanned(spark, folder, disk / "out")
        scanned(spark, folder, tmp_path / "whole")
        assert tables(disk / "out") == tables(tmp_path / "whole")
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=True)
