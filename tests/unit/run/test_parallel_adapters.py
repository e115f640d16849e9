"""Adapters that are judged side by side: the same streams as one by one, and each family derived once."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from command_line import Command, Done

from tests.mutants.registry import spec_of
from wireproof.cases.case import Case
from wireproof.cli.check import plan
from wireproof.cli.check import worker as check_worker
from wireproof.run.events import read_events
from wireproof.run.workers import TaskEnded, WorkerDiedError, run_parallel, run_serial

ENTRIES = "iggy.identifier/0.0.30/**"
MANY = "iggy.headers/**"
"""More golden cases than one part of a run has."""


def without_times(path: Path) -> list[dict[str, Any]]:
    """Read streams but for their times and the order of their cases, in which two runs differ.

    Of two events of a case the later one counts.
    """
    streams: list[dict[str, dict[str, Any]]] = []
    for line in path.read_text().splitlines():
        row = {name: part for name, part in json.loads(line).items() if name not in ("ns", "started")}
        if row["event"] == "run":
            streams.append({})
        streams[-1][f"{row.get('seq', '')} {row['event']}"] = row
    return [rows[key] for rows in streams for key in sorted(rows)]


def in_a_process_of_its_own(*words: object) -> Done:
    """Run a command as a user does: Hypothesis draws other examples where other modules were imported."""
    done = subprocess.run(
        [sys.executable, "-m", "wireproof", *map(str, words)], capture_output=True, text=True, check=False
    )
    return Done(done.returncode, done.stdout, done.stderr)


@pytest.mark.parametrize(
    "more", [pytest.param((), marks=pytest.mark.sweeps), ("--no-families",), ("--property", 3)]
)
def test_streams_do_not_depend_on_how_many_processes_judge(
    wireproof: Command, tmp_path: Path, more: tuple[Any, ...]
) -> None:
    wireproof = in_a_process_of_its_own if "--property" in more else wireproof
    names = ("reference", spec_of("mutant:accept-everything"), spec_of("mutant:reject-everything"))
    seen = []
    for jobs in (1, 3):
        out = tmp_path / f"{jobs}.jsonl"
        done = wireproof(
            "check", *names, "--run", ENTRIES, "--jobs", jobs, "--in-process", "--out", out, *more
        )
        text = re.sub(r"#\d+ *", "#", done.out.partition("\nnext:")[0])  # numbers are in the order of judging
        seen.append((done.code, sorted(text.splitlines()), without_times(out)))
    assert seen[0] == seen[1]
    assert [row["spec"] for row in seen[0][2] if row["event"] == "run"] == list(names)
    assert list(tmp_path.glob("*.part")) == []


def test_an_adapter_that_does_not_start_does_not_stop_the_others(wireproof: Command) -> None:
    ends_at_once = f"exec:{sys.executable} -S -E -c pass"
    names = (ends_at_once, "reference", "no-such-adapter")
    done = wireproof("check", *names, "--run", ENTRIES, "--jobs", 2)
    assert done.code == 4
    assert "reference" in done.out
    assert re.search(rf"wireproof: {re.escape(ends_at_once)} .*before its hello", done.err)
    assert "unknown adapter no-such-adapter" in done.err


ONE_WAY_TO_DIE = """
from wireproof.cli import main
from wireproof.adapters import requests
requests.MAX_SIGNATURES = 1
main()
"""
"""A program whose workers are forks with this limit; beside a thread of another test they are spawned."""


@pytest.mark.sweeps
def test_a_run_of_many_parts_does_not_depend_on_how_many_processes_judge(tmp_path: Path) -> None:
    """A codec that refuses everything has twins in other parts; one that dies has a budget of deaths."""
    names = [spec_of("mutant:reject-everything"), "py:tests.support.hanging_codecs:DiesInManyWays"]
    seen = []
    for jobs in (1, 3):
        out = tmp_path / f"{jobs}.jsonl"
        words = ("check", *names, "--run", MANY, "--jobs", jobs, "--out", out)
        subprocess.run([sys.executable, "-c", ONE_WAY_TO_DIE, *map(str, words)], check=False, timeout=600)
        seen.append(without_times(out))
    assert seen[0] == seen[1]
    refused, died = (Counter(case.verdict for case in one.cases) for one in read_events(out))
    assert refused.total() > plan.GOLDEN < died.total()
    assert refused.keys() <= {"pass-unclassified", "fail", "blocked", "info"}
    assert died["crash"] == 1
    assert died["not-run"] >= plan.GOLDEN


def test_an_adapter_that_starts_once_is_judged_by_one_worker(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STARTS_ONCE", str(tmp_path / "mark"))
    out = tmp_path / "run.jsonl"
    words = ("--run", MANY, "--no-families", "--jobs", 2, "--out", out)
    done = in_a_process_of_its_own("check", "py:tests.support.hanging_codecs:StartsOnce", *words)
    assert done.code == 0, done.err
    (stream,) = read_events(out)
    assert stream.complete
    assert len(stream.cases) > 2 * plan.GOLDEN


def test_a_family_is_derived_once_for_all_adapters(
    wireproof: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    derived: Counter[str] = Counter()
    own = check_worker.derived_cases

    def counted(case: Case) -> Iterator[Case]:
        derived[case.id] += 1
        return own(case)

    monkeypatch.setattr(check_worker, "derived_cases", counted)
    names = ("reference", spec_of("mutant:iggy-identifier-unchecked"))
    wireproof("check", *names, "--run", ENTRIES, "--jobs", 1, "--in-process")
    assert derived
    assert set(derived.values()) == {1}


# --- processes ---


def squares(number: int) -> Iterator[Any]:
    yield "begins"
    if number == 2:
        raise ValueError("two is too many")
    if number == 3:
        os._exit(9)
    yield number * number


@contextmanager
def work() -> Iterator[Callable[[int], Iterator[Any]]]:
    yield squares


def tasks(*numbers: int) -> Callable[[int], int | None]:
    """Return a function that gives each of these tasks to the first worker that asks."""
    left = iter(numbers)
    return lambda _: next(left, None)


def messages_of(messages: list[tuple[int, int, Any]], task: int) -> list[Any]:
    return [message for _, number, message in messages if number == task]


def test_the_messages_of_a_task_come_in_order_and_its_end_last() -> None:
    messages = list(run_parallel(tasks(0, 1), work, 2))
    assert [messages_of(messages, number) for number in range(2)] == [
        ["begins", 0, TaskEnded()], ["begins", 1, TaskEnded()],
    ]  # fmt: skip
    serial = list(run_serial(tasks(0, 1), work))
    assert [one[1:] for one in serial] == sorted((one[1:] for one in messages), key=lambda one: one[0])


def test_an_error_ends_its_task_alone_and_keeps_its_traceback() -> None:
    messages = list(run_parallel(tasks(0, 2, 1), work, 1))
    error = messages_of(messages, 2)[-1].error
    assert isinstance(error, ValueError)
    assert "in squares" in error.__notes__[0]
    assert messages_of(messages, 1) == ["begins", 1, TaskEnded()]


@pytest.mark.parametrize("workers", [1, 2])
def test_a_process_that_dies_ends_its_task_and_another_does_the_others(workers: int) -> None:
    messages = list(run_parallel(tasks(3, 0, 1), work, workers))
    assert isinstance(messages_of(messages, 3)[-1].error, WorkerDiedError)
    assert [messages_of(messages, number)[-1] for number in (0, 1)] == [TaskEnded(), TaskEnded()]
    assert {task: worker == 0 for worker, task, _ in messages} == {3: True, 0: False, 1: False}


class Interrupted:
    """An object whose end is interrupted by the signal that ends its process."""

    def __del__(self) -> None:
        signal.raise_signal(signal.SIGTERM)
        time.sleep(0)  # where the handler runs


@contextmanager
def work_that_ends_badly() -> Iterator[Callable[[int], Iterator[Any]]]:
    try:
        yield squares
    except BaseException as reason:
        Path(os.environ["ENDED_BY"]).write_text(type(reason).__name__, encoding="utf-8")
        raise
    finally:
        Interrupted()


def test_a_worker_without_a_task_ends_by_itself_and_no_traceback_is_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ENDED_BY", str(tmp_path / "reason"))
    list(run_parallel(tasks(0, 1), work_that_ends_badly, 1))
    assert not (tmp_path / "reason").exists()  # nothing interrupted it
    assert capfd.readouterr().err == ""
