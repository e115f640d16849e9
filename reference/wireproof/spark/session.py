"""A Spark session as the sources and the jobs of this package want it."""

import os
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from shutil import which
from typing import Final

from pyspark.sql import SparkSession

from wireproof.spark.errors import SourceError
from wireproof.spark.shipping import PYTHON

SETTINGS: Final = {
    "spark.sql.python.filterPushdown.enabled": "true",  # sources may take filters: off by default
    "spark.sql.session.timeZone": "UTC",
    "spark.python.unix.domain.socket.enabled": "true",  # a third off the cost of a Python task
    "spark.sql.execution.pyspark.udf.faulthandler.enabled": "true",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}

LOCAL: Final = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
"""Nothing of a local session listens on other addresses."""

FAILURES: Final = 2
"""Attempts of a task in local mode, where Spark would make one."""


def session(
    master: str | None = None, name: str = "wireproof", given: Mapping[str, str] | None = None
) -> SparkSession:
    """A session on `master`, by default on all cores of this machine; `given` are further settings.

    Raises:
        SourceError: there is no Java.
    """
    if not (os.environ.get("JAVA_HOME") or which("java")):
        raise SourceError("Spark needs Java 17 or later: install it, or set JAVA_HOME to where it is")
    master = master or f"local[{os.cpu_count() or 1},{FAILURES}]"
    builder = SparkSession.builder.appName(name).master(master).config(map=dict(SETTINGS))
    if master.startswith("local"):
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        builder = builder.config(map=dict(LOCAL))
        _share_path()
    _choose_python(given or {})
    return builder.config(map=dict(given or {})).getOrCreate()


def _choose_python(given: Mapping[str, str]) -> None:
    """A worker is Python of the PATH unless told otherwise, and may know neither pyarrow nor this package.

    The setting is read by `spark-submit` alone; a session that is built here goes by the variable.
    """
    if PYTHON in given:
        os.environ["PYSPARK_PYTHON"] = given[PYTHON]
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)


def _share_path() -> None:
    """Workers find this package where this process found it, be it a checkout."""
    spec = find_spec("wireproof")
    assert spec is not None, "this module is in it"
    assert spec.origin is not None, "it has a file"
    home = os.path.dirname(os.path.dirname(spec.origin))  # noqa: PTH120 - an entry of a search path
    there = os.environ.get("PYTHONPATH", "")
    if home not in there.split(os.pathsep):
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [home, there]))
