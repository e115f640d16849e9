"""The verbs on a standalone cluster of two workers: executors have what they are given, and one is killed."""

import json
import os
import shlex
import subprocess
import sys
import tarfile
from pathlib import Path

import logs
import pytest
import spark_scans
from machine import needs
from pyspark.sql import SparkSession
from standalone import cluster

from tests.mutants.registry import spec_of
from wireproof.spark import session
from wireproof.spark.campaign_job import campaign_settings, open_campaign

pytestmark = [pytest.mark.cluster, needs("java")]

ENTRIES = [logs.batch(bytes([n % 251]) * 2000, n) for n in range(60)]
FLIPPED = ENTRIES[7][:500] + bytes([ENTRIES[7][500] ^ 1]) + ENTRIES[7][501:]
LOG = b"".join(ENTRIES[:40]) + FLIPPED + b"\xff" * 50 + b"".join(ENTRIES[40:]) + ENTRIES[0][:90]
ADAPTER = spec_of("mutant:crc-skip")
KILLS = "py:tests.support.crashing_codecs:KillsAnExecutor"
TOP = Path(__file__).parents[2]
CASES, SEED, FORMAT = 1000, 1, "kafka.batch/v2"

DRIVER = """
import json, os, sys
import pyarrow as pa
from pyspark.sql import SparkSession
from wireproof.cli import (group)

for words in json.loads(sys.argv[1]):
    code = group.main(words, standalone_mode=False)
    assert code == 1, f"{words}: {code}: the mutant has findings"

def told(batches):
    import wireproof
    for _ in batches:
        rows = [[wireproof.__file__], [os.environ.get("PACKED", "")], [os.getcwd()]]
        yield pa.RecordBatch.from_arrays([pa.array(row) for row in rows], names=["file", "packed", "cwd"])

spark = SparkSession.getActiveSession()
found = spark.range(0, 8, 1, 8).mapInArrow(told, "file string, packed string, cwd string").collect()
print("FOUND" + json.dumps([list(row) for row in found]))
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this checkout; CI has built it already."""
    if built := os.environ.get("WIREPROOF_WHEEL"):
        return Path(built)
    room = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", str(room), str(TOP)], check=True
    )
    [found] = room.glob("wireproof-*.whl")
    return found


def packed(room: Path) -> Path:
    """An environment as venv-pack lays it out; its Python is this one and says that it was started so."""
    python = room / "python"
    python.write_text(f'#!/bin/sh\nPACKED=yes exec {shlex.quote(sys.executable)} "$@"\n', encoding="utf-8")
    python.chmod(0o755)
    with tarfile.open(room / "environment.tar.gz", "w:gz") as archive:
        archive.add(python, "bin/python")
    return room / "environment.tar.gz"


@pytest.fixture
def local(tmp_path: Path, spark: SparkSession) -> Path:
    """The tables of a scan and of a campaign on `local[2]`."""
    folder = logs.write(tmp_path / "in", **{f"f{number}": LOG for number in range(4)})
    spark_scans.scanned(spark, folder, tmp_path / "l" / "scan", ADAPTER, KILLS)
    settings = campaign_settings(session.start_adapters([ADAPTER]), [ADAPTER], [FORMAT], SEED)
    open_campaign(settings, CASES, tmp_path / "l" / "campaign").run(spark)
    return tmp_path / "l"


def test_on_two_workers_come_the_tables_of_one_machine_though_an_executor_is_killed(
    tmp_path: Path, local: Path, wheel: Path
) -> None:
    out = tmp_path / "c"
    with cluster(tmp_path / "cluster") as master:
        where = ["--master", master, "--wheel", str(wheel), "--archive", str(packed(tmp_path))]
        where += ["--conf", "spark.executor.memory=512m", "--conf", "spark.driver.host=127.0.0.1"]
        where += ["--conf", "spark.scheduler.minRegisteredResourcesRatio=1.0"]
        where += ["--conf", f"spark.executorEnv.PYTHONPATH={TOP}"]  # the adapters are not in the wheel
        where += ["--conf", f"spark.executorEnv.KILLED={tmp_path / 'killed'}"]
        asked = ["--adapter", ADAPTER, "--adapter", KILLS]
        verbs = [
            ["scan", str(tmp_path / "in"), *asked, "--out", str(out / "scan"), *where],
            ["fuzz", ADAPTER, "--spark", "--cases", str(CASES), "--seed", str(SEED),
             "--format", FORMAT, "--dir", str(out / "campaign"), *where],
        ]  # fmt: skip
        done = subprocess.run(
            [sys.executable, "-c", DRIVER, json.dumps(verbs)],
            capture_output=True, text=True, check=False, timeout=1200, cwd=tmp_path,
            env={**os.environ, "SPARK_LOCAL_IP": "127.0.0.1"},
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        assert (tmp_path / "killed").exists()
    assert spark_scans.tables(out / "scan") == spark_scans.tables(local / "scan")
    for name in ("signatures", "samples", "matrix"):
        assert spark_scans.table(out / "campaign", name) == spark_scans.table(local / "campaign", name)
    [told] = [line for line in done.stdout.splitlines() if line.startswith("FOUND")]
    rows = json.loads(told.removeprefix("FOUND"))
    assert {(file, said) for file, said, cwd in rows} == {
        (f"{cwd}/wireproof-package/wireproof/__init__.py", "yes") for _, _, cwd in rows
    }
    folders = [Path(cwd).relative_to(tmp_path / "cluster").parts[0] for *_, cwd in rows]
    assert set(folders) == {"0", "1"}, "both workers worked"
