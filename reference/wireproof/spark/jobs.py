"""Run a job on Spark in spans, each committed by a file; an interrupted job continues where it stopped.

The result of a span depends only on the plan and the number of the span, and it is written completely or not
at all. So the result does not depend on the number of tasks or on interruptions. Adapters start anew for each
span, because the questions of another span must not influence their answers.

An environment or the wheel of this package is sent to executors as an archive, which Spark unpacks in their
working directory. A wheel on the search path without unpacking would be a zip file, from which neither
fixtures nor compiled kernels can be read.
"""

import atexit
import json
import shutil
import tempfile
import threading
import uuid
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any, Final, Protocol

import pyarrow as pa
import pyarrow.parquet as pq
from attrs import frozen

from wireproof import __version__
from wireproof.files import replace_file, replace_text
from wireproof.spark import sources
from wireproof.spark.errors import SourceError

# --- the cluster ---

ENVIRONMENT: Final = "wireproof-environment"
PACKAGE: Final = "wireproof-package"
"""The directories of an executor into which the archives are unpacked."""

SUFFIXES: Final = (".tar.gz", ".tgz", ".zip")
"""The archives that Spark unpacks, which it knows by their names."""

ARCHIVES_SETTING: Final = "spark.archives"
PYTHON_SETTING: Final = "spark.pyspark.python"
PYTHONPATH_SETTING: Final = "spark.executorEnv.PYTHONPATH"


@frozen
class ClusterEnv:
    """The place where a job runs: this machine or a cluster.

    Attributes:
        master: of Spark; None is all cores of this machine.
        archive: a packed environment with `bin/python`, as venv-pack and conda-pack make it.
        wheel: of this package, for executors whose Python has all other packages.
        conf: settings of Spark, each `NAME=VALUE`.
    """

    master: str | None = None
    archive: Path | None = None
    wheel: Path | None = None
    conf: tuple[str, ...] = ()

    @property
    def local(self) -> bool:
        """Return True if tasks run on this machine, in the environment of this process."""
        return self.master is None or self.master.startswith("local")

    def settings(self) -> dict[str, str]:
        """Return the settings of Spark for this place; a wheel is copied for the driver to serve.

        Raises:
            SourceError: a file does not exist or executors cannot use it, or a setting has no value.
        """
        if self.local and (self.archive or self.wheel):
            raise SourceError("--archive and --wheel are for executors: choose a cluster with --master")
        settings = dict(map(_setting, self.conf))
        if self.archive:
            _prepend(settings, ARCHIVES_SETTING, f"{_check_archive(self.archive)}#{ENVIRONMENT}", ",")
            settings.setdefault(PYTHON_SETTING, f"./{ENVIRONMENT}/bin/python")
        if self.wheel:
            _prepend(settings, ARCHIVES_SETTING, f"{_copy_as_zip(self.wheel)}#{PACKAGE}", ",")
            _prepend(settings, PYTHONPATH_SETTING, f"./{PACKAGE}", ":")
        return settings


def cluster_env_of(options: Mapping[str, Any]) -> ClusterEnv:
    """Make the object from the options of a command."""
    return ClusterEnv(options["master"], options["archive"], options["wheel"], tuple(options["given"]))


def _setting(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not (equals and name.startswith("spark.")):
        raise SourceError(f"--conf {text}: expected spark.NAME=VALUE")
    return name, value


def _prepend(settings: dict[str, str], name: str, value: str, separator: str) -> None:
    """Add a value before the one that the user has set."""
    settings[name] = separator.join(filter(None, [value, settings.get(name, "")]))


def _check_archive(archive: Path) -> Path:
    if not archive.is_file():
        raise SourceError(f"--archive {archive}: not found; make one with `venv-pack -o environment.tar.gz`")
    if not archive.name.endswith(SUFFIXES):
        raise SourceError(f"--archive {archive}: Spark unpacks only {', '.join(SUFFIXES)}")
    return archive.absolute()


@cache
def _copy_as_zip(wheel: Path) -> Path:
    """Copy the wheel, once in this process, to a name that Spark recognizes as an archive.

    The copy is removed when this process ends.
    """
    if not wheel.is_file():
        raise SourceError(f"--wheel {wheel}: not found; make one with `pip wheel --no-deps wireproof`")
    if not (wheel.name.startswith(f"wireproof-{__version__}-") and wheel.suffix == ".whl"):
        raise SourceError(
            f"--wheel {wheel}: not a wheel of wireproof {__version__}, the version that runs here"
        )
    folder = Path(tempfile.mkdtemp(prefix="wireproof-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(shutil.copy(wheel, folder / f"{PACKAGE}.zip"))


# --- files: each is written completely or not at all ---

COMPRESSION: Final = "zstd"
"""The compression of the tables."""


def write_table(path: Path, rows: list[dict[str, Any]], schema: pa.Schema) -> None:
    """Write a small table."""
    table = pa.Table.from_pylist(rows, schema=schema)
    replace_file(path, lambda new: pq.write_table(table, new, compression=COMPRESSION), durable=False)


def load_json(path: Path) -> dict[str, Any]:
    """Read a JSON file that `save_json` wrote."""
    page: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return page


def save_json(path: Path, page: dict[str, Any]) -> None:
    """Write a JSON file."""
    text = json.dumps(page, indent=None, sort_keys=True) + "\n"
    replace_text(path, text, durable=False)


# --- spans ---

PLAN: Final = "plan.json"
"""The file of the plan, in the folder of a job."""

REPORT_SCHEMA: Final = "span long"
"""The schema of the row that goes through Spark for each span."""

PROGRESS_SECONDS: Final = 0.3
"""Seconds between two reports of progress."""


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


RunSpan = Callable[[int], None]
"""Runs the span with a number, and commits it."""


class JobPlan(Protocol):
    """The plan of a job that is done in spans."""

    @property
    def out(self) -> Path:
        """Return the folder of the job, which every worker can write to at this path."""

    @property
    def weights(self) -> Mapping[int, int]:
        """Return the size of each span by its number, in the unit of the job: bytes or cases."""

    def tasks(self, count: int) -> list[list[int]]:
        """Return the remaining spans as about `count` tasks of about the same weight."""


def commit_file(out: Path, number: int) -> Path:
    """Return the file that commits a span."""
    return out / "spans" / f"{number:06}.json"


def remaining_spans(plan: JobPlan) -> list[int]:
    """Return the spans that are not committed."""
    folder = commit_file(plan.out, 0).parent
    names = {path.name for path in folder.iterdir()} if folder.is_dir() else set()
    return [n for n in plan.weights if commit_file(plan.out, n).name not in names]


def remove_partial_files(out: Path) -> None:
    """Remove files that killed tasks left incomplete; every span must be committed."""
    for file in out.glob("*/.*"):
        file.unlink()


def update_plan(
    out: Path, kind: str, inputs: dict[str, Any], make: Callable[[dict[str, Any]], dict[str, Any]]
) -> dict[str, Any]:
    """Make the plan of a job, from the one stored in `out` if there is one, and store it there.

    Args:
        out: the folder of the job.
        kind: the kind of job, in one word.
        inputs: everything that must stay as it is, as JSON.
        make: returns the other parts of a plan, from those of the stored one; from none for a new job.

    Raises:
        SourceError: the folder contains something else.
    """
    file = out / PLAN
    if not file.exists() and out.exists() and any(out.iterdir()):
        raise SourceError(f"{out} is not empty and holds no {kind}: choose another folder")
    stored = load_json(file) if file.exists() else {"asked": inputs}
    if stored["asked"].keys() != inputs.keys():
        raise SourceError(f"{out} holds no {kind}, or one of another version: choose another folder")
    if stored["asked"] != inputs:
        other = next(key for key in inputs if stored["asked"][key] != inputs[key])
        raise SourceError(f"{out} holds a {kind} with other {other}: choose another folder")
    page = {"asked": inputs, **make(stored)}
    if page != stored or not file.exists():
        save_json(file, page)
        file.chmod(0o600)  # URIs and options may hold credentials
    return page


def remove_other_spans(out: Path, numbers: Collection[int]) -> None:
    """Remove the files of spans that the plan no longer has."""
    for folder in ("spans", "frames"):
        for file in (out / folder).glob("[0-9]*"):
            if int(file.name.partition(".")[0]) not in numbers:
                file.unlink()


def run_tasks(
    run_span: RunSpan, tasks: Sequence[Sequence[int]], batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Run the tasks of some Arrow batches, for `mapInArrow`.

    The batches have task numbers; the returned ones have the numbers of the committed spans. `run_span` runs
    one span and commits it.
    """
    for batch in batches:
        for task in batch.column(0).to_pylist():
            for number in tasks[task]:
                run_span(number)
                yield pa.RecordBatch.from_arrays([pa.array([number], pa.int64())], names=["span"])


def run_on_spark(
    plan: JobPlan,
    run_span: RunSpan,
    cluster: ClusterEnv | str | None,
    progress: Progress,
    tasks: int | None = None,
) -> None:
    """Run the remaining spans.

    Args:
        plan: of the job.
        run_span: runs one span and commits it; it is sent to the workers.
        cluster: where the job runs; a string is the master, None is all cores of this machine.
        progress: receives the progress.
        tasks: about how many tasks to make; None is a few for each core.

    Raises:
        SourceError: Java was not found, or the executors cannot get the files that they need.
    """
    from wireproof.spark.session import session  # noqa: PLC0415 - not needed if no span remains

    target = cluster if isinstance(cluster, ClusterEnv) else ClusterEnv(cluster)
    conf = target.settings()
    report_progress(plan, progress, TaskCounts(phase="starting Spark"))
    spark = session(target.master, conf=conf)
    context = spark.sparkContext
    dealt = plan.tasks(tasks or sources.TASKS_PER_CORE * context.defaultParallelism)
    task_rows = spark.range(0, len(dealt), 1, len(dealt))
    reports = task_rows.mapInArrow(partial(run_tasks, run_span, dealt), REPORT_SCHEMA)
    group, failed = f"wireproof-{uuid.uuid4()}", list[BaseException]()

    def collect() -> None:
        try:
            context.setJobGroup(group, f"wireproof: {len(dealt)} tasks", interruptOnCancel=True)
            reports.collect()
        except BaseException as error:  # noqa: BLE001 - raised again in the waiting thread
            failed.append(error)

    job = threading.Thread(target=collect, daemon=True)
    job.start()
    while job.is_alive():
        job.join(PROGRESS_SECONDS)
        report_progress(plan, progress, count_tasks(context.statusTracker(), group))
    if failed:
        raise failed[0]


def report_progress(plan: JobPlan, progress: Progress, tasks: TaskCounts) -> None:
    """Report how much of a job is committed, and its tasks or its phase."""
    weights = plan.weights
    total = sum(weights.values())
    progress(total - sum(weights[number] for number in remaining_spans(plan)), total, tasks)


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
