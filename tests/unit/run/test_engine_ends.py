"""Adapters that end, hang or stop reading in a case, as real processes (`faulty_adapter.py`)."""

import re
import time
from collections.abc import Iterator
from pathlib import Path

from faulty_runs import SHORT, around, case, run, spec

from wireproof.cases.case import Case, Limits
from wireproof.cases.outcome import (
    Crashed,
    TimedOut,
)
from wireproof.run.engine import Engine


def test_a_hang_is_timed_out_and_says_how_far_it_got() -> None:
    outcome, ran = around("hang")
    assert outcome == TimedOut(SHORT, "read 0 of 4 bytes of a frame's length")
    assert ran.deaths.count == 1


def test_a_segfault_is_a_crash_of_the_guilty_case_alone() -> None:
    outcome, _ = around("segfault")
    assert outcome == Crashed("died with SIGSEGV; stderr ends: about to fall")


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
