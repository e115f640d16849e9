"""The commands and data sources of scanning.md, in the session of the tests."""

import ast
import json
import re
import shlex
from collections.abc import Iterator
from contextlib import chdir, redirect_stdout
from io import StringIO
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest
from document_runner import WIDTH, Follower
from documentation import SCANNING, Section, follow, sections, steps_of
from markdown_commands import Source
from pyspark.sql import DataFrame, SparkSession

from wireproof.cli import group

pytestmark = pytest.mark.spark


OWN_SESSION = ["from wireproof.spark.session import session", "spark = session()"]
"""Statements that `test_own_session.py` runs; here there is a session already."""


class Here(Follower):
    """A reader whose scans run in a session that there is: one of their own would cost a virtual machine."""

    spark: SparkSession

    def runs(self, typed: str) -> "CompletedProcess[str]":
        """`wireproof scan` in this process, by the same command; the others as ever."""
        words = shlex.split(typed)
        if words[:2] != ["wireproof", "scan"]:
            return super().runs(typed)
        with chdir(self.folder), redirect_stdout(StringIO()) as out:
            code = group.main(words[1:], standalone_mode=False)
        return CompletedProcess(words, code, out.getvalue(), "")

    def tries(self, source: Source) -> None:
        """Check the rows of the sources against the manifests of what was generated."""
        if "import wireproof.spark" in source.text:
            self.notebook(source.text)
            return
        entries, records, stream = self.frames(source.text)
        kinds = {row["kind"]: row["count"] for row in entries.groupBy("kind").count().collect()}
        assert kinds == manifest(self.folder / "segments")
        assert {"offset", "timestamp", "key", "value", "headers"} <= set(records.columns)
        assert records.count() > sum(kinds.values())
        assert stream.isStreaming
        writer = stream.writeStream.format("memory").queryName("scanning").trigger(availableNow=True)
        writer.start().awaitTermination(60)
        read = self.spark.sql("select * from scanning where kind = 'frame'")
        assert read.count() == manifest(self.folder / "streams")["frame"]

    def notebook(self, text: str) -> None:
        """Run the cell of a notebook, and check what it computes last."""
        there = ast.parse(text.replace('"segments"', f'"{self.folder}/segments"'))
        names: dict[str, Any] = {"spark": self.spark}
        exec(compile(there, SCANNING, "exec"), names)
        wanted = manifest(self.folder / "segments")
        assert names["tables"].files.count() > 0
        assert names["tables"].frames.filter("kind = 'frame'").count() == wanted["frame"]
        assert names["sound"].records.count() > wanted["frame"]
        assert names["sound"].lost.count() == sum(wanted.values()) - wanted["frame"]
        names["tables"].rows.unpersist()

    def frames(self, text: str) -> Iterator[DataFrame]:
        """Return the value of each expression; the processes of the session run in another folder."""
        there = re.sub(r'"(segments|streams)"', rf'"{self.folder}/\1"', text)
        first, second, *rest = ast.parse(there).body
        assert [ast.unparse(first), ast.unparse(second)] == OWN_SESSION
        for statement in rest:
            assert isinstance(statement, ast.Expr)
            yield eval(compile(ast.Expression(statement.value), "scanning.md", "eval"), {"spark": self.spark})


@pytest.mark.parametrize("section", sections(SCANNING), ids=str)
def test_the_commands_and_the_sources_of_a_section_do_what_it_says(
    section: Section, spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", WIDTH)
    reader = Here(tmp_path)
    reader.spark = spark
    follow(section, reader)
    sources = [step for step in steps_of(SCANNING) if isinstance(step, Source) and not step.name]
    assert len(sources) == 2
    for source in sources:
        reader.tries(source)


def manifest(folder: Path) -> dict[str, int]:
    """Items by kind, as they were generated."""
    found: dict[str, int] = {}
    for row in json.loads((folder / "manifest.json").read_text())["verdicts"]:
        found[row["kind"]] = found.get(row["kind"], 0) + row["count"]
    return found
