"""Generated segments: the same for a seed, in every shape, and a scan of them agrees with their manifest."""

import json
from collections import Counter
from pathlib import Path

import pytest
import spark_scans
from click.testing import CliRunner
from pyspark.sql import SparkSession

from tests.generators import kafka_segments as segments
from tests.generators.kafka_segments import MIB, Manifest
from wireproof import formats


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Some MiB in which one entry of twenty is damaged, so that every fault is there."""
    made = tmp_path_factory.mktemp("segments")
    segments.generate(made, 24 * MIB, 5, segment=9 * MIB, every=20)
    return made


def manifest(folder: Path) -> Manifest:
    return segments.read(json.loads((folder / "manifest.json").read_text())["verdicts"])


@pytest.mark.spark
def test_a_scan_agrees_with_the_manifest(
    spark: SparkSession, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("wireproof.spark.scan_job.SPAN_BYTES", 2 * MIB)
    spark_scans.scanned(spark, folder, tmp_path / "out")
    assert segments.differences(folder, tmp_path / "out") == []
    said = CliRunner().invoke(segments.main, [str(folder), "--against", str(tmp_path / "out")])
    assert (said.exit_code, said.output) == (0, "the scan agrees with the manifest\n")
    files = spark_scans.table(tmp_path / "out", "files")
    assert sum(row["bytes_read"] for row in files) == sum(manifest(folder).bytes.values())


def test_the_reference_agrees_with_the_manifest(tmp_path: Path) -> None:
    """Without the fast decoders, and entry by entry."""
    found = Counter[tuple[str, str]]()
    wanted = segments.generate(tmp_path, 2 * MIB, 9, every=15)
    for path in sorted(tmp_path.glob("*.log")):
        items = formats.scan(formats.get("kafka.log", "mixed"), [path.read_bytes()])
        found.update((item.kind, item.cls or "") for item in items)
    summed = Counter[tuple[str, str]]()
    for verdict, count in wanted.items.items():
        summed[verdict.kind, verdict.cls] += count
    assert found == summed
