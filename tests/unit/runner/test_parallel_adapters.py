"""Adapters that are judged side by side: the same streams as one by one, and each family derived once."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from command_line import Command, Done
from goldens import load

from tests.mutants.registry import spec_of
from wireproof.adapters.contract import Claim, Hello
from wireproof.cli.check_worker import OrderedFile
from wireproof.runner import families as module
from wireproof.runner.families import Families, FamilyStore
from wireproof.runner.workers import TaskEnded, WorkerDiedError, run_parallel, run_serial

ENTRIES = "iggy.identifier/0.0.30/**"
LOGS = Hello("logs", "", {"kafka.log/mixed": Claim(("decode",))})
ENTRY = Hello("entries", "", {"kafka.batch/v0": Claim(("decode",))})


def without_times(path: Path) -> list[dict[str, Any]]:
    """Read a stream but for its times, in which two runs differ."""
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    return [{name: part for name, part in row.items() if name not in ("ns", "started")} for row in rows]


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


# --- families ---


def golden(pattern: str) -> list[Any]:
    return [case for case in load().cases if case.id.startswith(pattern)]


def families_in(folder: Path) -> int:
    return sum(not path.suffix for path in folder.iterdir())


@pytest.mark.parametrize("hello", [LOGS, ENTRY])
def test_a_store_gives_the_same_members_as_deriving_here(hello: Hello, tmp_path: Path) -> None:
    cases = golden("kafka.batch/v0/message/")
    here = list(Families().of_all(cases, hello))
    assert here
    assert list(FamilyStore(tmp_path).of_all(cases, hello)) == here
    assert list(FamilyStore(tmp_path).of_all(cases, hello)) == here


def test_a_family_is_derived_once_for_all_who_need_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    derived: list[str] = []
    own = module.derived_cases

    def counted(case: Any) -> Iterator[Any]:
        derived.append(case.id)
        return own(case)

    monkeypatch.setattr(module, "derived_cases", counted)
    cases = golden("iggy.identifier/0.0.30/")
    for name in ("one", "two", "three"):
        list(FamilyStore(tmp_path).of_all(cases, Hello(name, "")))
    assert derived == [case.id for case in cases]


def test_a_helper_derives_what_was_announced_and_nothing_twice(tmp_path: Path) -> None:
    cases = golden("iggy.identifier/0.0.30/")
    store = FamilyStore(tmp_path, {case.id: case for case in cases})
    helper = store.helper()
    assert not helper.step()
    members = store.of_all(cases, Hello("slow", ""))
    next(members)
    before = families_in(tmp_path)
    steps = 0
    while helper.step():
        steps += 1
    assert steps == len(cases) - before > 0
    assert families_in(tmp_path) == len(cases)
    assert list(members) == list(Families().of_all(cases, Hello("slow", "")))[1:]


def test_a_family_whose_process_died_is_derived_by_another(tmp_path: Path) -> None:
    cases = golden("iggy.identifier/0.0.30/")[:2]
    gone = os.fork()
    if gone == 0:
        os._exit(0)
    os.waitpid(gone, 0)
    for case in cases:
        path = FamilyStore(tmp_path)._path(module.FamilyRequest(case))
        path.with_suffix(".claim").write_text(str(gone))
    assert list(FamilyStore(tmp_path).of_all(cases, Hello("", ""))) == list(
        Families().of_all(cases, Hello("", ""))
    )


# --- processes ---


def squares(number: int) -> Iterator[Any]:
    yield "begins"
    if number == 2:
        raise ValueError("two is too many")
    if number == 3:
        os._exit(9)
    yield number * number


def first_dies(number: int) -> Iterator[Any]:
    return squares(3 if number == 0 else 1)


def ends(messages: list[tuple[int, Any]], number: int) -> list[Any]:
    return [message for task, message in messages if task == number]


def test_the_messages_of_a_task_come_in_order_and_its_end_last() -> None:
    messages = list(run_parallel(2, 2, squares))
    assert [ends(messages, number) for number in range(2)] == [
        ["begins", 0, TaskEnded()], ["begins", 1, TaskEnded()],
    ]  # fmt: skip
    assert list(run_serial(2, squares)) == sorted(messages, key=lambda pair: pair[0])


def test_an_error_ends_its_task_alone_and_keeps_its_traceback() -> None:
    messages = list(run_parallel(3, 1, squares))
    error = ends(messages, 2)[-1].error
    assert isinstance(error, ValueError)
    assert "in squares" in error.__notes__[0]
    assert ends(messages, 1) == ["begins", 1, TaskEnded()]


@pytest.mark.parametrize("workers", [1, 2])
def test_a_process_that_dies_ends_its_task_and_the_others_are_done_or_named(workers: int) -> None:
    messages = list(run_parallel(3, workers, first_dies))
    assert isinstance(ends(messages, 0)[-1].error, WorkerDiedError)
    last = [ends(messages, number)[-1] for number in (1, 2)]
    assert all(isinstance(message, TaskEnded) for message in last)
    assert all(isinstance(message.error, WorkerDiedError | None) for message in last)
    assert workers == 1 or last == [TaskEnded(), TaskEnded()]


# --- files ---


def test_streams_that_are_written_at_the_same_time_lie_in_order(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    with OrderedFile(path) as file:
        second, first = file.part(1), file.part(0)
        second.write("2a\n")
        first.write("1a\n")
        assert path.read_text() == "1a\n"
        assert (tmp_path / "out.jsonl.2.part").read_text() == "2a\n"
        file.end(0)
        second.write("2b\n")
        assert path.read_text() == "1a\n2a\n2b\n"
    assert list(tmp_path.iterdir()) == [path]


def test_a_run_that_is_broken_off_keeps_every_stream(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    file = OrderedFile(path)
    for number in (2, 0, 1):
        file.part(number).write(f"{number}\n")
    file.__exit__(KeyboardInterrupt, KeyboardInterrupt(), None)
    assert path.read_text() == "0\n1\n2\n"
    assert list(tmp_path.iterdir()) == [path]
