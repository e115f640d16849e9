"""A run of `check` that is ended by a signal keeps what was judged, and leaves no process behind."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

import pytest
from command_line import Command
from scripted_runs import CASES, PROGRAM, marked_processes

pytestmark = [
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux has a supervisor"),
    pytest.mark.usefixtures("interruptible"),
]

SECONDS = 120.0
"""For anything to happen: no measure, but the end of the wait for what never comes."""

KILLED = getattr(signal, "SIGKILL", signal.SIGTERM)  # these tests run on Linux, and are imported everywhere
CODES = {signal.SIGINT: 130, signal.SIGTERM: 143, KILLED: -KILLED}


def until(happened: Callable[[], bool]) -> None:
    deadline = time.monotonic() + SECONDS
    while not happened():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def killed(number: int, folder: Path, *words: str, processes: int) -> tuple[int, str, list[int]]:
    """End `check` by a signal once it has so many processes; its exit code, its stderr and who is left."""
    mark = uuid4().hex
    environment = os.environ | {"WIREPROOF_TEST_MARK": mark}
    command = [
        sys.executable,
        "-m",
        "wireproof",
        "--timeout-scale",
        "30",
        "check",
        *words,
        "--out",
        "run.jsonl",
    ]
    command += [word for one in CASES for word in ("--run", one)]
    with subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as runner:
        until(lambda: len(marked_processes(mark)) >= processes)
        runner.send_signal(number)
        code = runner.wait(SECONDS)
        assert runner.stderr is not None
        err = runner.stderr.read()
    until(lambda: not marked_processes(mark))
    return code, err, marked_processes(mark)


def scripted(fault: str) -> str:
    return f"jsonl:{sys.executable} -S -E {PROGRAM} {fault}"


@pytest.mark.parametrize("number", CODES)
def test_a_run_in_the_midst_of_a_hang_keeps_its_verdicts_and_leaves_nobody(
    number: int, tmp_path: Path, wireproof: Command
) -> None:
    """The processes: the runner, the supervisor, the adapter, and the two that it left behind."""
    code, err, left = killed(number, tmp_path, scripted("hangs-later"), "--jobs", "1", processes=5)
    assert code == CODES[number]
    how = {signal.SIGINT: "interrupted", signal.SIGTERM: "ended by SIGTERM"}
    assert left == []
    rows = [json.loads(line) for line in (tmp_path / "run.jsonl").read_text().splitlines()]
    assert [row["event"] for row in rows] == ["run", *["case"] * (len(rows) - 1)]
    assert len(rows) > len(CASES)
    stored = f" after {len(rows) - 1} cases: their events are in run.jsonl; show them with `wireproof report"
    assert err == (f"{how[signal.Signals(number)]}{stored} run.jsonl`\n" if number != KILLED else "")
    done = wireproof("report", tmp_path / "run.jsonl")
    assert (done.code, done.err) == (4, "")
    assert "incomplete" in done.out


@pytest.mark.sweeps
@pytest.mark.parametrize("number", [signal.SIGTERM, KILLED])
def test_a_run_that_waits_for_a_hello_leaves_nobody(number: int, tmp_path: Path) -> None:
    code, _, left = killed(number, tmp_path, scripted("hello-hangs"), "--no-families", processes=5)
    assert code == CODES[number]
    assert left == []


@pytest.mark.sweeps
@pytest.mark.parametrize("number", CODES)
def test_a_run_of_several_processes_leaves_nobody(number: int, tmp_path: Path) -> None:
    """The processes: the runner, two that judge, and of each of these four."""
    specs = (scripted("hangs-later"), scripted("hangs-later") + " again")
    code, _, left = killed(number, tmp_path, *specs, "--jobs", "2", processes=11)
    assert code == CODES[number]
    assert left == []
