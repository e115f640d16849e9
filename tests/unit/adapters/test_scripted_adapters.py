"""Adapters with one fault each, judged by `check` as a user runs it.

Of each: the verdict of the case that meets the fault and of its neighbours, the exit code, the peak of this
process's memory, that no process is left, and that nothing the adapter sent steers a terminal or a build log.
"""

import json
import os
import re
import sys
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from attrs import frozen
from command_line import Command, Done
from scripted_runs import BOOM, CASES, FOLDER, PROGRAM, marked_processes

from wireproof.adapters.process import stats
from wireproof.adapters.requests import MAX_CONSECUTIVE_TIMEOUTS
from wireproof.run.events import MAX_LINE

MEMORY = 160 << 20
"""By which this process may grow in one run; a line of 40 MB, or a million lists, would cost more."""

STEERING = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]|^\s*::error|##\[", re.MULTILINE
)


@frozen
class Ran:
    """A run of `check`: how it ended, what it wrote, and by how many bytes this process grew meanwhile."""

    done: Done
    stream: str
    views: str
    grown: int
    left: list[int]

    @property
    def verdicts(self) -> dict[str, str]:
        """Return the verdicts by case id, without the kinds of passes."""
        rows = [json.loads(line) for line in self.stream.splitlines()]
        cases = [row for row in rows if row["event"] == "case"]
        kinds = {row["id"]: row.get("kind", "") if row["verdict"] != "pass" else "" for row in cases}
        return {row["id"]: f"{row['verdict']}:{kinds[row['id']]}".rstrip(":") for row in cases}


@pytest.fixture
def run(wireproof: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Run `check` on the scripted adapter with a fault."""

    def check(fault: str, *more: Any, scale: str = "1") -> Ran:
        mark = uuid4().hex
        resource_tracker.ensure_running()  # one for the life of this process, started by the first `spawn`
        monkeypatch.setenv("WIREPROOF_TEST_MARK", mark)
        monkeypatch.chdir(tmp_path)
        stats.reset_peak(os.getpid())
        before = stats.peak(os.getpid()) or 0
        spec = spec_of(fault)
        words = [word for one in CASES for word in ("--run", one)]
        views = ["--out", "run.jsonl", "--junit", "run.xml", "--markdown", "run.md", "--html", "run.html"]
        views += ["--badge", "badge.json"]
        scale = "0.25" if fault in TIMEOUTS and scale == "1" else scale
        options = ["--no-families", *words, *views, *more]
        done = wireproof("--timeout-scale", scale, "check", spec, *options)
        grown = (stats.peak(os.getpid()) or 0) - before
        files = sorted(path for path in tmp_path.rglob("*") if path.is_file() and path.suffix != ".jsonl")
        stream = tmp_path / "run.jsonl"
        text = stream.read_text() if stream.exists() else ""
        return Ran(done, text, "\n".join(path.read_text() for path in files), grown, marked_processes(mark))

    return check


def spec_of(fault: str) -> str:
    return f"jsonl:{sys.executable} -S -E {PROGRAM} {fault}"


TIMEOUTS = ("hang", "half-a-line", "drip", "blank-lines", "stops-itself", "stops-its-group", "closes-stdin")
CRASHES = ("segfault", "exit-0", "last-words", "kills-its-parent", "orphan")
ERRORS = (
    *("closes-stdout", "garbage", "garbage-first", "garbage-behind", "twice", "twice-but-late", "wrong-id"),
    *("int-id", "no-object", "not-utf-8", "surrogate", "deep", "long-number", "long-float", "long-class"),
    *("odd-class", "far-position", "surplus-field", "consumed-too-much", "bytes-for-a-value", "faulty"),
)
"""What is wrong in an answer itself has its table in `test_messages.py`."""

OUTPUTS = ("many-lists", "many-lists-in-bounds", "long-text", "endless-line")
FAULTS = {
    **dict.fromkeys(TIMEOUTS, ("timeout", 1)),
    **dict.fromkeys((*CRASHES, "orphan-in-a-session", "panic"), ("crash", 1)),
    **dict.fromkeys(ERRORS, ("adapter-error", 4)),
    **dict.fromkeys(OUTPUTS, ("resource:output", 1)),
    **dict.fromkeys(("long-path", "odd-path", "odd-text"), ("fail:wrong-reject", 1)),
    **dict.fromkeys(("odd-field", "long-field", "odd-value", "long-digest"), ("fail:wrong-value", 1)),
    "skips": ("fail:undeclared-skip", 1),
    **dict.fromkeys(("odd-remarks", "stderr-flood", "daemon", "many-children"), ("pass", 0)),
}
"""The verdict on the case that meets the fault, and the exit code of the run."""


@pytest.mark.sweeps
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_costs_its_own_case_and_nothing_else(fault: str, run: Any) -> None:
    verdict, code = FAULTS[fault]
    ran = run(fault)
    assert ran.verdicts == {case: verdict if case == BOOM else "pass" for case in CASES}, ran.done.err
    assert ran.done.code == code
    _nothing_leaks(ran)


def _nothing_leaks(ran: Ran) -> None:
    assert ran.left == []
    assert ran.grown < MEMORY
    texts = ran.done.out + ran.done.err + ran.stream + ran.views
    assert STEERING.search(texts) is None
    assert max(map(len, ran.stream.splitlines()), default=0) < MAX_LINE
    assert max(map(len, ran.done.err.splitlines()), default=0) < 2100
    assert "Traceback" not in ran.done.err


GREETINGS = ("hello-dies", "hello-noise", "hello-error", "hello-endless", "protocol-9", "hello-surplus")
NAMES = ("name-10-mb", "name-empty", "claims-long", "claims-escapes")


@pytest.mark.sweeps
@pytest.mark.parametrize("fault", [*GREETINGS, *NAMES])
def test_a_hello_that_cannot_be_used_is_one_line_and_exit_code_4(fault: str, run: Any) -> None:
    ran = run(fault)
    assert ran.done.code == 4
    assert len(ran.done.err.splitlines()) == 1
    assert ran.verdicts == {}
    _nothing_leaks(ran)


@pytest.mark.parametrize("fault", ["none", "window-10-30", "name-escapes", "name-long", "name-dots", "stays"])
def test_what_is_only_odd_costs_nothing(fault: str, run: Any, tmp_path: Path) -> None:
    ran = run(fault)
    assert set(ran.verdicts.values()) == {"pass"}
    assert ran.done.code == 0
    assert {path.name for path in tmp_path.iterdir()} == {
        "run.jsonl",
        "run.xml",
        "run.md",
        "run.html",
        "badge.json",
    }
    _nothing_leaks(ran)


def test_an_adapter_that_hangs_always_ends_the_run_early_with_its_verdicts(run: Any) -> None:
    ran = run("hangs-always", "--run", f"{FOLDER}/**", scale="0.02")
    found = list(ran.verdicts.values())
    assert found.count("timeout") == MAX_CONSECUTIVE_TIMEOUTS
    assert found.count("not-run:spent") == len(found) - MAX_CONSECUTIVE_TIMEOUTS
    assert ran.done.code == 1
    _nothing_leaks(ran)


def test_an_adapter_that_falls_always_is_asked_everything(run: Any) -> None:
    ran = run("falls-always")
    assert set(ran.verdicts.values()) == {"crash"}
    assert ran.done.code == 1
    _nothing_leaks(ran)


def test_an_adapter_that_always_prints_behind_its_answers_is_never_green(run: Any) -> None:
    ran = run("prints-always")
    assert "adapter-error" in ran.verdicts.values()
    assert ran.done.code == 4
    _nothing_leaks(ran)


@pytest.mark.sweeps
@pytest.mark.parametrize("fault", ["long-path", "odd-text", "long-field", "name-long", "name-escapes"])
def test_what_check_wrote_every_other_verb_can_read(fault: str, run: Any, wireproof: Command) -> None:
    run(fault)
    for verb in (("report",), ("diff", "run.jsonl")):
        done = wireproof(verb[0], "run.jsonl", *verb[1:])
        assert done.code in (0, 1), done.err
        assert STEERING.search(done.out + done.err) is None


def test_an_annotation_of_a_hostile_text_is_one_command(run: Any) -> None:
    ran = run("odd-text", "--annotations")
    commands = [line for line in ran.done.out.splitlines() if line.lstrip().startswith("::")]
    assert len(commands) == 1
    assert "pwned" in ran.done.out
