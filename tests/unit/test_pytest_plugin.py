"""`pytest --codec ADAPTER`, as somebody else's test run sees it. commands.md."""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import entry_points
from pathlib import Path

import pytest
from attrs import evolve
from command_line import Command, PluginRun
from goldens import load
from machine import needs

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


# --- several adapters, what is not claimed, what cannot run, what blocks others ---


@needs("[peers]")
def test_what_is_not_claimed_is_skipped_with_the_reason(plugin_run: PluginRun) -> None:
    both = ("--codec-run", "kafka.batch/v2/zstd/*", "--codec-run", "kafka.batch/v2/batch/*")
    done = plugin_run("--codec", "kio", *both, "-rs")
    assert "SKIPPED" in str(done.stdout)
    assert "PASSED" in str(done.stdout)
    assert "claims no codec:zstd" in str(done.stdout)


@needs("[peers]")
def test_a_run_that_judges_nothing_fails_with_the_reason(plugin_run: PluginRun) -> None:
    done = plugin_run("--codec", "kio", "kafka.batch/v2/zstd/bomb-of-zeros")
    assert done.ret == 1
    assert "kio: no case was judged: 1 unsupported: claims no codec:zstd" in str(done.stdout)
    both = plugin_run("--codec", "kio", "kafka.batch/v2/zstd/bomb-of-zeros", "kafka.batch/v2/batch/empty-key")
    assert (both.ret, "1 passed, 1 skipped" in str(both.stdout)) == (0, True)


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
def test_nothing_to_run_is_a_usage_error_of_one_line(
    plugin_run: PluginRun, words: tuple[str, ...], said: str
) -> None:
    done = plugin_run(*words)
    assert done.ret == 4  # pytest's own code for usage
    (line,) = [line for line in done.errlines if "wireproof" in line]
    assert said in line
    assert "Traceback" not in str(done.stdout) + str(done.stderr)
    assert "INTERNALERROR" not in str(done.stdout)


# --- base cases and what they block ---

READS_NO_NUMBERS = """
from wireproof import formats
from wireproof.adapters import Accepted, Rejected
from wireproof.wire.json_values import to_json

class Mine:
    name, version, first = "mine", "1.0", {first!r}
    revisions = {{"iggy.identifier/0.0.30": {{"ops": ["decode"]}}}}

    def decode(self, request):
        with open("asked.txt", "a") as file:
            print(len(request.data), file=file)
        if bytes(request.data[:1]) == self.first:
            raise Rejected("other", text="no numbers")
        try:
            read = formats.decode(formats.get("iggy.identifier", "0.0.30"), bytes(request.data))
        except Exception as error:
            raise Rejected(getattr(error, "cls", "other"))
        return Accepted(value=to_json(read.value), consumed=read.consumed)
"""
ENDS_ITSELF = """if bytes(request.data[:1]) == b"\\x02":
            open("begun", "w").close()
            os._exit(7)
        if False:"""
SUPPORTS_NOTHING = """
from wireproof.adapters import Unsupported

class Mine:
    name, version = "mine", "1.0"

    def decode(self, request):
        return Unsupported("not today")
"""
PASSED = re.compile("[0-9]+ passed")
BASE = "iggy.identifier/0.0.30/identifier/numeric"
BLOCKED = f"{BASE}-5-bytes"


@pytest.fixture
def mine(pytester: pytest.Pytester) -> Path:
    """The folder of an adapter that refuses each number, and so the base case of seven refusals."""
    (pytester.path / "mine.py").write_text(READS_NO_NUMBERS.format(first=b"\x01"), encoding="utf-8")
    return pytester.path


def test_a_base_case_outside_of_the_selection_is_named_and_shown_before_what_it_blocks(
    plugin_run: PluginRun, mine: Path
) -> None:
    assert (mine / "mine.py").exists()
    done = plugin_run("--codec", "py:mine:Mine", "--codec-run", f"{BASE}-*-bytes")
    text = str(done.stdout)
    first = f"blocked by {BASE}, which it does not accept either; that case is outside of the selection"
    cause = f"FAIL  {BASE}  wrong-reject"
    assert 0 < text.index(first) < text.index(cause) < text.index(f"BLOCKED {BASE}-")
    assert text.count(cause) == 1  # the cause of three items
    assert f"replay  wireproof replay {BASE} py:mine:Mine" in text


def test_a_base_case_is_shown_before_what_it_blocks(plugin_run: PluginRun, mine: Path) -> None:
    assert (mine / "mine.py").exists()
    wanted = ("--codec-run", BLOCKED, "--codec-run", "iggy.identifier/0.0.30/identifier/kind-0")
    done = plugin_run("--codec", "py:mine:Mine", *wanted, "--codec-run", BASE)
    text = str(done.stdout)
    assert text.index(f"{BASE} FAILED") < text.index(f"{BLOCKED} FAILED")
    assert f"blocked by {BASE}, which it does not accept either: see the item of that case" in text
    assert "outside of the selection" not in text


def test_an_adapter_that_does_not_start_again_fails_what_is_left(plugin_run: PluginRun, mine: Path) -> None:
    """It ends itself at the first text, and each later item says why it was not asked."""
    once = "import os\nif os.path.exists('begun'): raise ImportError('gone meanwhile')\n"
    text = (mine / "mine.py").read_text(encoding="utf-8")
    text = text.replace("if bytes(request.data[:1]) == self.first:", ENDS_ITSELF)
    (mine / "mine.py").write_text(once + text, encoding="utf-8")
    done = plugin_run("--codec", "py:mine:Mine", "--codec-run", "iggy.identifier/0.0.30/identifier/string*")
    assert "passed" not in str(done.stdout)
    assert str(done.stdout).count("gone meanwhile") > 2
    assert "Traceback" not in str(done.stdout)


# --- what pytest and its plugins make of the items ---


def test_an_id_is_an_argument_of_pytest(plugin_run: PluginRun, mine: Path) -> None:
    (mine / "test_own.py").write_text("def test_of_my_own():\n    pass\n", encoding="utf-8")
    words = ("--codec", "reference", "--codec", "py:mine:Mine")
    done = plugin_run(*words, f"reference:{ONE}", f"py:mine:Mine:{BASE}", "test_own.py")
    assert "1 failed, 2 passed" in str(done.stdout)
    done = plugin_run("--codec", "reference", ONE)
    assert "1 passed" in str(done.stdout)
    done = plugin_run("--codec", "reference", ONE, "kafka.batch/v2/crc/nosuch")
    assert done.ret == 4
    assert "no file and no item: kafka.batch/v2/crc/nosuch" in str(done.stderr)


def test_last_failed_asks_the_failures_alone(plugin_run: PluginRun, mine: Path) -> None:
    both = ("--codec-run", f"{BASE}*", "--codec-run", "iggy.identifier/0.0.30/identifier/string*")
    words = ("--codec", "py:mine:Mine", *both, "-p", "cacheprovider")
    assert "6 failed, 7 passed" in str(plugin_run(*words).stdout)
    (mine / "mine.py").write_text(READS_NO_NUMBERS.format(first=b"no byte"), encoding="utf-8")
    again = str(plugin_run(*words, "--lf").stdout)
    assert "run-last-failure: rerun previous" in again
    assert "6 passed, 7 deselected" in again


def test_each_worker_of_xdist_asks_its_own_items(plugin_run: PluginRun, mine: Path) -> None:
    words = ("--codec", "py:mine:Mine", "--codec-run", "iggy.identifier/0.0.30/identifier/string*")
    one = str(plugin_run(*words).stdout)
    alone = len((mine / "asked.txt").read_text().splitlines())
    (mine / "asked.txt").unlink()
    workers = ("-p", "xdist", "-n", "2", "--dist", "load")
    two = plugin_run(*words, *workers)
    assert PASSED.search(str(two.stdout)).group() == PASSED.search(one).group()
    assert len((mine / "asked.txt").read_text().splitlines()) <= alone + 4  # a base case may be asked twice
    done = plugin_run("--codec", "nosuch", *workers)
    assert done.ret == 4
    assert "unknown adapter nosuch" in str(done.stderr)


def test_an_adapter_without_claims_that_supports_nothing_fails_the_run(
    plugin_run: PluginRun, mine: Path
) -> None:
    (mine / "mine.py").write_text(SUPPORTS_NOTHING, encoding="utf-8")
    done = plugin_run("--codec", "py:mine:Mine", "--codec-run", f"{BASE}*")
    assert (done.ret, "no case was judged" in str(done.stdout)) == (1, True)


def test_large_cases_are_left_out_and_counted(plugin_run: PluginRun) -> None:
    words = ("--codec", "reference", "--collect-only", "--codec-run")
    done = plugin_run(*words, "iggy.poll/0.11/size*/**", "--codec-run", ONE)
    assert "wireproof: 2 large cases of reference left out: add --codec-large" in str(done.stdout)
    assert "12m" not in str(done.stdout)
    done = plugin_run(*words, "iggy.poll/0.11/size*/**", "--codec-large")
    assert "iggy.poll/0.11/size/payload-12m" in str(done.stdout)
    done = plugin_run(*words, "iggy.poll/0.11/size/payload-12m")  # an id names what it asks for
    assert "iggy.poll/0.11/size/payload-12m" in str(done.stdout)
    done = plugin_run(*words, "iggy.poll/0.11/size/payload-12*")
    assert "add --codec-large" in str(done.stderr)


# --- known failures are strict xfails ---


Known = Callable[..., str]


@pytest.fixture
def known(tmp_path: Path) -> Known:
    """Write a baseline of one entry and return its path."""

    def written(
        name: str = ONE,
        kind: str = "fail:wrong-accept",
        cls: str = "crc-mismatch",
        expires: str = "2999-01-01",
    ) -> str:
        file = tmp_path / "known.toml"
        file.write_text(
            f'[[known-failure]]\nid = "{name}"\nkind = "{kind}"\nclass = "{cls}"\n'
            f'reason = "sums are optional"\nowner = "me"\nexpires = {expires}\n',
            encoding="utf-8",
        )
        return str(file)

    return written


def test_a_known_failure_is_an_xfail_with_its_reason(plugin_run: PluginRun, known: Known) -> None:
    done = plugin_run("--codec", MUTANT, "--codec-run", ONE, "--codec-baseline", known(), "-rx")
    assert done.ret == 0, str(done.stdout) + str(done.stderr)
    assert f"{ONE} - known.toml:2: sums are optional (owner me)" in str(done.stdout)
    assert "1 xfailed" in str(done.stdout)


def test_a_case_that_passes_fails_its_item_and_names_the_entry(plugin_run: PluginRun, known: Known) -> None:
    done = plugin_run("--codec", "reference", "--codec-run", CASES, "--codec-baseline", known())
    assert done.ret == 1
    assert "1 failed, 7 passed" in str(done.stdout)
    assert (
        f"[XPASS(strict)] known.toml:2: {ONE}: passes, although its entry says fail:wrong-accept; "
        "`wireproof baseline fix known.toml RUN` removes it" in str(done.stdout)
    )


def test_an_entry_for_several_cases_has_an_item_of_its_own(
    plugin_run: PluginRun, known: Known, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite = load()
    few = tuple(case for case in suite.cases if case.id.startswith("kafka.batch/v2/batch/t"))
    monkeypatch.setattr("wireproof.pytest_run.load", lambda: evolve(suite, cases=few))
    file = known("kafka.batch/v2/batch/*~flip:*")
    words = ("--codec-families", "--codec-baseline", file)
    done = plugin_run("--codec", "reference", *words)
    assert done.ret == 1
    assert "baseline:known.toml FAILED" in str(done.stdout)
    assert "[XPASS(strict)] known.toml:2: kafka.batch/v2/batch/*~flip:*: passes" in str(done.stdout)
    part = plugin_run("--codec", "reference", *words, "--codec-run", "kafka.batch/v2/batch/two-records")
    assert "2 passed" in str(part.stdout)  # another case may fail
    failing = plugin_run("--codec", MUTANT, *words)
    assert "baseline:known.toml PASSED" in str(failing.stdout)


def test_items_fail_where_check_counts_a_failure(
    plugin_run: PluginRun, tmp_path: Path, wireproof: Command
) -> None:
    run, file = tmp_path / "run.jsonl", tmp_path / "known.toml"
    words = ("--no-families", "--run", CASES, "--out", str(run))
    assert wireproof("check", MUTANT, *words).code == 1
    assert wireproof("baseline", "add", str(file), str(run), "--owner", "me").code == 0
    assert wireproof("check", MUTANT, *words, "--baseline", str(file)).code == 0
    done = plugin_run("--codec", MUTANT, "--codec-run", CASES, "--codec-baseline", str(file))
    assert (done.ret, "6 xfailed" in str(done.stdout)) == (0, True), str(done.stdout)
    assert wireproof("check", "reference", *words, "--baseline", str(file)).code == 3
    done = plugin_run("--codec", "reference", "--codec-run", CASES, "--codec-baseline", str(file))
    assert "6 failed, 2 passed" in str(done.stdout)
