"""A scan as Spark runs it: in the session of the tests, and killed in the middle in sessions of its own."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import damaged_logs
import logs
import pyarrow.parquet as pq
import pytest
from machine import needs
from pyspark.sql import SparkSession

from wireproof.cli import group
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
def test_a_failure_in_a_task_is_reported_in_one_line(tmp_path: Path) -> None:
    options = session.source_options([str(logs.write(tmp_path / "in", a=LOG))])
    plan = plan_scan("wireproof.kafka_log", options, [], tmp_path / "out")
    logs.write(tmp_path / "in", a=LOG[:1000])
    with (
        pytest.raises(SourceError, match=r"a\.log had \d+ bytes and ends at 1000: read it again"),
        session.one_line_errors(),
    ):
        run_scan(plan, None, lambda *_: None)


@pytest.mark.spark
@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize("source", ["kafka_log", "iggy_log"])
def test_thirty_bit_errors_are_each_named(
    tmp_path: Path, source: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The errors of thirty logs of 300 batches, and of thirty segments of Iggy, in one run each."""
    damaged = damaged_logs.thirty_kafka() if source == "kafka_log" else damaged_logs.thirty_of("0.9")
    for number, (_, data) in enumerate(damaged):
        logs.write(tmp_path / "in", **{f"{number:020}": data})
    words = ["scan", str(tmp_path / "in"), "--source", source, "--out", str(tmp_path / "out")]
    assert group.main(words, standalone_mode=False) == 1
    printed = capsys.readouterr().out
    rows = pq.read_table(tmp_path / "out" / "damage.parquet").to_pylist()
    for number, (at, _) in enumerate(damaged):
        path = str(tmp_path / "in" / f"{number:020}.log")
        assert f"wrong: {path}: bytes " in printed
        places = [(row["position"], row["length"]) for row in rows if row["path"] == path]
        assert any(first - 100 <= at < first + length for first, length in places), path


@pytest.mark.spark
@pytest.mark.usefixtures("spark")
def test_a_damaged_segment_that_is_new_is_read_by_the_same_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, out = logs.write(tmp_path / "in", a=SHORT[:100_000]), tmp_path / "out"
    words = ["scan", str(folder), "--out", str(out)]
    assert group.main(words, standalone_mode=False) == 0
    flipped = SHORT[:500] + bytes([SHORT[500] ^ 1]) + SHORT[501:100_000]
    logs.write(folder, b=flipped)
    assert group.main(words, standalone_mode=False) == 1
    assert f"new: 1 objects: {folder}/b.log" in capsys.readouterr().out
    with (folder / "a.log").open("ab") as file:
        file.write(SHORT[100_000:100_001])
    assert group.main(words, standalone_mode=False) == 1
    assert f"read again: 1 objects: {folder}/a.log (100,000 bytes, now 100,001)" in capsys.readouterr().out
    read = {row["path"]: row["bytes_read"] for row in pq.read_table(out / "files.parquet").to_pylist()}
    assert read == {f"{folder}/a.log": 100_001, f"{folder}/b.log": 100_000}
    [damage] = pq.read_table(out / "damage.parquet").to_pylist()
    assert (damage["path"], damage["position"]) == (f"{folder}/b.log", 0)


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
