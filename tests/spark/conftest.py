"""One Spark session for all tests that need one; it is the server of the one of Connect too."""

import os
import secrets
import sys
from collections.abc import Generator, Iterator
from pathlib import Path
from shutil import which
from typing import Any

import pytest
from pyspark.sql import SparkSession

from wireproof.spark.session import session

sys.path.insert(0, str(Path(__file__).parents[1] / "unit"))  # logs and their bytes

NO_JAVA = "no Java: the Spark tests need Java 17 (apt install openjdk-17-jre-headless, or set JAVA_HOME)"

TOKEN = secrets.token_hex()
"""Nobody else on this machine may have code run by the server."""

CONNECT = {
    "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",
    "spark.connect.grpc.binding.address": "127.0.0.1",
    "spark.connect.grpc.binding.port": "0",
    "spark.connect.authenticate.token": TOKEN,
}
"""The session serves Connect beside itself, so that both sorts cost one JVM."""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """All that is skipped for want of Java is one line of the summary, which folds what is of one place."""
    report = yield
    if isinstance(report.longrepr, tuple) and NO_JAVA in report.longrepr[2]:
        report.longrepr = (__file__, 1, report.longrepr[2])
    return report


@pytest.fixture(scope="session")
def java() -> None:
    """Java is there; without it tests are skipped, which in CI is a failure."""
    if not (os.environ.get("JAVA_HOME") or which("java")):
        if os.environ.get("CI") == "true":
            pytest.fail(NO_JAVA)
        pytest.skip(NO_JAVA)  # nothing of Spark runs without Java; in CI the line above fails instead


@pytest.fixture(scope="session")
def classic(java: None) -> Iterator[SparkSession]:  # noqa: ARG001 - it is asked for so that it looks
    """Two cores, on every machine alike."""
    one = session("local[2,2]", "tests", CONNECT)
    one.sparkContext.setLogLevel("OFF")
    yield one
    one.stop()


@pytest.fixture(scope="session")
def spark(classic: SparkSession) -> SparkSession:
    """The session of tests that want one of any sort."""
    return classic


@pytest.fixture(scope="session")
def connect(classic: SparkSession) -> Iterator[Any]:
    """A client of Spark Connect, over loopback."""
    from pyspark.sql.connect.session import SparkSession as Remote  # noqa: PLC0415 - wants the extra `connect`

    package = classic._jvm.org.apache.spark.sql.connect.service  # type: ignore[union-attr]
    service = getattr(getattr(package, "SparkConnectService$"), "MODULE$")  # an object of Scala
    one = Remote.builder.remote(f"sc://localhost:{service.localPort()}/;token={TOKEN}").create()
    yield one
    one.client.close()
