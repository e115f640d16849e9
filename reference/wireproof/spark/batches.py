"""Run a job on Spark in batches: each appends rows to a table, and what is committed is not done again.

Spark writes a batch completely or not at all, and retries its tasks. The folder of the job has one small file
that names what is committed, which the driver alone writes. So a job that is killed at any time goes on with
the same command, and its tables are those of an undisturbed run.
"""

import threading
import time
import uuid
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq
from attrs import frozen
from pyspark.sql import DataFrame, SparkSession

from wireproof.files import replace_file
from wireproof.spark.logs.sources import CORES
from wireproof.spark.table_columns import ORDER, TableColumn, schema_of

# --- progress ---


@frozen
class TaskCounts:
    """The tasks of a job, from Spark's status tracker; all 0 where the phase has none.

    Attributes:
        phase: what the job does while it has no tasks.
    """

    all: int = 0
    running: int = 0
    done: int = 0
    failed: int = 0
    phase: str = "starting tasks"


Progress = Callable[[int, int, TaskCounts], None]
"""Receives the completed weight, the total weight and the tasks, a few times a second."""


def no_progress(done: int, total: int, tasks: TaskCounts) -> None:
    """Report nothing."""


def count_tasks(tracker: Any, group: str) -> TaskCounts:  # noqa: ANN401 - the status tracker of a session, or a stand-in
    """Count the tasks of a group of jobs; jobs that the tracker has forgotten count nothing."""
    jobs = [tracker.getJobInfo(job) for job in tracker.getJobIdsForGroup(group)]
    stages = [tracker.getStageInfo(stage) for job in jobs if job for stage in job.stageIds]
    known = [stage for stage in stages if stage]
    return TaskCounts(
        sum(stage.numTasks for stage in known),
        sum(stage.numActiveTasks for stage in known),
        sum(stage.numCompletedTasks for stage in known),
        sum(stage.numFailedTasks for stage in known),
    )


def parallelism(spark: SparkSession) -> int:
    """Return the number of tasks that run at the same time, as far as the session says it."""
    context = getattr(spark, "_sc", None)  # a session of Spark Connect has none
    return int(context.defaultParallelism) if context else CORES


def watched(
    spark: SparkSession, text: str, action: Callable[[], object], report: Callable[[TaskCounts], None]
) -> None:
    """Run an action of Spark under a description, and report its tasks while it runs."""
    context = getattr(spark, "_sc", None)
    if context is None:
        action()
        return
    group, failed = f"wireproof-{uuid.uuid4()}", list[BaseException]()

    def run() -> None:
        try:
            context.setJobGroup(group, text, interruptOnCancel=True)
            action()
        except BaseException as error:  # noqa: BLE001 - raised again in the waiting thread
            failed.append(error)

    job = threading.Thread(target=run, daemon=True)
    job.start()
    while job.is_alive():
        job.join(0.3)
        report(count_tasks(context.statusTracker(), group))
    if failed:
        raise failed[0]


# --- batches ---

MAX_GROWTH: Final = 8
"""How many times larger than the last batch the next one may be."""


U = TypeVar("U")
"""A part of the work, which is done in one batch."""


def write_rows(frame: DataFrame, folder: Path) -> None:
    """Write rows to a folder, in place of what a killed job left there."""
    frame.write.mode("overwrite").option("compression", "zstd").parquet(as_uri(folder))


def write_sorted(name: str, frame: DataFrame, folder: Path) -> None:
    """Write a table as one sorted file, which may be larger than memory."""
    write_rows(frame.repartition(1).sortWithinPartitions(*ORDER[name]), folder)


def write_small(
    name: str, frame: DataFrame | list[dict[str, Any]], columns: Sequence[TableColumn], folder: Path
) -> None:
    """Write a small table as one sorted file, which needs no job that commits its tasks."""
    folder.mkdir(parents=True, exist_ok=True)
    schema = schema_of(columns)
    rows = pa.Table.from_pylist(frame, schema) if isinstance(frame, list) else frame.toArrow().cast(schema)
    order = [(key, "ascending") for key in ORDER.get(name, ()) if key in schema.names]
    rows = rows.sort_by(order) if order else rows
    replace_file(
        folder / "part-0.parquet", lambda new: pq.write_table(rows, new, compression="zstd"), durable=False
    )


def as_uri(folder: Path) -> str:
    """Return a path of this machine as Hadoop has it, whatever its default file system is."""
    return f"file://{folder.absolute()}"


def run_batches(
    spark: SparkSession,
    units: Sequence[tuple[int, U]],
    first: int,
    frame_of: Callable[[Sequence[U]], DataFrame],
    commit: Callable[[Sequence[U], Path], None],
    table: Path,
    progress: Progress = no_progress,
) -> None:
    """Write the rows of all units in batches that take about a minute each.

    Args:
        spark: the session.
        units: the work, in order, each part with its weight: bytes or cases.
        first: the weight of the first batch.
        frame_of: returns the rows of some units.
        commit: stores that these units are written to this folder.
        table: the folder for the batches.
        progress: receives the progress.
    """
    total, done, size, at, number = sum(weight for weight, _ in units), 0, first, 0, 0
    while at < len(units):
        batch, weight = list[U](), 0
        while at < len(units) and (not batch or weight + units[at][0] <= size):
            batch.append(units[at][1])
            weight += units[at][0]
            at += 1
        folder, start = table / f"batch={number}", time.monotonic()
        write = partial(write_rows, frame_of(batch), folder)

        def report(tasks: TaskCounts, before: int = done, weight: int = weight) -> None:
            progress(before + weight * tasks.done // max(tasks.all, 1), total, tasks)

        watched(spark, f"wireproof: batch {number}, {len(batch)} parts", write, report)
        commit(batch, folder)
        done, number = done + weight, number + 1
        rate = weight / max(time.monotonic() - start, 0.1)
        size = int(min(rate * 60, size * MAX_GROWTH))  # about a minute of work, which is lost if it is killed
    progress(total, total, TaskCounts(phase="making the tables"))
