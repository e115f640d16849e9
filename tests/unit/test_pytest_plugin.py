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
from command_line import Command
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


def test_one_item_a_case_named_as_the_case(plugin_run: Command) -> None:
    done = plugin_run("--codec", "reference", "--codec-run", CASES, code=0)
    assert f"{ONE} PASSED" in done.out
    assert "8 passed" in done.out


def test_the_items_stand_beside_the_tests_of_the_project(
    plugin_run: Command, pytester: pytest.Pytester
) -> None:
    pytester.mkdir("tests")
    (pytester.path / "tests" / "test_own.py").write_text(OWN, encoding="utf-8")
    done = plugin_run("tests", "--codec", "reference", "--codec-run", CASES)
    assert "test_of_my_own PASSED" in done.out
    assert "9 passed" in done.out
    chosen = plugin_run("tests", "--codec", "reference", "--codec-run", CASES, "-k", "zero")
    assert "1 passed, 8 deselected" in chosen.out


def test_a_failing_case_shows_its_block_and_no_traceback(plugin_run: Command) -> None:
    done = plugin_run("--codec", MUTANT, "--codec-run", CASES, code=1)
    assert f"{ONE} FAILED" in done.out
    assert "want    refuse crc-mismatch at 17" in done.out
    assert f"replay  wireproof replay {ONE} {shlex.quote(MUTANT)}" in done.out
    assert "runtest" not in done.out
    assert "Traceback" not in done.out


def test_nothing_is_imported_until_it_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "test_imports.py").write_text(IMPORTED, encoding="utf-8")
    done = started(tmp_path, "-p", "no:hypothesispytest", "-p", "no:benchmark")
    assert "1 passed" in done.stdout, done.stdout


def test_a_project_may_have_options_called_seed_and_property(
    plugin_run: Command, pytester: pytest.Pytester
) -> None:
    pytester.makeconftest(
        "def pytest_addoption(parser):\n"
        "    for name in ('--seed', '--property', '--run', '--baseline', '--level'):\n"
        "        parser.addoption(name)\n"
    )
    done = plugin_run("--codec", "reference", "--codec-run", ONE, code=0)
    assert "1 passed" in done.out


# --- several adapters, what is not claimed, what cannot run, what blocks others ---


@needs("[peers]")
def test_what_is_not_claimed_is_skipped_with_the_reason(plugin_run: Command) -> None:
    both = ("--codec-run", "kafka.batch/v2/zstd/*", "--codec-run", "kafka.batch/v2/batch/*")
    done = plugin_run("--codec", "kio", *both, "-rs")
    assert "SKIPPED" in done.out
    assert "PASSED" in done.out
    assert "claims no codec:zstd" in done.out


@needs("[peers]")
def test_a_run_that_judges_nothing_fails_with_the_reason(plugin_run: Command) -> None:
    done = plugin_run("--codec", "kio", "kafka.batch/v2/zstd/bomb-of-zeros", code=1)
    assert "kio: no case was judged: 1 unsupported: claims no codec:zstd" in done.out
    both = plugin_run("--codec", "kio", "kafka.batch/v2/zstd/bomb-of-zeros", "kafka.batch/v2/batch/empty-key")
    assert (both.code, "1 passed, 1 skipped" in both.out) == (0, True)


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
    plugin_run: Command, words: tuple[str, ...], said: str
) -> None:
    done = plugin_run(*words, code=4)  # pytest's own code for usage
    (line,) = [line for line in done.err.splitlines() if "wireproof" in line]
    assert said in line
    assert "Traceback" not in done.out + done.err
    assert "INTERNALERROR" not in done.out


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
    plugin_run: Command, mine: Path
) -> None:
    assert (mine / "mine.py").exists()
    done = plugin_run("--codec", "py:mine:Mine", "--codec-run", f"{BASE}-*-bytes")
    text = done.out
    first = f"blocked by {BASE}, which it does not accept either; that case is outside of the selection"
    cause = f"FAIL  {BASE}  wrong-reject"
    assert 0 < text.index(first) < text.index(cause) < text.index(f"BLOCKED {BASE}-")
    assert text.count(cause) == 1  # the cause of three items
    assert f"replay  wireproof replay {BASE} py:mine:Mine" in text


def test_a_base_case_is_shown_before_what_it_blocks(plugin_run: Command, mine: Path) -> None:
    assert (mine / "mine.py").exists()
    wanted = ("--codec-run", BLOCKED, "--codec-run", "iggy.identifier/0.0.30/identifier/kind-0")
    done = plugin_run("--codec", "py:mine:Mine", *wanted, "--codec-run", BASE)
    text = done.out
    assert text.index(f"{BASE} FAILED") < text.index(f"{BLOCKED} FAILED")
    assert f"blocked by {BASE}, which it does not accept either: see the item of that case" in text
    assert "outside of the selection" not in text


def test_an_adapter_that_does_not_start_again_fails_what_is_left(plugin_run: Command, mine: Path) -> None:
    """It ends itself at the first text, and each later item says why it was not asked."""
    once = "import os\nif os.path.exists('begun'): raise ImportError('gone meanwhile')\n"
    text = (mine / "mine.py").read_text(encoding="utf-8")
    text = text.replace("if bytes(request.data[:1]) == self.first:", ENDS_ITSELF)
    (mine / "mine.py").write_text(once + text, encoding="utf-8")
    done = plugin_run("--codec", "py:mine:Mine", "--codec-run", "iggy.identifier/0.0.30/identifier/string*")
    assert "passed" not in done.out
    assert done.out.count("gone meanwhile") > 2
    assert "Traceback" not in done.out


# --- what pytest and its plugins make of the items ---


def test_an_id_is_an_argument_of_pytest(plugin_run: Command, mine: Path) -> None:
    (mine / "test_own.py").write_text("def test_of_my_own():\n    pass\n", encoding="utf-8")
    words = ("--codec", "reference", "--codec", "py:mine:Mine")
    done = plugin_run(*words, f"reference:{ONE}", f"py:mine:Mine:{BASE}", "test_own.py")
    assert "1 failed, 2 passed" in done.out
    done = plugin_run("--codec", "reference", ONE)
    assert "1 passed" in done.out
    done = plugin_run("--codec", "reference", ONE, "kafka.batch/v2/crc/nosuch", code=4)
    assert "no file and no item: kafka.batch/v2/crc/nosuch" in done.err


def test_last_failed_asks_the_failures_alone(plugin_run: Command, mine: Path) -> None:
    both = ("--codec-run", f"{BASE}*", "--codec-run", "iggy.identifier/0.0.30/identifier/string*")
    words = ("--codec", "py:mine:Mine", *both, "-p", "cacheprovider")
    assert "6 failed, 7 passed" in plugin_run(*words).out
    (mine / "mine.py").write_text(READS_NO_NUMBERS.format(first=b"no byte"), encoding="utf-8")
    again = plugin_run(*words, "--lf").out
    assert "run-last-failure: rerun previous" in again
    assert "6 passed, 7 deselected" in again


def test_each_worker_of_xdist_asks_its_own_items(plugin_run: Command, mine: Path) -> None:
    words = ("--codec", "py:mine:Mine", "--codec-run", "iggy.identifier/0.0.30/identifier/string*")
    one = plugin_run(*words).out
    alone = len((mine / "asked.txt").read_text().splitlines())
    (mine / "asked.txt").unlink()
    workers = ("-p", "xdist", "-n", "2", "--dist", "load")
    two = plugin_run(*words, *workers)
    assert PASSED.search(two.out).group() == PASSED.search(one).group()
    assert len((mine / "asked.txt").read_text().splitlines()) <= alone + 4  # a base case may be asked twice
    done = plugin_run("--codec", "nosuch", *workers, code=4)
    assert "unknown adapter nosuch" in done.err


def test_an_adapter_without_claims_that_supports_nothing_fails_the_run(
    plugin_run: Command, mine: Path
) -> None:
    (mine / "mine.py").write_text(SUPPORTS_NOTHING, encoding="utf-8")
    assert (
        "no case was judged" in plugin_run("--codec", "py:mine:Mine", "--codec-run", f"{BASE}*", code=1).out
    )


def test_large_cases_are_left_out_and_counted(plugin_run: Command) -> None:
    words = ("--codec", "reference", "--collect-only", "--codec-run")
    done = plugin_run(*words, "iggy.poll/0.11/size*/**", "--codec-run", ONE)
    assert "wireproof: 2 large cases of reference left out: add --codec-large" in done.out
    assert "12m" not in done.out
    done = plugin_run(*words, "iggy.poll/0.11/size*/**", "--codec-large")
    assert "iggy.poll/0.11/size/payload-12m" in done.out
    done = plugin_run(*words, "iggy.poll/0.11/size/payload-12m")  # an id names what it asks for
    assert "iggy.poll/0.11/size/payload-12m" in done.out
    done = plugin_run(*words, "iggy.poll/0.11/size/payload-12*")
    assert "add --codec-large" in done.err


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


def test_a_known_failure_is_an_xfail_with_its_reason(plugin_run: Command, known: Known) -> None:
    done = plugin_run("--codec", MUTANT, "--codec-run", ONE, "--codec-baseline", known(), "-rx", code=0)
    assert f"{ONE} - known.toml:2: sums are optional (owner me)" in done.out
    assert "1 xfailed" in done.out


def test_a_case_that_passes_fails_its_item_and_names_the_entry(plugin_run: Command, known: Known) -> None:
    done = plugin_run("--codec", "reference", "--codec-run", CASES, "--codec-baseline", known(), code=1)
    assert "1 failed, 7 passed" in done.out
    assert (
        f"[XPASS(strict)] known.toml:2: {ONE}: passes, although its entry says fail:wrong-accept; "
        "`wireproof baseline fix known.toml RUN` removes it" in done.out
    )


def test_an_entry_for_several_cases_has_an_item_of_its_own(
    plugin_run: Command, known: Known, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite = load()
    few = tuple(case for case in suite.cases if case.id.startswith("kafka.batch/v2/batch/t"))
    monkeypatch.setattr("wireproof.pytest_run.load", lambda: evolve(suite, cases=few))
    file = known("kafka.batch/v2/batch/*~flip:*")
    words = ("--codec-families", "--codec-baseline", file)
    done = plugin_run("--codec", "reference", *words, code=1)
    assert "baseline:known.toml FAILED" in done.out
    assert "[XPASS(strict)] known.toml:2: kafka.batch/v2/batch/*~flip:*: passes" in done.out
    part = plugin_run("--codec", "reference", *words, "--codec-run", "kafka.batch/v2/batch/two-records")
    assert "2 passed" in part.out  # another case may fail
    failing = plugin_run("--codec", MUTANT, *words)
    assert "baseline:known.toml PASSED" in failing.out


def test_items_fail_where_check_counts_a_failure(
    plugin_run: Command, tmp_path: Path, wireproof: Command
) -> None:
    run, file = tmp_path / "run.jsonl", tmp_path / "known.toml"
    words = ("--no-families", "--run", CASES, "--out", str(run))
    assert wireproof("check", MUTANT, *words).code == 1
    assert wireproof("baseline", "add", str(file), str(run), "--owner", "me").code == 0
    assert wireproof("check", MUTANT, *words, "--baseline", str(file)).code == 0
    assert (
        "6 xfailed"
        in plugin_run("--codec", MUTANT, "--codec-run", CASES, "--codec-baseline", str(file), code=0).out
    )
    assert wireproof("check", "reference", *words, "--baseline", str(file)).code == 3
    done = plugin_run("--codec", "reference", "--codec-run", CASES, "--codec-baseline", str(file))
    assert "6 failed, 2 passed" in done.out
