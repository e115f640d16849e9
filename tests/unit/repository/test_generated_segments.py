"""Generated segments: the same for a seed, in every shape, and a scan of them agrees with their manifest."""

import hashlib
import json
from collections import Counter
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from tests.generators import kafka_segments as segments
from tests.generators.kafka_segments import MIB, Manifest
from wireproof import formats
from wireproof.spark import session
from wireproof.spark.scan_job import merge_scan, plan_scan, scan_span


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Some MiB in which one entry of twenty is damaged, so that every fault is there."""
    made = tmp_path_factory.mktemp("segments")
    segments.generate(made, 24 * MIB, 5, segment=9 * MIB, every=20)
    return made


def scanned(folder: Path, out: Path, grain: int) -> None:
    plan = plan_scan("wireproof.kafka_log", session.source_options([str(folder)]), [], out, grain=grain)
    for number in plan.remaining:
        scan_span(plan, number)
    merge_scan(plan)


def manifest(folder: Path) -> Manifest:
    return segments.read(json.loads((folder / "manifest.json").read_text())["verdicts"])


def test_a_scan_agrees_with_the_manifest(folder: Path, tmp_path: Path) -> None:
    scanned(folder, tmp_path / "out", 2 * MIB)
    assert segments.differences(folder, tmp_path / "out") == []
    said = CliRunner().invoke(segments.main, [str(folder), "--against", str(tmp_path / "out")])
    assert (said.exit_code, said.output) == (0, "the scan agrees with the manifest\n")
    [*files] = pq.read_table(tmp_path / "out" / "files.parquet").to_pylist()
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


def test_they_hold_every_revision_codec_and_fault(folder: Path) -> None:
    kinds = {(one.format, one.cls) for one in manifest(folder).items}
    assert {name for name, cls in kinds if not cls} == {
        "kafka.batch/v0", "kafka.batch/v1", "kafka.batch/v2", "kafka.log/mixed",
    }  # fmt: skip
    assert {cls for _, cls in kinds} == {
        "", "crc-mismatch", "bad-magic", "bad-length", "count-mismatch", "unknown-codec", "decompress-failed",
    }  # fmt: skip
    some = list(segments.entries(5, 0, 9 * MIB, 20))
    assert {(one.magic, one.codec) for one in some} == {
        (magic, codec) for magic in (0, 1, 2) for codec in range(5 if magic == 2 else 4)
    }
    sizes = [len(one.data) for one in some]
    assert min(sizes) < 300
    assert max(sizes) > 40_000


def test_a_seed_makes_the_same_bytes_and_another_one_others(tmp_path: Path) -> None:
    def digests(seed: int, name: str) -> list[str]:
        segments.generate(tmp_path / name, 3 * MIB, seed, segment=MIB)
        files = sorted((tmp_path / name).iterdir())
        return [hashlib.sha256(path.read_bytes()).hexdigest() for path in files]

    assert digests(1, "a") == digests(1, "b")
    assert not set(digests(2, "c")) & set(digests(1, "a"))


@pytest.mark.sweeps
def test_a_scan_with_other_results_is_reported_line_by_line(folder: Path, tmp_path: Path) -> None:
    bare = tmp_path / "in"
    bare.mkdir()
    for path in folder.iterdir():
        (bare / path.name).write_bytes(path.read_bytes())
    last = max(bare.glob("*.log"))
    last.write_bytes(last.read_bytes()[: -segments.TAIL])
    scanned(bare, tmp_path / "out", 64 * MIB)
    wrong = segments.differences(bare, tmp_path / "out")
    assert wrong == ["manifest: kafka.log/mixed tail -: 1 items, 40 bytes"]
    said = CliRunner().invoke(segments.main, [str(bare), "--against", str(tmp_path / "out")])
    assert said.exit_code == 1
