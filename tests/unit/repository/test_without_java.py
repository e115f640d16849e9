"""Without Java the tests of Spark say so in one line, and in CI they fail. Needs no Java itself."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from folders import TESTS, TOP

pytestmark = pytest.mark.spark


@pytest.mark.parametrize(("ci", "code", "word"), [("", 0, "SKIPPED"), ("true", 1, "ERROR")])
def test_spark_tests_without_java_are_skipped_with_a_line_and_fail_in_ci(
    tmp_path: Path, ci: str, code: int, word: str
) -> None:
    told = {name: text for name, text in os.environ.items() if name not in {"JAVA_HOME", "CI"}}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "not cluster",
         str(TESTS / "spark" / "test_scan.py")],
        capture_output=True, text=True, check=False, timeout=300, cwd=TOP,
        env={**told, "PATH": str(tmp_path), "CI": ci},
    )  # fmt: skip
    assert done.returncode == code, done.stdout + done.stderr
    lines = [line for line in done.stdout.splitlines() if line.startswith(word)]
    assert all("no java: install Java 17 (apt-get install" in line for line in lines)
    if ci:
        assert len(lines) >= 3, "each of them fails"
    else:
        assert len(lines) == 1, "what is skipped is told in one line"
    assert "passed" not in done.stdout
