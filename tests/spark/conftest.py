"""One Spark session for all tests that need one; it is the server of the one of Connect too."""

import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from machine import need

from tests.unit.conftest import fixtures_read_once, wireproof  # noqa: F401 - fixtures

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TOKEN = secrets.token_hex()
"""Nobody else on this machine may have code run by the server."""

CONNECT = {
    "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",
    "spark.connect.grpc.binding.address": "127.0.0.1",
    "spark.connect.grpc.binding.port": "0",
    "spark.connect.authenticate.token": TOKEN,
    "spark.sql.shuffle.partitions": "2",
}
"""The session serves Connect beside itself, so that both sorts cost one JVM; its joins are small."""

TOP = Path(__file__).parents[2]
"""The top folder of the checkout."""


@pytest.fixture(autouse=True, scope="session")
def _workers_find_the_mutants() -> Iterator[None]:
    """Let the Python workers of Spark import `tests.mutants`."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join([str(TOP), *filter(None, [os.environ.get("PYTHONPATH")])]))
        yield


@pytest.fixture(scope="session")
def classic() -> "Iterator[SparkSession]":
    """Two cores, on every machine alike."""
    need("java")
    from wireproof.spark.session import session  # noqa: PLC0415 - wants the extra `spark`

    one = session("local[2,2]", "tests", CONNECT)
    one.sparkContext.setLogLevel("OFF")
    yield one
    one.stop()


@pytest.fixture(scope="session")
def spark(classic: "SparkSession") -> "SparkSession":
    """The session of tests that want one of any sort."""
    return classic


@pytest.fixture(scope="session")
def connect_url(classic: "SparkSession") -> str:
    """The address of Spark Connect, on the loopback."""
    package = classic._jvm.org.apache.spark.sql.connect.service  # type: ignore[union-attr]
    service = getattr(getattr(package, "SparkConnectService$"), "MODULE$")  # an object of Scala
    return f"sc://localhost:{service.localPort()}/;token={TOKEN}"


@pytest.fixture(scope="session")
def connect(connect_url: str) -> Iterator[Any]:
    """A client of Spark Connect."""
    from pyspark.sql.connect.session import SparkSession as Remote  # noqa: PLC0415 - wants the extra `connect`

    one = Remote.builder.remote(connect_url).create()
    yield one
    one.client.close()
