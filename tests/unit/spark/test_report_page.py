"""The page of a scan and of a campaign, from their tables: matrix, bytes; and the progress bar."""

import io
from pathlib import Path
from typing import Any, NamedTuple

import logs
import pyarrow.parquet as pq
import pytest
from command_line import Command
from each import each
from page_contents import rows, shown
from rich.console import Console
from rich.progress import MofNCompleteColumn

from tests.mutants.registry import spec_of
from wireproof.cases.seeded_examples import SeededCases
from wireproof.cli.progress import job_bar, tasks_text
from wireproof.runner.signature import Signature
from wireproof.spark import campaign_job, jobs, report_page, session, verdict_tables
from wireproof.spark.errors import SourceError
from wireproof.spark.jobs import TaskCounts
from wireproof.spark.scan_job import merge_scan, plan_scan, scan_span
from wireproof.spark.verdict_tables import VectorTotal, VerdictVectors

ADAPTER = spec_of("mutant:crc-skip")
GOOD = [logs.batch(bytes([n % 251]) * 900, n) for n in range(400)]
FLIPPED = GOOD[5][:500] + bytes([GOOD[5][500] ^ 1]) + GOOD[5][501:]
LOG = b"".join(GOOD[:300]) + FLIPPED + b"\xff" * 40 + b"".join(GOOD[300:]) + GOOD[0][:50]


@pytest.fixture(scope="module")
def scanned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two objects, of which one is damaged, in spans of 100 kB."""
    room = tmp_path_factory.mktemp("scanned")
    folder = logs.write(room / "in", a=LOG, b=b"".join(GOOD[:100]))
    options = session.source_options([str(folder)])
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
    for number in jobs.remaining_spans(plan):
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
    assert bad["start"] <= 300 * 970 < bad["end"] == bad["start"] + verdict_tables.MIN_STRETCH


def test_the_vectors_of_parts_in_any_order_are_those_of_the_whole() -> None:
    one, two = (Signature(name, "kafka.batch/v2", "decode", "crash", "", "") for name in "ab")
    parts = [VerdictVectors(), VerdictVectors(), VerdictVectors()]
    parts[0].add((one, two), VectorTotal(2, 20, ("x", 7)))
    parts[1].add((one, two), VectorTotal(1, 10, ("x", 3)))
    parts[2].add((one,), VectorTotal(1, 5, ("y", 0)))
    parts[1].put(70_000, one)
    rows = verdict_tables.matrix_rows([part.dump() for part in parts])
    assert rows == verdict_tables.matrix_rows([part.dump() for part in reversed(parts)])
    assert [(row["count"], row["bytes"], row["position"]) for row in rows] == [(1, 5, 0), (3, 30, 3)]
    [place] = verdict_tables.position_rows([("x", parts[1].dump())])
    assert (place["start"], place["end"], place["count"]) == (65536, 131072, 1)


@each("size, wide", [(0, 65536), (1 << 23, 65536), ((1 << 23) + 1, 1 << 17), (1 << 30, 1 << 23)])
def test_an_object_has_at_most_as_many_stretches(size: int, wide: int) -> None:
    assert verdict_tables.stretch_bytes(size) == wide


# --- the page ---


@pytest.mark.sweeps
def test_the_page_of_a_scan_has_the_matrix_and_the_bytes(scanned: Path) -> None:
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
    assert "fail:wrong-accept" in rows(page)[0][1], "what is worth looking at comes first"
    assert "2 damaged of 503 judged" in page, "the log is damaged, and not the reference wrong"
    assert "1 wrong of 501 judged" in page


@pytest.mark.sweeps
def test_the_page_of_a_campaign_has_a_column_for_each_adapter(campaigned: Path) -> None:
    text = shown(report_page.render_page(campaigned))
    assert "75 cases of seed 10: kafka.batch/v1, kafka.batch/v2" in text
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
    assert jobs.count_tasks(Tracker(), "mine") == TaskCounts(8, 2, 5, 1)
    assert jobs.count_tasks(Tracker(), "yours") == TaskCounts()
    assert tasks_text(TaskCounts(8, 2, 5, 1)) == "5 of 8 tasks, 2 running, 1 failed"
    assert tasks_text(TaskCounts()) == "starting tasks"
    assert tasks_text(TaskCounts(phase="starting Spark")) == "starting Spark"


def test_a_bar_begins_where_a_job_that_goes_on_was(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")  # rich moves no bar in a dumb terminal
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
