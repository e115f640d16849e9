"""The README's section on Spark: its commands as they stand, its sources in the session of the tests."""

import ast
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import readme
from pyspark.sql import DataFrame, SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.slow]  # its scan starts a virtual machine of its own


def test_what_the_readme_says_of_spark_is_so(spark: SparkSession, tmp_path: Path) -> None:
    tried: list[readme.Source] = []
    readme.followed(readme.SPARK, tmp_path, tried.append)
    (source,) = tried
    entries, records, stream = frames(source.text.replace('load("', f'load("{tmp_path}/'), spark)
    kinds = entries.groupBy("kind").count().collect()
    assert {row["kind"]: row["count"] for row in kinds} == ledger(tmp_path / "segments")
    assert records.columns[:5] == ["offset", "timestamp", "key", "value", "headers"]
    assert records.count() > entries.count()
    assert stream.isStreaming
    query = stream.writeStream.format("memory").queryName("readme").trigger(availableNow=True).start()
    query.awaitTermination(60)
    read = spark.sql("select * from readme where kind = 'frame'")
    assert read.count() == ledger(tmp_path / "streams")["frame"]


def frames(text: str, spark: SparkSession) -> Iterator[DataFrame]:
    """What each expression of the block is."""
    for statement in ast.parse(text).body:
        assert isinstance(statement, ast.Expr)
        yield eval(compile(ast.Expression(statement.value), "README.md", "eval"), {"spark": spark})


def ledger(folder: Path) -> dict[str, int]:
    """Items by kind, as they were generated."""
    found: dict[str, int] = {}
    for row in json.loads((folder / "ledger.json").read_text())["verdicts"]:
        found[row["kind"]] = found.get(row["kind"], 0) + row["count"]
    return found
