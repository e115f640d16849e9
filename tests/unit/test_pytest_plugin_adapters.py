"""Adapters of `pytest --codec ADAPTER`: several, what is not claimed, what cannot run, what blocks others."""

from pathlib import Path

import pytest
from command_line import PluginRun
from machine import needs

from tests.mutants.registry import spec_of

pytest_plugins = "pytester"
MUTANT = spec_of("mutant:crc-skip")
ONE = "kafka.batch/v2/crc/zero"


@needs("[peers]")
def test_what_is_not_claimed_is_skipped_with_the_reason(plugin_run: PluginRun) -> None:
    both = ("--codec-run", "kafka.batch/v2/zstd/*", "--codec-run", "kafka.batch/v2/batch/*")
    done = plugin_run("--codec", "kio", *both, "-rs")
    assert "SKIPPED" in str(done.stdout)
    assert "PASSED" in str(done.stdout)
    assert "claims no codec:zstd" in str(done.stdout)


@needs("[peers]")
def test_a_run_that_judges_nothing_fails_each_item_with_the_reason(plugin_run: PluginRun) -> None:
    done = plugin_run("--codec", "kio", "--codec-run", "kafka.batch/v2/zstd/bomb-of-zeros")
    assert done.ret == 1
    assert "kio: no case was judged: 1 unsupported: claims no codec:zstd" in str(done.stdout)


def test_the_ids_distinguish_several_adapters(plugin_run: PluginRun) -> None:
    done = plugin_run("--codec", "reference", "--codec", MUTANT, "--codec-run", ONE)
    assert f"reference:{ONE} PASSED" in str(done.stdout)
    assert f"{MUTANT}:{ONE} FAILED" in str(done.stdout)


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


def test_only_the_items_that_are_left_are_judged(plugin_run: PluginRun, mine: Path) -> None:
    plugin_run("--codec", "py:mine:Mine", "--codec-run", "iggy.identifier/0.0.30/identifier/*")
    everything = len((mine / "asked.txt").read_text().splitlines())
    (mine / "asked.txt").unlink()
    done = plugin_run("--codec", "py:mine:Mine", "-k", "identifier/string-255")
    assert "1 passed" in str(done.stdout)
    assert len((mine / "asked.txt").read_text().splitlines()) < everything / 4


def test_an_adapter_that_does_not_start_again_fails_each_item_with_the_reason(
    plugin_run: PluginRun, mine: Path
) -> None:
    once = "import os\nif os.path.exists('begun'): raise ImportError('gone meanwhile')\nopen('begun', 'w')\n"
    text = (mine / "mine.py").read_text(encoding="utf-8")
    (mine / "mine.py").write_text(once + text, encoding="utf-8")
    done = plugin_run("--codec", "py:mine:Mine", "--codec-run", "iggy.identifier/0.0.30/identifier/string*")
    assert "passed" not in str(done.stdout)
    assert "gone meanwhile" in str(done.stdout)
    assert "Traceback" not in str(done.stdout)


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
