"""Make a Spark session with the settings that the sources and jobs of this package need."""

import os
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from shutil import which
from typing import Final

from pyspark.sql import SparkSession

from wireproof.spark.cluster_env import PYTHON_SETTING
from wireproof.spark.errors import SourceError

SETTINGS: Final = {
    "spark.sql.python.filterPushdown.enabled": "true",  # lets sources take filters; off by default
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
    """Return a session on `master`, by default on all cores of this machine.

    `conf` are further settings.

    Raises:
        SourceError: Java was not found.
    """
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
