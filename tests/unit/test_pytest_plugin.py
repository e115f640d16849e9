"""`pytest --codec ADAPTER`, as somebody else's test run sees it. commands.md."""

import os
import shlex
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest
from command_line import PluginRun

import wireproof
from tests.mutants.registry import spec_of

pytest_plugins = "pytester"

PACKAGE = str(Path(wireproof.__file__).parents[1])
MUTANT = spec_of("mutant:crc-skip")
ONE = "kafka.batch/v2/crc/zero"
CASES = "kafka.batch/v2/crc/*"
LOADED = any(point.name == "wireproof" for point in entry_points(group="pytest11"))
PLUGIN = () if LOADED else ("-p", "wireproof.pytest_plugin")

OWN = "def test_of_my_own():\n    pass\n"
IMPORTED = """
import sys

def test_what_is_imported():
    names = {name for name in sys.modules if name.split(".")[0] in ("wireproof", "attrs", "rich")}
    assert names == {"wireproof", "wireproof.pytest_plugin"}
"""


def started(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    (folder / "pytest.ini").touch()
    return subprocess.run(
        [sys.executable, "-m", "pytest", *PLUGIN, "-p", "no:cacheprovider", "-v", *words],
        cwd=folder, env={**os.environ, "PYTHONPATH": PACKAGE}, capture_output=True, text=True, check=False,
        timeout=120,
    )  # fmt: skip


def test_one_item_a_case_named_as_the_case(plugin_run: PluginRun) -> None:
    done = plugin_run("--codec", "reference", "--codec-run", CASES)
    assert done.ret == 0, str(done.stdout) + str(done.stderr)
    assert f"{ONE} PASSED" in str(done.stdout)
    assert "8 passed" in str(done.stdout)


def test_the_items_stand_beside_the_tests_of_the_project(
    plugin_run: PluginRun, pytester: pytest.Pytester
) -> None:
    pytester.mkdir("tests")
    (pytester.path / "tests" / "test_own.py").write_text(OWN, encoding="utf-8")
    done = plugin_run("tests", "--codec", "reference", "--codec-run", CASES)
    assert "test_of_my_own PASSED" in str(done.stdout)
    assert "9 passed" in str(done.stdout)
    chosen = plugin_run("tests", "--codec", "reference", "--codec-run", CASES, "-k", "zero")
    assert "1 passed, 8 deselected" in str(chosen.stdout)


def test_a_failing_case_shows_its_block_and_no_traceback(plugin_run: PluginRun) -> None:
    done = plugin_run("--codec", MUTANT, "--codec-run", CASES)
    assert done.ret == 1
    assert f"{ONE} FAILED" in str(done.stdout)
    assert "want    refuse crc-mismatch at 17" in str(done.stdout)
    assert f"replay  wireproof replay {ONE} {shlex.quote(MUTANT)}" in str(done.stdout)
    assert "runtest" not in str(done.stdout)
    assert "Traceback" not in str(done.stdout)


def test_nothing_is_imported_until_it_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "test_imports.py").write_text(IMPORTED, encoding="utf-8")
    done = started(tmp_path, "-p", "no:hypothesispytest", "-p", "no:benchmark")
    assert "1 passed" in done.stdout, done.stdout


def test_a_project_may_have_options_called_seed_and_property(
    plugin_run: PluginRun, pytester: pytest.Pytester
) -> None:
    pytester.makeconftest(
        "def pytest_addoption(parser):\n"
        "    for name in ('--seed', '--property', '--run', '--baseline', '--level'):\n"
        "        parser.addoption(name)\n"
    )
    done = plugin_run("--codec", "reference", "--codec-run", ONE)
    assert done.ret == 0, str(done.stdout) + str(done.stderr)
    assert "1 passed" in str(done.stdout)
