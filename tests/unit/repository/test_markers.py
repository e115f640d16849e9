"""`.ci/run` runs the tests that the README's test command leaves out, and each run lists the latter."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import machine
import pytest
from folders import TOP
from lanes import FULL, LANES

from wireproof.adapters.errors import AdapterStartError

pytest_plugins = "pytester"


def test_the_test_command_leaves_out_every_marker_of_the_table_and_no_other() -> None:
    options = tomllib.loads((TOP / "pyproject.toml").read_text("utf-8"))["tool"]["pytest"]["ini_options"]
    expression = options["addopts"][options["addopts"].index("-m") + 1]
    assert expression == f"not ({' or '.join(LANES)})"


def test_ci_runs_every_marker_but_those_of_the_full_run() -> None:
    script = (TOP / ".ci" / "run").read_text("utf-8")
    (together,) = re.findall(r"^lanes=\((.*)\)", script, re.MULTILINE)
    (alone,) = re.findall(r"pytest -q -m (\w+) --durations", script)
    assert {*together.split(), alone} == {name for name in LANES if name not in FULL}


def test_the_full_run_has_the_markers_that_ci_leaves_out() -> None:
    script = (TOP / ".ci" / "full").read_text("utf-8")
    assert re.findall(r"^lanes=\((.*)\)", script, re.MULTILINE) == [" ".join(FULL)]


def test_every_step_of_the_full_run_that_may_be_named_exists() -> None:
    script = (TOP / ".ci" / "full").read_text("utf-8")
    (named,) = re.findall(r"=~ \^\(([a-z|]+)\)\$", script)
    assert sorted(named.split("|")) == sorted(re.findall(r"^step_(\w+)\(\)", script, re.MULTILINE))


@pytest.mark.parametrize(
    "workers", [(), pytest.param(("-n", "1"), marks=pytest.mark.sweeps)], ids=["one-process", "a-worker"]
)
def test_a_run_ends_with_a_line_of_what_it_left_out(workers: tuple[str, ...]) -> None:
    files = [
        "tests/unit/report/test_matrix_page.py",
        "tests/unit/runner/test_exit_codes.py",
        "tests/unit/repository/test_without_java.py",
    ]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *workers, *files],
        cwd=TOP, env={**os.environ, "PYTEST_ADDOPTS": ""}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "left out: 6 tests (browser 4, spark 2); `pytest -m NAME` runs" in done.stdout
    assert "passed by marker" not in done.stdout


@pytest.mark.parametrize("workers", [(), ("-n", "1")], ids=["one-process", "a-worker"])
def test_a_run_of_markers_counts_what_passed_of_each(
    pytester: pytest.Pytester, workers: tuple[str, ...]
) -> None:
    """`.ci/run` reads that line: of each marker some test must have passed."""
    pytester.makeini(f"[pytest]\npythonpath = {TOP / 'tests' / 'support'}\n")
    pytester.makeconftest((TOP / "tests" / "conftest.py").read_text("utf-8"))
    pytester.makepyfile(
        "import pytest\n@pytest.mark.sweeps\n@pytest.mark.parametrize('number', range(3))\n"
        "def test_one(number): assert number < 2\n"
        "@pytest.mark.live\ndef test_two(): pass\n@pytest.mark.tools\ndef test_three(): pytest.skip('so')\n"
    )
    done = pytester.runpytest_subprocess(
        "-q", "-p", "no:cacheprovider", *workers, "-m", "sweeps or live or tools"
    )
    done.stdout.fnmatch_lines(["passed by marker: sweeps 2, live 1"])


# --- a tool that is missing ---


@pytest.fixture
def _nothing_on_the_path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    for name in ("CI", "JAVA_HOME", "CHROMIUM"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.usefixtures("_nothing_on_the_path")
@pytest.mark.parametrize("tool", machine.TOOLS)
def test_a_missing_tool_skips_with_what_brings_it(tool: str) -> None:
    with pytest.raises(pytest.skip.Exception, match=f"^no {tool}: install "):
        machine.need(tool)


@pytest.mark.usefixtures("_nothing_on_the_path")
@pytest.mark.parametrize("tool", machine.TOOLS)
def test_in_ci_a_missing_tool_is_a_failure(tool: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match=f"^no {tool}: install "):
        machine.need(tool)


def test_a_file_that_wants_an_extra_is_skipped_by_its_name_and_in_ci_it_is_an_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    missing = ImportError("No module named 'pyarrow.fs'; 'pyarrow' is not a package")
    monkeypatch.delenv("CI", raising=False)
    assert machine.lacking_extra(missing) == "no [columnar]: pip install -e '.[columnar]'"
    assert machine.lacking_extra(ImportError("No module named 'wireproof.nothing'")) == ""
    adapter = AdapterStartError("kafka-python cannot start")
    adapter.__cause__ = ImportError("No module named 'kafka'")
    assert machine.lacking_extra(adapter) == "no [peers]: pip install -e '.[peers]'"
    monkeypatch.setenv("CI", "true")
    assert machine.lacking_extra(missing) == ""
