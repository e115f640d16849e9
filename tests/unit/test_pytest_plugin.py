"""`pytest --codec ADAPTER`, as somebody else's test run sees it. commands.md."""

import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import entry_points
from pathlib import Path

import pytest
from goldens import load
from machine import needs

import wireproof
import wireproof.pytest_run  # before the first run here, which forgets what it was the first to import
import wireproof.runner.summaries
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
    names = {name for name in sys.modules if name.split(".")[0] in ("wireproof", "attrs", "cattrs", "rich")}
    assert names == {"wireproof", "wireproof.pytest_plugin"}
"""


Run = Callable[..., pytest.RunResult]


@pytest.fixture
def run(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Pytest in an empty folder, in this process: to start one costs more than to run what is asked."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setattr("wireproof.pytest_run.load", load)  # the fixtures are read once for all tests
    pytester.makeini("[pytest]\n")

    def run(*words: str) -> pytest.RunResult:
        return pytester.runpytest_inprocess(
            "-p", "wireproof.pytest_plugin", "-p", "no:cacheprovider", "-v", *words
        )

    return run


def started(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    (folder / "pytest.ini").touch()
    return subprocess.run(
        [sys.executable, "-m", "pytest", *PLUGIN, "-p", "no:cacheprovider", "-v", *words],
        cwd=folder, env={**os.environ, "PYTHONPATH": PACKAGE}, capture_output=True, text=True, check=False,
        timeout=120,
    )  # fmt: skip


def test_one_item_a_case_named_as_the_case(run: Run) -> None:
    done = run("--codec", "reference", "--codec-run", CASES)
    assert done.ret == 0, str(done.stdout) + str(done.stderr)
    assert f"{ONE} PASSED" in str(done.stdout)
    assert "8 passed" in str(done.stdout)


def test_the_items_stand_beside_the_tests_of_the_project(run: Run, pytester: pytest.Pytester) -> None:
    pytester.mkdir("tests")
    (pytester.path / "tests" / "test_own.py").write_text(OWN, encoding="utf-8")
    done = run("tests", "--codec", "reference", "--codec-run", CASES)
    assert "test_of_my_own PASSED" in str(done.stdout)
    assert "9 passed" in str(done.stdout)
    chosen = run("tests", "--codec", "reference", "--codec-run", CASES, "-k", "zero")
    assert "1 passed, 8 deselected" in str(chosen.stdout)


def test_a_failing_case_shows_its_block_and_no_traceback(run: Run) -> None:
    done = run("--codec", MUTANT, "--codec-run", CASES)
    assert done.ret == 1
    assert f"{ONE} FAILED" in str(done.stdout)
    assert "want    refuse crc-mismatch at 17" in str(done.stdout)
    assert f"replay  wireproof replay {ONE} {shlex.quote(MUTANT)}" in str(done.stdout)
    assert "runtest" not in str(done.stdout)
    assert "Traceback" not in str(done.stdout)


@needs("[peers]")
def test_what_is_not_claimed_is_skipped_with_the_reason(run: Run) -> None:
    both = ("--codec-run", "kafka.batch/v2/zstd/*", "--codec-run", "kafka.batch/v2/batch/*")
    done = run("--codec", "kio", *both, "-rs")
    assert "SKIPPED" in str(done.stdout)
    assert "PASSED" in str(done.stdout)
    assert "claims no codec:zstd" in str(done.stdout)


@needs("[peers]")
def test_a_run_that_judges_nothing_fails_each_item_with_the_reason(run: Run) -> None:
    done = run("--codec", "kio", "--codec-run", "kafka.batch/v2/zstd/bomb-of-zeros")
    assert done.ret == 1
    assert "kio: no case was judged: 1 unsupported: claims no codec:zstd" in str(done.stdout)


def test_the_ids_distinguish_several_adapters(run: Run) -> None:
    done = run("--codec", "reference", "--codec", MUTANT, "--codec-run", ONE)
    assert f"reference:{ONE} PASSED" in str(done.stdout)
    assert f"{MUTANT}:{ONE} FAILED" in str(done.stdout)


def test_known_failures_pass_by_their_baseline(run: Run, tmp_path: Path) -> None:
    known_failures = tmp_path / "known.toml"
    known_failures.write_text(
        f'[[known-failure]]\nid = "{ONE}"\nkind = "fail:wrong-accept"\nclass = "crc-mismatch"\n'
        'reason = "a test"\nowner = "me"\nexpires = 2999-01-01\n',
        encoding="utf-8",
    )
    done = run("--codec", MUTANT, "--codec-run", ONE, "--codec-baseline", str(known_failures))
    assert "1 passed" in str(done.stdout), str(done.stdout) + str(done.stderr)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--codec", "nosuch"), "unknown adapter nosuch"),
        (("--codec", "reference", "--codec-run", "nosuch/**"), "no case matches nosuch/**"),
        pytest.param(
            ("--codec", "kio", "--codec-run", "iggy.poll/**"), "no case for kio", marks=needs("[peers]")
        ),
        (("--codec", "exec:/no/such/program"), "/no/such/program"),
        (("--codec", "reference", "--codec-baseline", "/no/such/file"), "/no/such/file"),
    ],
)
def test_nothing_to_run_is_a_usage_error_of_one_line(run: Run, words: tuple[str, ...], said: str) -> None:
    done = run(*words)
    assert done.ret == 4  # pytest's own code for usage
    (line,) = [line for line in done.errlines if "wireproof" in line]
    assert said in line
    assert "Traceback" not in str(done.stdout) + str(done.stderr)
    assert "INTERNALERROR" not in str(done.stdout)


def test_nothing_is_imported_until_it_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "test_imports.py").write_text(IMPORTED, encoding="utf-8")
    done = started(tmp_path, "-p", "no:hypothesispytest", "-p", "no:benchmark")
    assert "1 passed" in done.stdout, done.stdout


def test_a_project_may_have_options_called_seed_and_property(run: Run, pytester: pytest.Pytester) -> None:
    pytester.makeconftest(
        "def pytest_addoption(parser):\n"
        "    for name in ('--seed', '--property', '--run', '--baseline', '--level'):\n"
        "        parser.addoption(name)\n"
    )
    done = run("--codec", "reference", "--codec-run", ONE)
    assert done.ret == 0, str(done.stdout) + str(done.stderr)
    assert "1 passed" in str(done.stdout)
