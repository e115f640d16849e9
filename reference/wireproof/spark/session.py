"""A Spark session as the sources and jobs of this package need it, and the errors of its jobs in one line."""

import json
import logging
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from shutil import which
from typing import Final

from py4j.protocol import Py4JError, Py4JNetworkError
from pyspark import SparkContext
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from rich.console import Console

from wireproof.adapters.contract import Hello
from wireproof.runner.engine import Engine
from wireproof.spark.errors import JavaEndedError, SourceError

SETTINGS: Final = {
    "spark.sql.session.timeZone": "UTC",
    "spark.python.unix.domain.socket.enabled": "true",  # saves a third of the cost of a Python task
    "spark.sql.execution.pyspark.udf.faulthandler.enabled": "true",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}

LOCAL_SETTINGS: Final = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
"""Settings with which a local session listens on no other address."""

TASK_ATTEMPTS: Final = 2
"""Attempts of a task in local mode, where Spark's default is one attempt."""


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
    if active := _active_session():
        _check_settings(active, {**(conf or {}), **({"spark.master": master} if master else {})})
        return active
    if not (os.environ.get("JAVA_HOME") or which("java")):
        raise SourceError("Spark needs Java 17 or later: install it, or set JAVA_HOME to where it is")
    master = master or f"local[{os.cpu_count() or 1},{TASK_ATTEMPTS}]"
    builder = SparkSession.builder.appName(name).master(master).config(map=dict(SETTINGS))
    if master.startswith("local"):
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        builder = builder.config(map=dict(LOCAL_SETTINGS))
        # Let workers import this package from where this process did, be it a checkout.
        spec = find_spec("wireproof")
        assert spec is not None, "this module is in the package"
        assert spec.origin is not None, "the package has a file"
        folder = os.path.dirname(os.path.dirname(spec.origin))  # noqa: PTH120 - an entry of a search path
        path = os.environ.get("PYTHONPATH", "")
        if folder not in path.split(os.pathsep):
            os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [folder, path]))
    _choose_python(conf or {})
    return builder.config(map=dict(conf or {})).getOrCreate()


def _active_session() -> SparkSession | None:
    """Return the session of this thread, or else of this process; None if there is none."""
    if SparkContext._active_spark_context is None:  # noqa: SLF001 - also None after a stop, unlike the next one
        return None
    return SparkSession.getActiveSession() or SparkSession._instantiatedSession  # noqa: SLF001 - as `active()`


def _check_settings(active: SparkSession, wanted: Mapping[str, str]) -> None:
    """Raise `SourceError` if a session, which belongs to the user and is not changed, has other settings."""
    for name, value in wanted.items():
        if (found := active.conf.get(name, None)) != value:
            raise SourceError(
                f"{name} of the active session is {found}, not {value}: change it there, or stop the session"
            )


def _choose_python(conf: Mapping[str, str]) -> None:
    """Make workers use the Python of this process.

    By default a worker uses the Python in PATH, which may have neither pyarrow nor this package. Only
    `spark-submit` reads the setting; a session that is built here uses the environment variable.
    """
    if python := conf.get("spark.pyspark.python"):
        os.environ["PYSPARK_PYTHON"] = python
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)


# --- verbs on Spark ---

STANDARD_ERROR: Final = 2
"""The number of the file that every process writes its errors to."""


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
def spark_errors(log: Path) -> Iterator[Console]:
    """Send Spark's log to a file, and turn the errors of a job into one line for the user that names it.

    Yields:
        a console of standard error, for a progress bar that no line of the log breaks.

    Raises:
        SourceError: the job failed.
        JavaEndedError: Spark's Java process ended.
    """
    with _standard_error_in(log) as console:
        try:
            with one_line_errors():
                yield console
        except (SourceError, JavaEndedError) as error:
            if log.stat().st_size:
                raise type(error)(f"{error}; Spark's log: {log}") from error
            raise


@contextmanager
def _standard_error_in(log: Path) -> Iterator[Console]:
    """Let processes that start meanwhile, such as Spark's Java process, write their errors to a file.

    Java takes the standard error of the process that starts it, before it reads any setting.
    """
    with log.open("ab") as file, os.fdopen(os.dup(STANDARD_ERROR), "w", encoding="utf-8") as terminal:
        sys.stderr.flush()
        os.dup2(file.fileno(), STANDARD_ERROR)
        try:
            yield Console(file=terminal)
        finally:
            sys.stderr.flush()
            os.dup2(terminal.fileno(), STANDARD_ERROR)


@contextmanager
def one_line_errors() -> Iterator[None]:
    """Turn the errors of a job, which carry tracebacks of two languages, into one line for the user.

    Raises:
        SourceError: the job failed.
        JavaEndedError: Spark's Java process ended.
    """
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


def own_error_line(text: str) -> str:
    """Return the last line of an error of a task that this package wrote, or Python, else the first line."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    errors = [found for found in map(_TASK_ERROR.fullmatch, lines) if found]
    own = [found["message"] for found in errors if found["own"]]
    return (own or [found[0] for found in errors] or lines[:1] or ["Spark failed without a message"])[-1]
