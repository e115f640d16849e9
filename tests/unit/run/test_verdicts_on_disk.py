"""A run that is killed keeps each verdict: it is written when the case is judged, not in its turn."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from goldens import load

from wireproof.cases.case import Case, Data, Reject
from wireproof.run.events import parse_events, read_events

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="a process is killed by a signal")

FORMAT = "iggy.identifier/0.0.30"
ANSWERS = 9
SECONDS = 60.0
"""For anything to happen: no measure, but the end of the wait for what never comes."""


def killed(folder: Path, *words: str) -> tuple[list[str], Path]:
    """Kill `check` once the adapter has stopped to answer; what it was asked before, and the events."""
    answered, events = folder / "answered", folder / "run.jsonl"
    environment = os.environ | {"ANSWERS": str(ANSWERS), "ANSWERED": str(answered)}
    command = [
        *(sys.executable, "-m", "wireproof", "check", "py:tests.support.hanging_codecs:AnswersSome"),
        *("--jobs", "1", "--out", str(events), *words),
    ]
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL) as run:
        deadline, lines = time.monotonic() + SECONDS, 0
        while lines < ANSWERS and time.monotonic() < deadline and run.poll() is None:
            time.sleep(0.05)
            lines = len(answered.read_text().splitlines()) if answered.exists() else 0
        before, quiet = -1, 0
        while quiet < 20:  # what was answered is judged in far less than a second
            now = events.stat().st_size
            before, quiet = now, quiet + 1 if now == before else 0
            time.sleep(0.05)
        run.kill()
    return answered.read_text().splitlines(), events


def judged_by(answers: Sequence[str], cases: Sequence[Case]) -> set[str]:
    """Return the cases that can be judged by answers: a refusal counts once the twin is answered too."""
    data = {case.id: case.input.data.hex() for case in cases if isinstance(case.input, Data)}
    answered = {name for name, one in data.items() if one in answers}
    return {
        case.id
        for case in cases
        if case.id in answered and not (isinstance(case.expect, Reject) and case.twin not in answered)
    }


def test_a_killed_run_keeps_each_golden_case_that_was_judged(tmp_path: Path) -> None:
    cases = [case for case in load().cases if case.id.startswith(f"{FORMAT}/")]
    answers, events = killed(tmp_path, "--run", f"{FORMAT}/**", "--no-families")
    (stream,) = read_events(events)
    decoded = {event.id for event in stream.cases if event.op == "decode"}
    assert decoded == judged_by(answers, cases)
    assert len(decoded) > 2
    places = [event.seq for event in stream.cases]
    assert places == sorted(places)
    assert {case.id: place for place, case in enumerate(cases)}.items() >= {
        event.id: event.seq for event in stream.cases
    }.items()


def test_a_killed_run_keeps_each_derived_case_that_was_judged(tmp_path: Path) -> None:
    answers, events = killed(tmp_path, "--run", f"{FORMAT}/identifier/numeric")
    (stream,) = read_events(events)
    golden, *derived = stream.cases
    assert (golden.seq, golden.id) == (0, f"{FORMAT}/identifier/numeric")
    assert len(derived) == len(answers) - 2  # the golden case is asked once more at the end of its block
    assert all("~" in event.id for event in derived)


def test_of_two_events_in_one_place_the_later_one_counts() -> None:
    lines = [
        {"event": "run", "suite": "1", "fixtures": "", "spec": "x", "adapter": "x", "schema": 1},
        *(case_line(*row) for row in ((1, "b", "pass"), (0, "a", "pass"), (1, "b", "crash"))),
        {"event": "footer", "counts": {"pass": 1, "crash": 1}, "complete": True},
    ]
    (stream,) = parse_events(f"{json.dumps(line)}\n" for line in lines)
    assert [(event.id, event.verdict) for event in stream.cases] == [("a", "pass"), ("b", "crash")]


def case_line(seq: int, name: str, verdict: str) -> dict[str, object]:
    head = {"event": "case", "seq": seq, "id": name, "format": "f", "revision": "1", "op": "decode"}
    return {**head, "level": "must", "verdict": verdict}
