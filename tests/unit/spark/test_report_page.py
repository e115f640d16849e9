"""The page of a scan and of a campaign, from their tables: matrix, bytes, charts; and the progress bar."""

import io
import json
import os
import re
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

import logs
import pyarrow.parquet as pq
import pytest
from command_line import Command
from page_contents import rows, shown
from rich.console import Console
from rich.progress import MofNCompleteColumn

from tests.mutants.registry import spec_of
from wireproof.cases.seeded_examples import SeededCases
from wireproof.cli.progress import job_bar, tasks_text
from wireproof.report.chart import Chart, Lane, svg
from wireproof.runner.signature import Signature
from wireproof.spark import (
    campaign_job,
    charts,
    checkpointed_job,
    command_support,
    report_page,
    verdict_matrix,
)
from wireproof.spark.checkpointed_job import TaskCounts
from wireproof.spark.errors import SourceError
from wireproof.spark.scan_merge import merge_scan
from wireproof.spark.scan_plan import plan_scan
from wireproof.spark.scan_span import scan_span
from wireproof.spark.verdict_matrix import VectorTotal, VerdictVectors

ADAPTER = spec_of("mutant:crc-skip")
GOOD = [logs.batch(bytes([n % 251]) * 900, n) for n in range(400)]
FLIPPED = GOOD[5][:500] + bytes([GOOD[5][500] ^ 1]) + GOOD[5][501:]
LOG = b"".join(GOOD[:300]) + FLIPPED + b"\xff" * 40 + b"".join(GOOD[300:]) + GOOD[0][:50]


@pytest.fixture(scope="module")
def scanned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two objects, of which one is damaged, in spans of 100 kB."""
    room = tmp_path_factory.mktemp("scanned")
    folder = logs.write(room / "in", a=LOG, b=b"".join(GOOD[:100]))
    options = command_support.source_options([str(folder)], [])
    plan = plan_scan("wireproof.kafka_log", options, [ADAPTER], room / "out", grain=100_000)
    for number in plan.remaining:
        scan_span(plan, number)
    merge_scan(plan)
    return room / "out"


@pytest.fixture(scope="module")
def campaigned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two adapters over some cases."""
    out = tmp_path_factory.mktemp("campaigned") / "out"
    numbered = SeededCases(("kafka.batch/v1", "kafka.batch/v2"), ("decode", "encode"), 10)
    plan = campaign_job.plan_campaign(numbered, [ADAPTER, "reference"], 75, out, grain=30)
    for number in checkpointed_job.remaining_spans(plan):
        plan.run_span(number)
    campaign_job.merge_campaign(plan)
    return out


def table(out: Path, name: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = pq.read_table(out / f"{name}.parquet").to_pylist()
    return rows


# --- the tables ---


@pytest.mark.sweeps
def test_a_vector_is_what_reference_and_adapters_say_of_one_item(scanned: Path) -> None:
    found = {tuple(one["kind"] for one in row["answers"]): row for row in table(scanned, "matrix")}
    assert {key: row["count"] for key, row in found.items()} == {
        ("frame", "pass:canonical"): 500,
        ("garbage", "fail:wrong-accept"): 1,
        ("garbage",): 1,  # bytes that are no entry are no question
        ("tail",): 1,
    }
    flipped = found["garbage", "fail:wrong-accept"]
    assert (flipped["position"], flipped["bytes"]) == (300 * 970, 970)
    assert flipped["object"].endswith("a.log")
    assert found["frame", "pass:canonical"]["position"] == 0


@pytest.mark.sweeps
def test_places_count_every_item_once_for_each_implementation(scanned: Path) -> None:
    rows = table(scanned, "positions")
    for name, answers in (("reference", 503), (ADAPTER, 501)):
        assert sum(row["count"] for row in rows if row["implementation"] == name) == answers
    [bad] = [row for row in rows if row["verdict"] == "fail:wrong-accept"]
    assert bad["start"] <= 300 * 970 < bad["end"] == bad["start"] + verdict_matrix.MIN_STRETCH


def test_the_vectors_of_parts_in_any_order_are_those_of_the_whole() -> None:
    one, two = (Signature(name, "kafka.batch/v2", "decode", "crash", "", "") for name in "ab")
    parts = [VerdictVectors(), VerdictVectors(), VerdictVectors()]
    parts[0].add((one, two), VectorTotal(2, 20, ("x", 7)))
    parts[1].add((one, two), VectorTotal(1, 10, ("x", 3)))
    parts[2].add((one,), VectorTotal(1, 5, ("y", 0)))
    parts[1].put(70_000, one)
    rows = verdict_matrix.matrix_rows([part.dump() for part in parts])
    assert rows == verdict_matrix.matrix_rows([part.dump() for part in reversed(parts)])
    assert [(row["count"], row["bytes"], row["position"]) for row in rows] == [(1, 5, 0), (3, 30, 3)]
    [place] = verdict_matrix.position_rows([("x", parts[1].dump())])
    assert (place["start"], place["end"], place["count"]) == (65536, 131072, 1)


@pytest.mark.parametrize(
    ("size", "wide"), [(0, 65536), (1 << 23, 65536), ((1 << 23) + 1, 1 << 17), (1 << 30, 1 << 23)]
)
def test_an_object_has_at_most_as_many_stretches(size: int, wide: int) -> None:
    assert verdict_matrix.stretch_bytes(size) == wide


# --- the page ---


@pytest.mark.sweeps
def test_the_page_of_a_scan_has_the_matrix_the_bytes_and_the_charts(scanned: Path) -> None:
    page = report_page.render_page(scanned)
    text = shown(page)
    for part in (
        "reference, of the log",
        ADAPTER,
        "fail:wrong-accept",
        "500",
        "wireproof replay wp1:",
        "a.log at 291,000",
    ):
        assert part in text, part
    assert FLIPPED[:40].hex(" ") in text
    assert "items over the whole job" in text
    assert re.search(r"items over \S+a\.log", text), "the damaged object has a chart of its own"
    assert not re.search(r"items over \S+b\.log", text)
    assert page.index("<svg") < page.index('<table id="matrix"')
    assert "fail:wrong-accept" in rows(page)[0][1], "what is worth looking at comes first"


@pytest.mark.sweeps
def test_the_page_of_a_campaign_has_a_column_for_each_adapter(campaigned: Path) -> None:
    text = shown(report_page.render_page(campaigned))
    assert "75 cases of seed 10: kafka.batch/v1, kafka.batch/v2" in text
    assert "cases over the whole job" in text
    assert "fail:wrong-accept" in text
    total = sum(row["count"] for row in table(campaigned, "matrix"))
    assert total == 75


@pytest.mark.sweeps
def test_report_prints_the_tables_of_a_folder_and_writes_the_page(
    wireproof: Command, scanned: Path, campaigned: Path, tmp_path: Path
) -> None:
    for folder, word in ((scanned, "2 objects"), (campaigned, "findings;")):
        done = wireproof("report", folder, "--html", tmp_path / "page.html")
        assert done.code == 0, done.err
        assert word in done.out
        assert "fail:wrong-accept" in done.out
        assert (tmp_path / "page.html").read_text().startswith("<!doctype html>")


@pytest.mark.sweeps
def test_what_report_cannot_do_with_a_folder_is_one_line(
    wireproof: Command, scanned: Path, tmp_path: Path
) -> None:
    for words, text in (
        ((tmp_path,), "matrix.parquet is missing; give the --out folder of a completed scan or campaign"),
        ((scanned, scanned), "a folder of tables must be the only argument"),
        ((scanned, "--junit", tmp_path / "x.xml"), "of a folder of tables there is --html"),
    ):
        done = wireproof("report", *words)
        assert (done.code, len(done.err.splitlines())) == (2, 1)
        assert text in done.err
    with pytest.raises(SourceError, match="is missing"):
        report_page.load_job(tmp_path)


# --- the charts ---


def test_bars_have_the_heights_of_their_values_and_a_lane_its_own_scale() -> None:
    lanes = [Lane("many", [100, 50, 0]), Lane("few <b>", [0, 0, 1], "bad")]
    drawn = svg(Chart("a & b", lanes, "0", "9"))
    heights = [float(one) for one in re.findall(r'<rect class="(?:bad)?".*?height="([\d.]+)"', drawn)]
    assert heights == [28, 14, 28]
    assert "few &lt;b&gt;" in drawn
    assert "a &amp; b" in drawn


@pytest.mark.sweeps
def test_throughput_is_what_was_committed_over_the_time_since_the_plan(scanned: Path) -> None:
    began = (scanned / "plan.json").stat().st_mtime
    files = sorted((scanned / "spans").glob("*.json"))
    for number, file in enumerate(files, 1):
        os.utime(file, (began + number, began + number))
    [chart] = charts.throughput(scanned)
    [lane] = chart.lanes
    wide = len(files) / len(lane.bars)
    assert sum(bar * wide for bar in lane.bars) * charts.MIB == pytest.approx(len(LOG) + 97_000)
    assert chart.end == f"{len(files):.1f} s"
    for file in files:
        os.utime(file, (began, began))
    assert list(charts.throughput(scanned)) == [], "a folder that was copied bears no times"


@pytest.mark.sweeps
def test_throughput_of_a_task_is_drawn_over_the_bytes_that_it_read(scanned: Path) -> None:
    files = sorted((scanned / "spans").glob("*.json"))
    for number, file in enumerate(files, 1):
        began = (scanned / "begun" / file.stem).stat().st_mtime
        os.utime(file, (began + number, began + number))
    [chart] = charts.task_speed(scanned)
    [lane] = chart.lanes
    mean = (len(LOG) + 97_000) / charts.MIB / sum(range(1, len(files) + 1))
    assert min(lane.bars) <= mean <= max(lane.bars)
    assert lane.most.endswith(f"on average {mean:,.0f}")
    assert chart.end == f"{len(LOG) + 97_000:,}"
    for file in files:
        began = (scanned / "begun" / file.stem).stat().st_mtime
        os.utime(file, (began, began))
    assert list(charts.task_speed(scanned)) == [], "a folder that was copied bears no times"


def test_bars_of_objects_with_long_and_short_stretches_have_one_width_and_the_same_density() -> None:
    """A chart whose bars are as narrow as the shortest stretch showed the long ones as twice as dense."""
    rows = [
        {
            "object": name,
            "start": at,
            "end": at + wide,
            "implementation": "x",
            "verdict": "frame",
            "count": wide,
        }
        for name, wide in (("a", 2048), ("b", 1024), ("c", 512))
        for at in range(0, 8192, wide)
    ]
    [lane] = charts._verdict_chart("items", ["a", "b", "c"], rows).lanes
    assert lane.bars == pytest.approx([2048] * 12)
    assert lane.most == "24,576 in total, at most 2,048"


def test_a_long_span_of_the_same_speed_is_drawn_as_high_and_as_wide_as_many_short_ones(
    tmp_path: Path,
) -> None:
    sizes = [4 * charts.MIB] * 3 + [charts.MIB] * 12
    ends = list(accumulate(sizes))
    spans = [[n, end - size, end, None] for n, (size, end) in enumerate(zip(sizes, ends, strict=True))]
    (tmp_path / "plan.json").write_text(json.dumps({"objects": [{"place": [], "spans": spans}]}))
    for number, size in enumerate(sizes):
        began, done = (
            checkpointed_job.start_file(tmp_path, number),
            checkpointed_job.commit_file(tmp_path, number),
        )
        for file, at in ((began, 1000), (done, 1000 + size / charts.MIB)):
            file.parent.mkdir(exist_ok=True)
            file.touch()
            os.utime(file, (at, at))
    [chart] = charts.task_speed(tmp_path)
    assert chart.lanes[0].bars == pytest.approx([1.0] * 6)


def test_a_label_is_text_of_the_page_which_no_chart_scales() -> None:
    drawn = svg(
        Chart(
            "items", [Lane("aiokafka: fail:wrong-accept " + "x" * 60, [1, 2], "bad", "3 in total")], "0", "9"
        )
    )
    pictures = re.findall(r"<svg.*?</svg>", drawn, re.DOTALL)
    assert not any("<text" in picture for picture in pictures)
    outside = re.sub(r"<svg.*?</svg>", "", drawn, flags=re.DOTALL)
    assert "x" * 60 in outside
    assert "3 in total" in outside


# --- the bar ---


class Job(NamedTuple):
    stageIds: tuple[int, ...]  # noqa: N815 - Spark's name


class Stage(NamedTuple):
    numTasks: int  # noqa: N815 - Spark's name
    numActiveTasks: int  # noqa: N815 - the same
    numCompletedTasks: int  # noqa: N815 - the same
    numFailedTasks: int  # noqa: N815 - the same


class Tracker:
    """Two jobs of a group; of one job and one stage nothing is known any more."""

    def getJobIdsForGroup(self, group: str) -> list[int]:  # noqa: N802 - Spark's name
        return {"mine": [1, 2]}.get(group, [])

    def getJobInfo(self, job: int) -> Job | None:  # noqa: N802 - the same
        return Job((10, 11)) if job == 1 else None

    def getStageInfo(self, stage: int) -> Stage | None:  # noqa: N802 - the same
        return Stage(8, 2, 5, 1) if stage == 10 else None


def test_tasks_are_those_of_the_group_that_the_tracker_still_knows() -> None:
    assert checkpointed_job.count_tasks(Tracker(), "mine") == TaskCounts(8, 2, 5, 1)
    assert checkpointed_job.count_tasks(Tracker(), "yours") == TaskCounts()
    assert tasks_text(TaskCounts(8, 2, 5, 1)) == "5 of 8 tasks, 2 running, 1 failed"
    assert tasks_text(TaskCounts()) == "waiting for Spark"


def test_a_bar_begins_where_a_job_that_goes_on_was() -> None:
    out = io.StringIO()
    console = Console(file=out, force_terminal=True, width=120)
    with job_bar(console, "scan", MofNCompleteColumn()) as tell:
        tell(40, 100, TaskCounts())
        tell(70, 100, TaskCounts(4, 2, 1, 0))
    assert "70/100" in out.getvalue()
    assert "1 of 4 tasks, 2 running" in out.getvalue()
    quiet = io.StringIO()
    with job_bar(Console(file=quiet), "scan") as tell:
        tell(1, 2, TaskCounts())
    assert quiet.getvalue() == "", "nothing where there is no terminal"
