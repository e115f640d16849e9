"""Data directories of a broker that six clients wrote: `explain` prints what Kafka's own tool prints."""

import subprocess
import sys
from pathlib import Path

import pytest
from folders import TESTS
from machine import needs

pytestmark = [pytest.mark.brokers, needs("java", "mvn", "go", "node", "[peers]")]

BROKER = TESTS / "broker"


def run(script: str, *arguments: object) -> str:
    """What a script of `tests/broker` prints; raises `CalledProcessError`."""
    command = [sys.executable, str(BROKER / script), *map(str, arguments)]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def test_explain_names_every_byte_of_a_broker_and_prints_what_kafkas_tool_prints(tmp_path: Path) -> None:
    run("data_directory.py", "--out", tmp_path)
    out = run("compare_explain.py", tmp_path / "killed", tmp_path / "stopped")
    first, *_, fields = out.splitlines()
    _, size, named = (int(word) for word in first.split() if word.isdecimal())
    assert size == named > 0, out
    assert " 0 different" in fields, out
