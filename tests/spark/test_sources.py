"""The sources in a classic session and over Connect: found by name, exact, narrow, used again, once."""

import json
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import logs
import pytest
from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.testing import assertDataFrameEqual, assertSchemaEqual

from pyspark_wireproof_kafka_log import DefaultSource as KafkaLog
from wireproof import formats
from wireproof.heka.suite.spark_source import HEKA
from wireproof.iggy.suite.spark_source import IGGY
from wireproof.kafka.suite.spark_reader import KAFKA
from wireproof.spark.logs.split_points import StreamFraming
from wireproof.wire.options import DEFAULT_OPTIONS, Options

BATCHES = b"".join(logs.batch(bytes([offset % 251]) * 4000, offset) for offset in range(2000))
DAMAGED = BATCHES[:3_000_000] + BATCHES[3_000_100:]


@pytest.fixture(params=["classic", pytest.param("connect", marks=pytest.mark.spark)])
def spark(request: pytest.FixtureRequest) -> SparkSession:
    """Each test twice: in the process of the driver, and as a client of a server."""
    found: SparkSession = request.getfixturevalue(request.param)
    return found


def read(spark: SparkSession, path: Path | str, kind: str = "kafka_log", **options: Any) -> DataFrame:
    return spark.read.format(f"wireproof.{kind}").options(**options).load(str(path))


def whole(
    framing: StreamFraming, data: bytes, options: Options = DEFAULT_OPTIONS
) -> Counter[tuple[Any, ...]]:
    """The items as the reference scans them, in one piece."""
    items = formats.scan(framing.fmt, [data], options)
    return Counter((item.at, item.length, item.kind, item.cls) for item in items)


def found(frame: DataFrame) -> Counter[tuple[Any, ...]]:
    return Counter(tuple(row) for row in frame.select("position", "length", "kind", "fault").collect())


@pytest.mark.spark
def test_a_damaged_log_in_many_tasks_gives_the_items_of_the_whole(
    spark: SparkSession, tmp_path: Path
) -> None:
    logs.write(tmp_path, a=DAMAGED)
    frame = read(spark, tmp_path, tasks=4)
    assert frame.selectExpr("spark_partition_id() AS task").distinct().count() >= 4
    rows = found(frame)
    assert rows == whole(KAFKA, DAMAGED)
    assert {kind for _, _, kind, _ in rows} == {"frame", "garbage"}
    assert sum(length for _, length, *_ in rows.elements()) == len(DAMAGED)


@pytest.mark.spark
def test_a_log_with_an_odd_name_is_read_by_the_options_of_files_in_tasks_by_bytes(
    spark: SparkSession, tmp_path: Path
) -> None:
    logs.write(tmp_path / "a b=%20é", a=DAMAGED, b=DAMAGED)
    rows = read(spark, f"file:{tmp_path}/a b=%20é", pathGlobFilter="a.*", maxPartitionBytes="1m", tasks=1)
    assert rows.selectExpr("spark_partition_id() AS task").distinct().count() >= 6
    assert found(rows) == whole(KAFKA, DAMAGED)


@pytest.mark.spark
def test_heka_and_iggy_have_sources_too(spark: SparkSession, tmp_path: Path) -> None:
    heka = logs.heka_frame(b"a") + b"??" + logs.heka_frame(b"b") + b"\x1e\x02"
    iggy = logs.stored_30(1, b"abc") + logs.stored_30(2, b"abc")[:-2]
    logs.write(tmp_path / "heka", a=heka)
    logs.write(tmp_path / "iggy", a=iggy)
    assert found(read(spark, tmp_path / "heka", "heka_stream")) == whole(HEKA, heka)
    assert found(read(spark, tmp_path / "iggy", "iggy_log", revision="0.0.30")) == whole(IGGY["0.0.30"], iggy)


def test_records_are_rows_with_key_value_and_headers(spark: SparkSession, tmp_path: Path) -> None:
    logs.write(tmp_path, a=logs.embedded())
    frame = read(spark, tmp_path, rows="records").select("position", "offset", "key", "value", "headers")
    inside = b"<" + logs.batch(b"inside", 900) + b">"
    wanted = [(0, 0, None, b"one", []), (71, 1, None, inside, []), (217, 2, None, b"two", [])]
    assertDataFrameEqual(frame, spark.createDataFrame(wanted, frame.schema))


@pytest.mark.spark
def test_a_narrow_schema_is_honoured_in_its_own_order(spark: SparkSession, tmp_path: Path) -> None:
    logs.write(tmp_path, a=logs.embedded())
    frame = spark.read.format("wireproof.kafka_log").schema("raw binary, position bigint").load(str(tmp_path))
    data = logs.embedded()
    wanted = [(bytearray(data[a:b]), a) for a, b in ((0, 71), (71, 217), (217, 288))]
    assert [tuple(row) for row in frame.orderBy("position").collect()] == wanted
    assert "raw" not in read(spark, tmp_path).columns
    assert "raw" in read(spark, tmp_path, raw="true").columns
    assert [row.position for row in read(spark, tmp_path, positions="1:217").collect()] == [71]


@pytest.fixture(params=["false", "true"], ids=["default", "pushdown"])
def pushdown(request: pytest.FixtureRequest, spark: SparkSession) -> Iterator[None]:
    """The session as it is by default, and with the setting that lets a source of Python take filters."""
    name = "spark.sql.python.filterPushdown.enabled"
    spark.conf.set(name, request.param)
    yield
    spark.conf.unset(name)


@pytest.mark.spark
@pytest.mark.usefixtures("pushdown")
def test_a_frame_that_is_used_again_has_the_counts_of_a_reader_without_spark(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Spark 4.1 to 4.3.0 keep a filter that a source took for all queries of the DataFrame."""
    data = BATCHES[:200_000] + BATCHES[200_100:600_000]
    logs.write(tmp_path, a=data)
    rows = [(at, kind) for at, _, kind, _ in whole(KAFKA, data).elements()]
    garbage = [at for at, kind in rows if kind == "garbage"]
    late = [at for at, _ in rows if at >= 200_000]
    both = set(garbage) & set(late)
    assert 0 < len(both) < len(garbage) < len(late) < len(rows)
    frame = read(spark, tmp_path)
    few, behind = frame.where("kind = 'garbage'"), frame.where("position >= 200000")
    kept = behind.select("position").cache()
    parts = {
        "all": (frame, len(rows)),
        "few": (few, len(garbage)),
        "all again": (frame, len(rows)),
        "others": (behind, len(late)),
        "union": (few.union(frame), len(garbage) + len(rows)),
        "join": (frame.join(few, "position"), len(garbage)),
        "self-join": (frame.alias("a").join(frame.alias("b"), "position"), len(rows)),
        "cached": (kept, len(late)),
        "part of what is cached": (kept.join(few, "position"), len(both)),
        "at last": (frame, len(rows)),
    }
    found = {name: part.count() for name, (part, _) in parts.items()}
    kept.unpersist()
    assert found == {name: count for name, (_, count) in parts.items()}


@pytest.mark.spark
@pytest.mark.parametrize(
    ("options", "schema", "text"),
    [
        ({"path": "/nothing/there"}, None, "/nothing/there: not found"),
        ({}, "position string", "column position has type bigint, not string"),
        ({}, None, "no path"),
    ],
)
def test_a_mistake_is_named(
    spark: SparkSession, options: dict[str, str], schema: str | None, text: str
) -> None:
    reader = spark.read.format("wireproof.kafka_log").options(**options)
    if schema is not None:
        reader = reader.schema(schema)
    with pytest.raises((AnalysisException, PySparkException), match=text):
        reader.load().count()


@pytest.mark.spark
def test_the_schema_is_the_one_that_is_declared(spark: SparkSession, tmp_path: Path) -> None:
    logs.write(tmp_path, a=logs.embedded())
    assertSchemaEqual(read(spark, tmp_path).schema, KafkaLog({"path": "x"}).schema())


# --- streams ---


def stream(spark: SparkSession, logs_at: Path, room: Path, **options: Any) -> list[tuple[Any, ...]]:
    """Take what is available into a table of files, and give all of its rows."""
    source = spark.readStream.format("wireproof.kafka_log").options(**options).load(str(logs_at))
    query = (
        source.select("path", "position", "length", "kind", "fault")
        .writeStream.format("parquet")
        .option("checkpointLocation", str(room / "checkpoint"))
        .option("path", str(room / "table"))
        .trigger(availableNow=True)
        .start()
    )
    assert query.awaitTermination(120)
    assert query.exception() is None
    steps = [progress["numInputRows"] for progress in query.recentProgress]
    size = sum(path.stat().st_size for path in logs_at.iterdir())
    available = query.recentProgress[-1]["sources"][0]["latestOffset"]
    assert (json.loads(available) if isinstance(available, str) else available)["bytes"] == size
    if "maxBytesPerTrigger" in options:
        assert len(steps) > 2, "the backlog is cut into steps"
    return [tuple(row) for row in spark.read.parquet(str(room / "table")).collect()]


@pytest.mark.spark
def test_a_growing_log_is_streamed_once_across_a_torn_tail(spark: SparkSession, tmp_path: Path) -> None:
    data = DAMAGED[:3_400_000]
    short = {
        "max_message": 10_000
    }  # else damage could be the beginning of an entry of 33 MB, and waits for it
    for size, limit in ((1_000_000, {"maxBytesPerTrigger": 300_000}), (3_100_000, {}), (len(data), {})):
        logs.write(tmp_path / "in", a=data[:size])
        rows = stream(spark, tmp_path / "in", tmp_path, **short, **limit)
        assert len(rows) == len(set(rows)), "no row twice"
        assert sum(row[2] for row in rows) <= size
    wanted = whole(KAFKA, data, Options(max_message=10_000))
    [tail] = [item for item in wanted if item[2] == "tail"]
    assert Counter(row[1:] for row in rows) == wanted - Counter([tail])


@pytest.mark.spark
def test_a_stream_that_runs_takes_what_is_appended(spark: SparkSession, tmp_path: Path) -> None:
    log = logs.write(tmp_path / "in", a=logs.embedded()[:100]) / "a.log"
    source = spark.readStream.format("wireproof.kafka_log").load(str(tmp_path / "in"))
    sink = source.writeStream.format("memory").queryName("appended")
    query = sink.trigger(processingTime="200 milliseconds").start()
    try:
        with log.open("ab") as out:
            out.write(logs.embedded()[100:])
        deadline = time.monotonic() + 60
        while spark.table("appended").count() < 3:
            assert query.exception() is None
            assert time.monotonic() < deadline, f"three rows, not {spark.table('appended').collect()}"
            time.sleep(0.1)
    finally:
        query.stop()
    assert sorted(row.position for row in spark.table("appended").collect()) == [0, 71, 217]
