"""A job in spans, whichever it is: planned once, each span committed by a file, what is left done on Spark.

What a span writes depends on the plan and its number alone, and it is there whole or not at all. So a job
that was killed goes on where it was, and in however many tasks it is done, the same comes out.
Adapters are started anew for each span: what one was asked in another may not show.
"""

import threading
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final, Protocol

import pyarrow as pa
from attrs import frozen

from wireproof.spark import settings, tables
from wireproof.spark.errors import SourceError
from wireproof.spark.shipping import Where

REPORT: Final = "span long"
"""The row that goes through Spark for each span."""

TOLD_EVERY: Final = 0.3
"""Seconds."""


@frozen
class Tasks:
    """The tasks of a job as Spark's status tracker has them; all 0 before it has any."""

    all: int = 0
    running: int = 0
    done: int = 0
    failed: int = 0


Progress = Callable[[int, int, Tasks], None]
"""Is told of the weight that is done, of all there is, and of the tasks, a few times a second."""


class Plan(Protocol):
    """What the spans of a job are, and what doing one is; it is sent to the workers."""

    @property
    def out(self) -> Path:
        """The folder of the job, which every worker can write to under this name."""

    @property
    def weights(self) -> Sequence[int]:
        """How much each span is, in whatever unit: bytes, cases."""

    def tasks(self, count: int) -> list[list[int]]:
        """The spans that are left, as about `count` tasks of about the same weight."""

    def do(self, number: int) -> None:
        """Do one span, and commit it."""


def committed(out: Path, number: int) -> Path:
    """The file that commits a span."""
    return out / "spans" / f"{number:06}.json"


def begun(out: Path, number: int) -> Path:
    """The file that bears the time at which a span was begun, and nothing else."""
    return out / "begun" / f"{number:06}"


def begin(out: Path, number: int) -> None:
    """Begin a span, perhaps anew."""
    file = begun(out, number)
    file.parent.mkdir(exist_ok=True)
    file.touch()


def left(plan: Plan) -> list[int]:
    """The spans that are not committed."""
    folder = committed(plan.out, 0).parent
    there = {path.name for path in folder.iterdir()} if folder.is_dir() else set()
    return [n for n in range(len(plan.weights)) if committed(plan.out, n).name not in there]


def tidy(out: Path) -> None:
    """Take away what tasks that were killed had half written; every span is committed."""
    for half in out.glob("*/.*"):
        half.unlink()


def kept(out: Path, what: str, asked: dict[str, Any], make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """What was planned in `out` before; in a new folder what `make` gives, written there.

    Args:
        out: the folder of the job.
        what: the sort of job, in one word.
        asked: all that the plan depends on, as JSON.
        make: the further parts of the plan.

    Raises:
        SourceError: the folder holds something else.
    """
    file = out / "plan.json"
    if not file.exists():
        if out.exists() and any(out.iterdir()):
            raise SourceError(f"{out} is not empty and holds no {what}: name another folder")
        tables.save(file, {"asked": asked, **make()})
        file.chmod(0o600)  # URIs and options may hold credentials
    page = tables.load(file)
    if page["asked"].keys() != asked.keys():
        raise SourceError(f"{out} holds no {what}, or one of another version: name another folder")
    if page["asked"] != asked:
        other = next(key for key in asked if page["asked"][key] != asked[key])
        raise SourceError(f"{out} holds a {what} with other {other}: name another folder")
    return page


def work(
    plan: Plan, tasks: Sequence[Sequence[int]], batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """For `mapInArrow`: task numbers in, numbers of the spans that were committed out."""
    for batch in batches:
        for task in batch.column(0).to_pylist():
            for number in tasks[task]:
                plan.do(number)
                yield pa.RecordBatch.from_arrays([pa.array([number], pa.int64())], names=["span"])


def on_spark(plan: Plan, where: Where | str | None, progress: Progress, tasks: int | None = None) -> None:
    """Do what is left.

    Args:
        plan: of the job.
        where: it runs; a text is the master; None is all cores of this machine.
        progress: is told how far it is.
        tasks: about how many; None is a few for each core.

    Raises:
        SourceError: there is no Java, or executors cannot be given what they shall.
    """
    from wireproof.spark.session import session  # noqa: PLC0415 - what is left may be nothing

    place = where if isinstance(where, Where) else Where(where)
    given = place.settings()
    _reported(plan, progress, Tasks())
    spark = session(place.master, given=given)
    context = spark.sparkContext
    made = plan.tasks(tasks or settings.TASKS_PER_CORE * context.defaultParallelism)
    numbers = spark.range(0, len(made), 1, len(made))
    rows = numbers.mapInArrow(partial(work, plan, made), REPORT)
    group, failed = f"wireproof-{uuid.uuid4()}", list[BaseException]()

    def collect() -> None:
        try:
            context.setJobGroup(group, f"wireproof: {len(made)} tasks", interruptOnCancel=True)
            rows.collect()
        except BaseException as error:  # noqa: BLE001 - it is raised again where it is waited for
            failed.append(error)

    job = threading.Thread(target=collect, daemon=True)
    job.start()
    while job.is_alive():
        job.join(TOLD_EVERY)
        _reported(plan, progress, tasks_of(context.statusTracker(), group))
    if failed:
        raise failed[0]


def _reported(plan: Plan, progress: Progress, tasks: Tasks) -> None:
    weights = plan.weights
    total = sum(weights)
    progress(total - sum(weights[number] for number in left(plan)), total, tasks)


def tasks_of(tracker: Any, group: str) -> Tasks:  # noqa: ANN401 - of a classic session, or one that plays it
    """The tasks of a group of jobs; what the tracker no longer knows counts nothing."""
    jobs = [tracker.getJobInfo(job) for job in tracker.getJobIdsForGroup(group)]
    stages = [tracker.getStageInfo(stage) for job in jobs if job for stage in job.stageIds]
    known = [stage for stage in stages if stage]
    return Tasks(
        sum(stage.numTasks for stage in known),
        sum(stage.numActiveTasks for stage in known),
        sum(stage.numCompletedTasks for stage in known),
        sum(stage.numFailedTasks for stage in known),
    )
