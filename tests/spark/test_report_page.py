"""The page of a scan and of a campaign, from their tables: matrix, bytes; and the progress bar."""

import io
from pathlib import Path
from typing import NamedTuple

import logs
import pytest
import spark_scans
from command_line import Command
from page_contents import rows, shown
from pyspark.sql import SparkSession
from rich.console import Console
from rich.progress import MofNCompleteColumn

from tests.mutants.registry import spec_of
from wireproof.cli.common.progress import job_bar, tasks_text
from wireproof.derive.seeded_examples import SeededCases
from wireproof.spark import report_page
from wireproof.spark.batches import TaskCounts, count_tasks
from wireproof.spark.campaign_job import CampaignSettings, open_campaign
from wireproof.spark.errors import SourceError

ADAPTER = spec_of("mutant:crc-skip")
GOOD = [logs.batch(bytes([n % 251]) * 900, n) for n in range(400)]
FLIPPED = GOOD[5][:500] + bytes([GOOD[5][500] ^ 1]) + GOOD[5][501:]
LOG = b"".join(GOOD[:300]) + FLIPPED + b"\xff" * 40 + b"".join(GOOD[300:]) + GOOD[0][:50]


@pytest.fixture(scope="module")
def scanned(tmp_path_factory: pytest.TempPathFactory, spark: SparkSession) -> Path:
    """Two objects, of which one is damaged."""
    room = tmp_path_factory.mktemp("scanned")
    folder = logs.write(room / "in", a=LOG, b=b"".join(GOOD[:100]))
    spark_scans.scanned(spark, folder, room / "out", ADAPTER)
    return room / "out"


@pytest.fixture(scope="module")
def campaigned(tmp_path_factory: pytest.TempPathFactory, spark: SparkSession) -> Path:
    """Two adapters over some cases."""
    out = tmp_path_factory.mktemp("campaigned") / "out"
    numbered = SeededCases(("kafka.batch/v1", "kafka.batch/v2"), ("decode", "encode"), 10)
    open_campaign(CampaignSettings(numbered, (ADAPTER, "reference")), 75, out).run(spark)
    return out


# --- the tables ---


@pytest.mark.spark
def test_a_vector_is_what_reference_and_adapters_say_of_one_item(scanned: Path) -> None:
    found = {
        tuple(one["verdict"] for one in row["answers"]): row for row in spark_scans.table(scanned, "matrix")
    }
    assert {key: row["count"] for key, row in found.items()} == {
        ("frame", "pass:canonical"): 500,
        ("garbage", "fail:wrong-accept"): 1,
        ("garbage",): 1,  # bytes that are no entry are no question
        ("tail",): 1,
    }
    flipped = found["garbage", "fail:wrong-accept"]
    assert (flipped["position"], flipped["bytes"]) == (300 * 970, 970)
    assert flipped["path"].endswith("a.log")
    assert found["frame", "pass:canonical"]["position"] == 0


# --- the page ---


@pytest.mark.spark
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


@pytest.mark.spark
def test_the_page_of_a_campaign_has_a_column_for_each_adapter(campaigned: Path) -> None:
    text = shown(report_page.render_page(campaigned))
    assert "75 cases of seed 10: kafka.batch/v1, kafka.batch/v2" in text
    assert "fail:wrong-accept" in text
    total = sum(row["count"] for row in spark_scans.table(campaigned, "matrix"))
    assert total == 75


@pytest.mark.spark
def test_report_prints_the_tables_of_a_folder_and_writes_the_page(
    wireproof: Command, scanned: Path, campaigned: Path, tmp_path: Path
) -> None:
    for folder, word in ((scanned, "2 objects"), (campaigned, "1 finding;")):
        done = wireproof("report", folder, "--html", tmp_path / "page.html")
        assert done.code == 0, done.err
        assert word in done.out
        assert "fail:wrong-accept" in done.out
        assert (tmp_path / "page.html").read_text().startswith("<!doctype html>")


@pytest.mark.spark
def test_what_report_cannot_do_with_a_folder_is_one_line(
    wireproof: Command, scanned: Path, tmp_path: Path
) -> None:
    for words, text in (
        ((tmp_path,), "no table `run`; give the --out folder of a completed scan or campaign"),
        ((scanned, scanned), "a folder of tables must be the only argument"),
        ((scanned, "--junit", tmp_path / "x.xml"), "of a folder of tables there is --html"),
    ):
        done = wireproof("report", *words)
        assert (done.code, len(done.err.splitlines())) == (2, 1)
        assert text in done.err
    with pytest.raises(SourceError, match="no table"):
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
    assert count_tasks(Tracker(), "mine") == TaskCounts(8, 2, 5, 1)
    assert count_tasks(Tracker(), "yours") == TaskCounts()
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
