"""A Spark session as the sources and jobs of this package need it, and the errors of its jobs in one line.

An environment or the wheel of this package is sent to executors as an archive, which Spark unpacks in their
working directory. A wheel on the search path without unpacking would be a zip file, from which neither
fixtures nor compiled kernels can be read.
"""

import atexit
import json
import logging
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, Final

from attrs import frozen
from py4j.protocol import Py4JError, Py4JNetworkError
from pyspark import SparkContext
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from rich.console import Console

import wireproof
from wireproof.adapters.contract import Hello
from wireproof.run.engine import Engine
from wireproof.spark.errors import JavaEndedError, SourceError

# --- the cluster ---

ENVIRONMENT: Final = "wireproof-environment"
PACKAGE: Final = "wireproof-package"
"""The directories of an executor into which the archives are unpacked."""

ARCHIVES: Final = (".tar.gz", ".tgz", ".zip")
"""The archives that Spark unpacks, which it knows by their names."""

PYTHON_SETTING: Final = "spark.pyspark.python"


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
        settings = dict[str, str]()
        for text in self.conf:
            name, equals, value = text.partition("=")
            if not (equals and name.startswith("spark.")):
                raise SourceError(f"--conf {text}: expected spark.NAME=VALUE")
            settings[name] = value
        if archive := self.archive:
            if not archive.is_file():
                raise SourceError(
                    f"--archive {archive}: not found; make one with `venv-pack -o environment.tar.gz`"
                )
            if not archive.name.endswith(ARCHIVES):
                raise SourceError(f"--archive {archive}: Spark unpacks only {', '.join(ARCHIVES)}")
            _prepend(settings, "spark.archives", f"{archive.absolute()}#{ENVIRONMENT}", ",")
            settings.setdefault(PYTHON_SETTING, f"./{ENVIRONMENT}/bin/python")
        if self.wheel:
            _prepend(settings, "spark.archives", f"{_copy_as_zip(self.wheel)}#{PACKAGE}", ",")
            _prepend(settings, "spark.executorEnv.PYTHONPATH", f"./{PACKAGE}", ":")
        return settings


def cluster_env_of(options: Mapping[str, Any]) -> ClusterEnv:
    """Make the object from the options of a command."""
    return ClusterEnv(options["master"], options["archive"], options["wheel"], tuple(options["given"]))


def _prepend(settings: dict[str, str], name: str, value: str, separator: str) -> None:
    """Add a value before the one that the user has set."""
    settings[name] = separator.join(filter(None, [value, settings.get(name, "")]))


@cache
def _copy_as_zip(wheel: Path) -> Path:
    """Copy the wheel, once in this process, to a name that Spark recognizes as an archive.

    The copy is removed when this process ends.
    """
    if not wheel.is_file():
        raise SourceError(f"--wheel {wheel}: not found; make one with `pip wheel --no-deps wireproof`")
    if not (wheel.name.startswith(f"wireproof-{wireproof.__version__}-") and wheel.suffix == ".whl"):
        raise SourceError(
            f"--wheel {wheel}: not a wheel of wireproof {wireproof.__version__}, the version that runs here"
        )
    folder = Path(tempfile.mkdtemp(prefix="wireproof-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(shutil.copy(wheel, folder / f"{PACKAGE}.zip"))


# --- the session ---

SETTINGS: Final = {
    "spark.sql.session.timeZone": "UTC",
    "spark.python.unix.domain.socket.enabled": "true",  # saves a third of the cost of a Python task
    "spark.sql.execution.pyspark.udf.faulthandler.enabled": "true",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}

LOCAL_SETTINGS: Final = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.shuffle.partitions": "4",
}
"""Settings with which a local session listens on no other address and makes few small tasks."""

VERB_SETTINGS: Final = {"spark.driver.defaultJavaOptions": "-XX:TieredStopAtLevel=1"}
"""Settings of a local session that a verb makes: Java compiles itself once, quickly.

A scan of little spends a third of its seconds of cores on that otherwise, and a large one is the work of
Python. A session that its user goes on with has Java's default.
"""


def session(
    master: str | None = None, name: str = "wireproof", conf: Mapping[str, str] | None = None
) -> SparkSession:
    """Return the active session as it is; if there is none, make one.

    Args:
        master: where a new session runs; None is all cores of this machine.
        name: of a new session.
        conf: further settings.

    Raises:
        SourceError: Java was not found, or the active session has another master or other settings.
    """
    conf = conf or {}
    if active := _active_session():  # it belongs to the user, and is not changed
        for setting, value in {**conf, **({"spark.master": master} if master else {})}.items():
            if (found := active.conf.get(setting, None)) != value:
                raise SourceError(
                    f"{setting} of the active session is {found}, not {value}: "
                    "change it there, or stop the session"
                )
        return active
    if not (os.environ.get("JAVA_HOME") or shutil.which("java")):
        raise SourceError("Spark needs Java 17 or later: install it, or set JAVA_HOME to where it is")
    master = master or f"local[{os.cpu_count() or 1},2]"  # two attempts of a task; Spark's default is one
    builder = SparkSession.builder.appName(name).master(master).config(map=dict(SETTINGS))
    if master.startswith("local"):
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        builder = builder.config(map=dict(LOCAL_SETTINGS))
        # Let workers import this package from where this process did, be it a checkout.
        folder = str(Path(wireproof.__file__).parents[1])
        path = os.environ.get("PYTHONPATH", "")
        if folder not in path.split(os.pathsep):
            os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [folder, path]))
    # Workers use the Python of this process: that of the PATH may have neither pyarrow nor this package.
    # Only `spark-submit` reads the setting; a session that is built here uses the environment variable.
    if PYTHON_SETTING in conf:
        os.environ["PYSPARK_PYTHON"] = conf[PYTHON_SETTING]
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    return builder.config(map=dict(conf)).getOrCreate()


def _active_session() -> SparkSession | None:
    """Return the session of this thread, or else of this process; None if there is none."""
    if SparkContext._active_spark_context is None:  # noqa: SLF001 - also None after a stop, unlike the next one
        return None
    return SparkSession.getActiveSession() or SparkSession._instantiatedSession  # noqa: SLF001 - as `active()`


# --- verbs on Spark ---


def source_options(paths: Sequence[str], **options: str) -> dict[str, str]:
    """Return the options of a source that reads some paths."""
    return {"paths": json.dumps(list(paths)), **options}


def start_adapters(adapters: Sequence[str]) -> list[Hello]:
    """Start each adapter once, so that errors appear before the job starts; return their hellos.

    Raises:
        UnknownAdapter, AdapterStartError: as from `registry.open_adapter`.
    """
    hellos = []
    for spec in adapters:
        with Engine(spec) as engine:
            hellos.append(engine.hello)
    return hellos


@contextmanager
def spark_of(cluster: ClusterEnv, out: Path) -> Iterator[tuple[SparkSession, Console]]:
    """Give a session for a verb, the active one or a new one, and a console for a progress bar.

    The log of a new one is in the folder of the job, in the file `spark.log`.

    Raises:
        SourceError: Java was not found, executors cannot get the files that they need, or the job failed.
        JavaEndedError: Spark's Java process ended.
    """
    conf = cluster.settings()
    if cluster.local and not _active_session():
        conf = VERB_SETTINGS | conf
    with spark_errors(out / "spark.log") as console:
        yield session(cluster.master, conf=conf), console


@contextmanager
def spark_errors(log: Path) -> Iterator[Console]:
    """Send Spark's log to a file, and turn the errors of a job into one line for the user that names it.

    Yields:
        a console of standard error, for a progress bar that no line of the log breaks.

    Raises:
        SourceError: the job failed.
        JavaEndedError: Spark's Java process ended.
    """
    standard_error = 2  # Java takes that of the process that starts it, before it reads any setting
    with log.open("ab") as file, os.fdopen(os.dup(standard_error), "w", encoding="utf-8") as terminal:
        sys.stderr.flush()
        os.dup2(file.fileno(), standard_error)
        try:
            with one_line_errors():
                yield Console(file=terminal)
        except (SourceError, JavaEndedError) as error:
            if log.stat().st_size:
                raise type(error)(f"{error}; Spark's log: {log}") from error
            raise
        finally:
            sys.stderr.flush()
            os.dup2(terminal.fileno(), standard_error)


@contextmanager
def one_line_errors() -> Iterator[None]:
    """Turn the errors of a job, which carry tracebacks of two languages, into one line for the user."""
    logging.getLogger("py4j").setLevel(logging.CRITICAL)  # it logs a traceback for each lost connection
    try:
        yield
    except (Py4JNetworkError, ConnectionError) as error:
        raise JavaEndedError(
            "Spark's Java process ended before the job did: it was killed, or ran out of memory; "
            "run the same command again to continue"
        ) from error
    except (PySparkException, Py4JError) as error:
        raise SourceError(own_error_line(str(error))) from error


_TASK_ERROR: Final = re.compile(r"(?P<own>wireproof\.[\w.]*\.)?\w+Error: (?P<message>.+)")
"""The last line of a traceback of Python, for an error of this package or a built-in one."""


_JAVA_ERROR: Final = re.compile(r"(?:Caused by)?: [\w.$]+(?:Exception|Error): (?P<message>.+)")
"""A line of Java's trace that names an exception with its message."""


def own_error_line(text: str) -> str:
    """Return the line of an error that this package wrote, else Python, else Java; else the first line.

    Of several causes the last one is the first to have happened.
    """
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    errors = [found for found in map(_TASK_ERROR.fullmatch, lines) if found]
    own = [found["message"] for found in errors if found["own"]]
    java = [found["message"] for found in map(_JAVA_ERROR.fullmatch, lines) if found]
    found = own or [each[0] for each in errors] or java or lines[:1] or ["Spark failed without a message"]
    return found[-1]
