"""The other way to scan with Spark: the bytes go through the JVM to Python, and are judged there.

What is done with them is what a scan does: checksum and walk of all records, by the same kernels.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from wireproof.kafka import columnar

COUNTED = "entries long"


def entries_of_rows(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The entries of rows of raw bytes, judged; those of a batch are adjacent."""
    for batch in batches:
        _, ends, data = batch.column(0).buffers()
        at = memoryview(ends).cast("i")[batch.column(0).offset :]
        yield _counted(memoryview(data)[at[0] : at[batch.num_rows]])


def entries_of_files(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The entries of whole files, judged."""
    for batch in batches:
        for file in batch.column(0):
            yield _counted(memoryview(file.as_buffer()))


def _counted(data: memoryview) -> pa.RecordBatch:
    frames = columnar.scan(data)
    return pa.RecordBatch.from_pydict({"entries": [int((frames.kind == columnar.FRAME).sum())]})


def rows(spark: SparkSession, folder: Path) -> DataFrame:
    """The source of this package with its raw bytes."""
    frames = spark.read.format("wireproof.kafka_log").option("raw", "true").load(str(folder))
    return frames.select("raw").mapInArrow(entries_of_rows, COUNTED)


def files(spark: SparkSession, folder: Path) -> DataFrame:
    """Spark's own source of whole files."""
    spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "1")  # a file each is more than enough
    contents = spark.read.format("binaryFile").load(f"{folder}/*.log")
    return contents.select("content").mapInArrow(entries_of_files, COUNTED)


def entries(frame: DataFrame) -> int:
    """How many are sound."""
    return sum(row.entries for row in frame.collect())
