"""Adapters of `pytest --codec ADAPTER`: several, what is not claimed, what cannot run, what blocks others."""

import re
from pathlib import Path

import pytest
from command_line import PluginRun
from machine import needs

pytest_plugins = "pytester"
ONE = "kafka.batch/v2/crc/zero"


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
