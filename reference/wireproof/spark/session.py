"""Make a Spark session with the settings that the sources and jobs of this package need."""

import os
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from shutil import which
from typing import Final

from pyspark import SparkContext
from pyspark.sql import SparkSession

from wireproof.spark.cluster_env import PYTHON_SETTING
from wireproof.spark.errors import SourceError

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
        _share_path()
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
    if PYTHON_SETTING in conf:
        os.environ["PYSPARK_PYTHON"] = conf[PYTHON_SETTING]
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)


def _share_path() -> None:
    """Let workers import this package from where this process did, be it a checkout."""
    spec = find_spec("wireproof")
    assert spec is not None, "this module is in the package"
    assert spec.origin is not None, "the package has a file"
    folder = os.path.dirname(os.path.dirname(spec.origin))  # noqa: PTH120 - an entry of a search path
    path = os.environ.get("PYTHONPATH", "")
    if folder not in path.split(os.pathsep):
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [folder, path]))
