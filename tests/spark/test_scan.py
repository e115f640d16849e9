"""A scan as Spark runs it: in the session of the tests, and killed in the middle in sessions of its own."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import logs
import pyarrow.parquet as pq
import pytest
from machine import needs
from pyspark.sql import SparkSession

from wireproof.spark import scan_report, session
from wireproof.spark.errors import SourceError
from wireproof.spark.jobs import TaskCounts
from wireproof.spark.scan_job import merge_scan, plan_scan, run_scan, scan_span
from wireproof.spark.sources import TASKS_PER_CORE

ENTRIES = [logs.batch(bytes([n % 251]) * 4000, n) for n in range(1500)]
LOG = b"".join(ENTRIES[:700]) + b"\xff" * 50 + b"".join(ENTRIES[700:]) + ENTRIES[0][:90]
SHORT = b"".join(ENTRIES[:300]) + b"\xff" * 50 + b"".join(ENTRIES[300:400]) + ENTRIES[0][:90]


def tables(out: Path) -> dict[str, list[dict[str, Any]]]:
    files = sorted(out.glob("**/*.parquet"))
    return {str(path.relative_to(out)): pq.read_table(path).to_pylist() for path in files}


@pytest.mark.spark
def test_a_scan_counts_every_byte_and_says_how_far_it_is(spark: SparkSession, tmp_path: Path) -> None:
    options = session.source_options([str(logs.write(tmp_path / "in", a=LOG))])
    plan = plan_scan("wireproof.kafka_log", options, [], tmp_path / "out", grain=1 << 20)
    dealt = plan.tasks(TASKS_PER_CORE * spark.sparkContext.defaultParallelism)
    told: list[tuple[int, int, TaskCounts]] = []
    summary = run_scan(plan, None, lambda *now: told.append(now))
    assert {row["class"] or row["kind"]: row["count"] for row in summary.signatures} == {
        "frame": 1500,
        "bad-length": 1,
        "tail": 1,
    }
    assert summary.files[0]["bytes_read"] == len(LOG)
    assert told[0] == (0, len(LOG), TaskCounts(phase="starting Spark"))
    assert told[-1][:2] == (len(LOG), len(LOG))
    assert max(tasks.all for *_, tasks in told) == len(dealt) < len(plan.spans), (
        "Spark said how many there are"
    )
    assert max(tasks.done + tasks.running for *_, tasks in told) > 0
    assert run_scan(plan, None, lambda *_: None).spans == 0, "nothing is left to do"


@pytest.mark.spark
def test_the_tables_of_a_scan_are_read_by_spark(spark: SparkSession, tmp_path: Path) -> None:
    options = session.source_options([str(logs.write(tmp_path / "in", a=LOG[:50_000]))])
    plan = plan_scan("wireproof.kafka_log", options, [], tmp_path / "out")
    for number in plan.remaining:
        scan_span(plan, number)
    rows = spark.read.parquet(str(tmp_path / "out" / "frames")).groupBy("kind").count().collect()
    assert {row["kind"]: row["count"] for row in rows} == {"frame": 12, "tail": 1}


@pytest.mark.spark
@pytest.mark.usefixtures("spark")
def test_an_object_that_got_shorter_since_it_was_listed_costs_the_others_nothing(tmp_path: Path) -> None:
    options = session.source_options([str(logs.write(tmp_path / "in", a=LOG, b=LOG[:50_000]))])
    plan = plan_scan("wireproof.kafka_log", options, [], tmp_path / "out")
    logs.write(tmp_path / "in", a=LOG[:1000])
    summary = run_scan(plan, None, lambda *_: None)
    assert [Path(row["path"]).name for row in summary.files] == ["b.log"]
    [lost] = summary.plan.skipped
    assert lost.reason == f"cannot be read: it had {len(LOG)} bytes and ends at 1000"


@pytest.mark.spark
@pytest.mark.usefixtures("spark")
def test_a_failure_in_a_task_is_reported_in_one_line(tmp_path: Path) -> None:
    options = session.source_options([str(logs.write(tmp_path / "in", a=LOG))])
    plan = plan_scan("wireproof.kafka_log", options, [], tmp_path / "out")
    (tmp_path / "out" / "frames").write_bytes(b"")  # no folder for the rows
    with pytest.raises(SourceError, match=r"^FileExistsError: .*frames'"), session.one_line_errors():
        run_scan(plan, None, lambda *_: None)


def looped(folder: Path, out: Path) -> dict[str, list[dict[str, Any]]]:
    """The tables of the same scan without Spark: span after span, in this process."""
    options = session.source_options([str(folder)])
    plan = plan_scan("wireproof.kafka_log", options, ["reference"], out)
    for number in plan.remaining:
        scan_span(plan, number)
    merge_scan(plan)
    scan_report.check_local_logs(plan.places, out)
    return tables(out)


@pytest.mark.cluster
@needs("java")
def test_a_scan_whose_driver_is_killed_goes_on_to_the_same_tables(tmp_path: Path) -> None:
    folder = logs.write(tmp_path / "in", **{f"f{n}": SHORT for n in range(8)})
    out = tmp_path / "out"
    where = ["--adapter", "reference", "--master", "local[1,2]", "--out", str(out)]
    command = [sys.executable, "-m", "wireproof", "scan", str(folder), *where]

    def started() -> "subprocess.Popen[bytes]":
        quiet = subprocess.DEVNULL
        return subprocess.Popen(command, stdout=quiet, stderr=quiet, start_new_session=True)

    victim = started()
    spans = out / "spans"
    deadline = time.monotonic() + 300
    while len(list(spans.glob("*.json"))) < 3:
        assert victim.poll() is None, "it ended before it was killed"
        assert time.monotonic() < deadline
        time.sleep(0.05)
    os.kill(victim.pid, signal.SIGKILL)
    victim.wait()
    assert len(list(spans.glob("*.json"))) < 8, "it was killed in the middle"
    assert started().wait(600) == 1, "the logs are damaged"
    assert tables(out) == looped(folder, tmp_path / "whole")
    assert not list(out.glob("*/.*")), "what was half written is gone"
