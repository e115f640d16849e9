"""A job in spans, whichever it is: planned once, each span committed by a file, what is left done on Spark.

What a span writes depends on the plan and its number alone, and it is there whole or not at all. So a job
that was killed goes on where it was, and in however many tasks it is done, the same comes out.
"""

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final, Protocol

import pyarrow as pa

from wireproof.spark import settings, tables
from wireproof.spark.errors import SourceError

REPORT: Final = "span long"
"""The row that goes through Spark for each span."""

Progress = Callable[[int, int], None]
"""Is told of the weight that is done and of all there is, a few times a second."""


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


def left(plan: Plan) -> list[int]:
    """The spans that are not committed."""
    return [number for number in range(len(plan.weights)) if not committed(plan.out, number).exists()]


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


def on_spark(plan: Plan, master: str | None, progress: Progress, tasks: int | None = None) -> None:
    """Do what is left.

    Args:
        plan: of the job.
        master: of Spark; None is all cores of this machine.
        progress: is told how far it is.
        tasks: about how many; None is a few for each core.

    Raises:
        SourceError: there is no Java.
    """
    from wireproof.spark.session import session  # noqa: PLC0415 - what is left may be nothing

    spark = session(master)
    made = plan.tasks(tasks or settings.TASKS_PER_CORE * spark.sparkContext.defaultParallelism)
    numbers = spark.range(0, len(made), 1, len(made))
    rows = numbers.mapInArrow(partial(work, plan, made), REPORT)
    failed: list[BaseException] = []

    def collect() -> None:
        try:
            rows.collect()
        except BaseException as error:  # noqa: BLE001 - it is raised again where it is waited for
            failed.append(error)

    job = threading.Thread(target=collect, daemon=True)
    job.start()
    total = sum(plan.weights)
    while job.is_alive():
        job.join(0.3)
        progress(total - sum(plan.weights[number] for number in left(plan)), total)
    if failed:
        raise failed[0]
