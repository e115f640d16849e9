"""`session()`: made by a Python whose environment is not activated, and where there is one already."""

import os
import re
import subprocess
import sys
from pathlib import Path

import logs
import pytest
from documentation import text_of
from machine import needs
from pyspark.sql import SparkSession

from wireproof.spark.errors import SourceError
from wireproof.spark.session import session

READS = """
spark.sparkContext.setLogLevel("WARN")
print("entries", spark.read.format("wireproof.kafka_log").load({folder!r}).count())
source = spark.readStream.format("wireproof.kafka_log").load({folder!r})
query = (
    source.writeStream.format("memory").queryName("seen").option("checkpointLocation", {checkpoint!r})
    .trigger(availableNow=True).start()
)
query.awaitTermination(120)
kinds = {{row["kind"]: row["count"] for row in spark.table("seen").groupBy("kind").count().collect()}}
print("streamed", sorted(kinds.items()))
"""


def state(spark: SparkSession) -> tuple[object, ...]:
    """Return what a session consists of: its settings, its log level, and the environment of its driver."""
    logging = spark._jvm.org.apache.logging.log4j.LogManager  # type: ignore[union-attr]
    conf = spark.sparkContext.getConf().getAll()
    return spark.conf.getAll, sorted(conf), str(logging.getRootLogger().getLevel()), dict(os.environ)


@pytest.mark.spark
def test_an_active_session_is_used_and_nothing_in_it_changes(spark: SparkSession) -> None:
    changed = {
        "spark.sql.session.timeZone": "Asia/Tokyo",
        "spark.sql.python.filterPushdown.enabled": "true",
        "spark.sql.execution.pyspark.udf.faulthandler.enabled": "false",
    }
    own = {name: str(spark.conf.get(name)) for name in changed}
    for name, text in changed.items():
        spark.conf.set(name, text)
    try:
        before = state(spark)
        for found in (session(), session("local[2,2]", conf=changed)):
            assert found.sparkContext is spark.sparkContext
            assert found.conf.get("spark.sql.session.timeZone") == "Asia/Tokyo"
        with pytest.raises(SourceError, match=r"timeZone of the active session is Asia/Tokyo, not UTC"):
            session(conf={"spark.sql.session.timeZone": "UTC"})
        with pytest.raises(SourceError, match=r"session is local\[2,2\], not yarn"):
            session("yarn")
        assert state(spark) == before
    finally:
        for name, text in own.items():
            spark.conf.set(name, text)


@pytest.mark.cluster
@needs("java")
def test_the_lines_of_the_page_find_the_sources_and_a_stream_reports_what_it_waits_for(
    tmp_path: Path,
) -> None:
    """`python3` of this PATH has no wireproof: with it Spark would answer DATA_SOURCE_NOT_FOUND."""
    entries = [logs.batch(b"one", offset) for offset in range(12)]
    entries[4] = entries[4][:8] + b"\x7f\0\0\0" + entries[4][12:]  # its size is damaged
    folder = logs.write(tmp_path / "in", a=b"".join(entries) + entries[0][:30])
    (start,) = re.findall(r"```py\n((?:(?!```).)*?)spark\.read", text_of("scanning.md"), re.DOTALL)
    script = tmp_path / "own.py"
    script.write_text(start + READS.format(folder=str(folder), checkpoint=str(tmp_path / "checkpoint")))
    environment = {name: text for name, text in os.environ.items() if not name.startswith("PYSPARK_")}
    java = Path(os.environ["JAVA_HOME"]) / "bin" if "JAVA_HOME" in os.environ else Path("/usr/bin")
    bare = tmp_path / "bin"
    bare.mkdir()
    (bare / "python3").symlink_to("/bin/false")
    environment["PATH"] = os.pathsep.join((str(bare), str(java), "/usr/bin", "/bin"))
    done = subprocess.run(
        [sys.executable, str(script)],
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
        env=environment,
    )
    assert done.returncode == 0, done.stderr
    assert "entries 13" in done.stdout
    assert "streamed [('frame', 11), ('garbage', 1)]" in done.stdout
    assert f"{folder}/a.log waits for more bytes at {12 * 71}: the entry there has 71 bytes" in done.stderr
