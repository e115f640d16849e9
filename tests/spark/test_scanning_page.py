"""The README's section on Spark, in the session of the tests: its commands as they stand, and its sources."""

import ast
import json
import re
import shlex
from collections.abc import Iterator
from contextlib import chdir, redirect_stdout
from io import StringIO
from pathlib import Path
from subprocess import CompletedProcess

import pytest
import readme
from document import Source
from following import WIDTH, Follower
from pyspark.sql import DataFrame, SparkSession

from wireproof.cli import group

pytestmark = pytest.mark.spark


class Here(Follower):
    """A reader whose scans run in a session that there is: one of their own would cost a virtual machine."""

    spark: SparkSession
    tried: str = ""

    def runs(self, typed: str) -> "CompletedProcess[str]":
        """`wireproof scan` in this process, by the same command; the others as ever."""
        words = shlex.split(typed)
        if words[:2] != ["wireproof", "scan"]:
            return super().runs(typed)
        with chdir(self.folder), redirect_stdout(StringIO()) as out:
            code = group.main(words[1:], standalone_mode=False)
        return CompletedProcess(words, code, out.getvalue(), "")

    def tries(self, source: Source) -> None:
        """Hold what the sources give to the ledgers of what was generated."""
        entries, records, stream = self.frames(source.text)
        kinds = {row["kind"]: row["count"] for row in entries.groupBy("kind").count().collect()}
        assert kinds == ledger(self.folder / "segments")
        assert {"offset", "timestamp", "key", "value", "headers"} <= set(records.columns)
        assert records.count() > sum(kinds.values())
        assert stream.isStreaming
        writer = stream.writeStream.format("memory").queryName("readme").trigger(availableNow=True)
        writer.start().awaitTermination(60)
        read = self.spark.sql("select * from readme where kind = 'frame'")
        assert read.count() == ledger(self.folder / "streams")["frame"]
        self.tried = source.text

    def frames(self, text: str) -> Iterator[DataFrame]:
        """What each expression is; the session's processes stand in another folder than the reader."""
        there = re.sub(r'"(segments|streams)"', rf'"{self.folder}/\1"', text)
        for statement in ast.parse(there).body:
            assert isinstance(statement, ast.Expr)
            yield eval(compile(ast.Expression(statement.value), "README.md", "eval"), {"spark": self.spark})


def test_what_the_readme_says_of_spark_is_so(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", WIDTH)
    reader = Here(tmp_path)
    reader.spark = spark
    readme.followed(readme.SPARK, reader)
    assert reader.tried


def ledger(folder: Path) -> dict[str, int]:
    """Items by kind, as they were generated."""
    found: dict[str, int] = {}
    for row in json.loads((folder / "ledger.json").read_text())["verdicts"]:
        found[row["kind"]] = found.get(row["kind"], 0) + row["count"]
    return found
