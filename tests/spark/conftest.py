"""One Spark session for all tests that need one."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from shutil import which

import pytest

from wireproof.spark.session import session

sys.path.insert(0, str(Path(__file__).parents[1] / "unit"))  # logs and their bytes

NO_JAVA = "no Java: the Spark tests need Java 17 (apt install openjdk-17-jre-headless, or set JAVA_HOME)"


@pytest.fixture(scope="session")
def spark() -> Iterator[object]:
    """Two cores, on every machine alike; skipped without Java, which in CI is a failure."""
    if not (os.environ.get("JAVA_HOME") or which("java")):
        if os.environ.get("CI") == "true":
            pytest.fail(NO_JAVA)
        pytest.skip(NO_JAVA)  # nothing of Spark runs without Java; in CI the line above fails instead
    one = session("local[2,2]", "tests")
    one.sparkContext.setLogLevel("OFF")
    yield one
    one.stop()
