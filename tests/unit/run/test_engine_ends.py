"""Adapters that end, hang or stop reading in a case, as real processes (`faulty_adapter.py`)."""

import os
import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from attrs import evolve
from faulty_runs import SHORT, around, case, cases, good, run, spec

from wireproof.adapters.registry.registered import Entry
from wireproof.adapters.registry.registry import resolve
from wireproof.cases.case import Case, Limits
from wireproof.cases.outcome import (
    Crashed,
    Faulty,
    TimedOut,
)
from wireproof.run import engine
from wireproof.run.engine import Engine


def test_a_hang_is_timed_out_and_says_how_far_it_got() -> None:
    outcome, ran = around("hang")
    assert outcome == TimedOut(SHORT, "read 0 of 4 bytes of a frame's length")
    assert ran.deaths.count == 1


def test_an_adapter_that_starts_a_program_for_each_case_has_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    def resolved(name: str) -> Entry:
        return evolve(resolve(name), case_seconds=1.5)

    monkeypatch.setattr(engine, "resolve", resolved)
    outcome, _ = around("hang")
    assert isinstance(outcome, TimedOut)
    assert outcome.ms == 1500 > SHORT


def test_half_an_answer_is_timed_out_and_says_how_far_it_got() -> None:
    outcome, _ = around("half-a-frame")
    assert isinstance(outcome, TimedOut)
    assert re.fullmatch(r"read 16 of \d+ bytes of a header", outcome.text)


def test_a_segfault_is_a_crash_of_the_guilty_case_alone() -> None:
    outcome, _ = around("segfault")
    assert outcome == Crashed("died with SIGSEGV; stderr ends: about to fall")


def test_an_exit_midway_is_a_crash_even_with_code_0() -> None:
    outcome, _ = around("exit-0")
    assert outcome == Crashed("died with exit code 0")


def test_a_flood_on_stderr_blocks_nobody() -> None:
    outcome, ran = around("floods-stderr")
    assert outcome == good(b"floods-stderr")
    assert ran.deaths.count == 0


def test_a_child_left_behind_holds_up_nobody_and_is_ended() -> None:
    outcome, _ = around("leaves-a-child")
    assert isinstance(outcome, Crashed)
    found = re.search(r"exit code 3; stderr ends: child (\d+)", outcome.text)
    assert found
    pid = int(found[1])
    deadline = time.monotonic() + 60
    while _lives(pid) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not _lives(pid)


def _lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_a_closed_stdout_breaks_the_contract() -> None:
    outcome, _ = around("closes-stdout")
    assert isinstance(outcome, Faulty)
    assert "closed, though the process lives" in outcome.text


def test_an_adapter_that_stops_reading_blocks_nobody() -> None:
    outcomes, _ = run([case(b"x" * 400_000, limits=Limits(ms=300))], "deaf")
    assert isinstance(outcomes[0], TimedOut)


def test_a_slow_adapter_shows_its_results_as_it_goes() -> None:
    seen: list[bytes] = []

    def asked() -> Iterator[Case]:
        for number in range(100):
            seen.append(b"%d" % number)
            yield case(seen[-1], number)

    with Engine(spec("slow-and-steady")) as engine:
        next(engine.run(asked()))
    assert len(seen) < 100


def test_no_process_is_left_behind() -> None:
    before = _processes()
    run(cases(b"hang"))
    assert [name for name in _processes() - before if _is_ours(name)] == []


def _processes() -> set[str]:
    return {path.name for path in Path("/proc").iterdir() if path.name.isdigit()}


def _is_ours(name: str) -> bool:
    try:
        return f"PPid:\t{os.getpid()}\n" in Path(f"/proc/{name}/status").read_text()
    except FileNotFoundError:
        return False
