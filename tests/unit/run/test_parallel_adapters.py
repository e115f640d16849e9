"""Adapters that are judged side by side, and failures that are asked again."""

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
from attrs import frozen
from command_line import Command, Done
from flaky_codecs import TWIN as TWIN_BYTES
from folders import SUPPORT

from tests.mutants.registry import spec_of
from wireproof.cases.case import Case
from wireproof.cli.check import plan
from wireproof.cli.check import worker as check_worker
from wireproof.run.events import CaseEvent, EventStream, read_events
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
    done = wireproof("check", *names, "--run", ENTRIES, "--jobs", 2, code=4)
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


# --- what passes when it is asked again is flaky, what fails again stays what it was ---


GOLDEN = "iggy.identifier/0.0.30/**"
TWIN = "iggy.identifier/0.0.30/identifier/numeric"
LARGEST = f"{TWIN}-max"
FLAKY = {TWIN: "fail:flaky"}


@frozen
class Ran:
    """A run, and the number of processes or objects that it started."""

    done: Done
    stream: EventStream
    starts: int

    @property
    def failures(self) -> dict[str, CaseEvent]:
        """The cases that fail, by id."""
        return {event.id: event for event in self.stream.cases if event.verdict in ("fail", "blocked")}

    @property
    def labels(self) -> dict[str, str]:
        """Their verdicts."""
        return {name: event.label for name, event in self.failures.items()}

    @property
    def flaky_line(self) -> str:
        """The line at the end about flaky failures; it is there once."""
        (line,) = [line for line in self.done.out.splitlines() if line.startswith("  flaky: ")]
        return line


Check = Callable[..., Ran]
PROCESS = ("--jobs", 1)
"""The codec runs in a process of its own."""


@pytest.fixture
def check(wireproof: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Check:
    """Run a codec of `flaky_codecs`, golden cases alone if there is no other choice."""

    def run(codec: str, *more: Any, families: bool = False) -> Ran:
        starts, out = tmp_path / "starts", tmp_path / "run.jsonl"
        starts.write_bytes(b"")
        monkeypatch.setenv("STARTS", str(starts))
        spec = codec if ":" in codec or codec == "reference" else f"py:tests.support.flaky_codecs:{codec}"
        where = () if "--jobs" in more else ("--in-process",)
        family = "--families" if families else "--no-families"
        done = wireproof("check", spec, "--run", GOLDEN, "--out", out, family, *where, *more)
        (stream,) = read_events(out)
        return Ran(done, stream, starts.stat().st_size)

    return run


def known(tmp_path: Path, kind: str, *more: str, name: str = TWIN) -> tuple[str, Path]:
    """The option with a baseline of one entry."""
    file = tmp_path / "known.toml"
    rows = (f'id = "{name}"', f'kind = "{kind}"', 'owner = "me"', 'reason = "why"', "expires = 2999-01-01")
    file.write_text("\n".join(("[[known-failure]]", *rows, *more, "")))
    return "--baseline", file


def test_a_failure_at_random_passes_when_asked_again_and_the_end_says_so_once(
    check: Check, tmp_path: Path
) -> None:
    page = tmp_path / "run.md"
    ran = check("AtRandom", "--markdown", page)
    assert len(ran.labels) > 2
    assert set(ran.labels.values()) == {"fail:flaky"}
    assert ran.done.code == 1
    event = next(iter(ran.failures.values()))
    assert event.text.startswith("fail:wrong-reject, but passes when asked again; `flaky = true` in a")
    assert (event.cls, event.path) == ("", "")
    assert event.want.startswith("accept")
    assert event.got.startswith("refuse other")
    assert f"{len(ran.labels)} failures pass when asked again" in ran.flaky_line
    assert ran.flaky_line.endswith("or accept it: baseline add FILE RUN fail:flaky")
    assert f"- {ran.flaky_line.strip()}\n" in page.read_text()


@pytest.mark.parametrize(
    ("where", "fresh"),
    [(PROCESS, "in a fresh process"), ((), "by a fresh object")],
    ids=["process", "object"],
)
def test_what_the_first_one_always_fails_passes_in_a_fresh_one(
    check: Check, where: tuple[Any, ...], fresh: str
) -> None:
    ran = check("InFirstProcess", *where)
    assert (ran.labels, ran.starts, ran.done.code) == (FLAKY, 2, 1), "its twin is accepted, and it counts"
    assert "1 failure passes when asked again" in ran.flaky_line
    assert f"passes when asked again {fresh}" in ran.failures[TWIN].text


def test_what_fails_only_as_the_first_case_of_a_process_is_flaky(check: Check) -> None:
    ran = check("AsFirst", *PROCESS)
    assert list(ran.labels.values()) == ["fail:flaky"]
    assert (ran.starts, ran.done.code) == (1, 1)


def test_what_always_fails_stays_what_it_was(check: Check) -> None:
    ran = check("Always", *PROCESS)
    assert ran.labels[TWIN] == ran.labels[LARGEST] == "fail:wrong-reject"
    assert f"blocked:{TWIN}" in ran.labels.values()
    assert "asked again" not in ran.done.out
    assert (ran.starts, ran.done.code) == (2, 1)


def test_a_second_process_that_fails_changes_no_verdict(check: Check) -> None:
    always = check("Always")
    for codec in ("DiesAgain", "StartsOnce", "AnotherOne"):
        ran = check(codec, *PROCESS)
        assert ran.labels == always.labels
        assert (ran.stream.footer, ran.done.code) == (always.stream.footer, 1)
        assert "Traceback" not in ran.done.err
        note = "note: failures were not asked again in a fresh process: "
        assert ran.done.out.count(note) == (codec != "DiesAgain")


def test_a_flaky_case_has_its_families(check: Check) -> None:
    right = {event.id for event in check("reference", families=True).stream.cases}
    ran = check("InFirstProcess", families=True)
    assert ran.labels[TWIN] == "fail:flaky"
    assert {event.id for event in ran.stream.cases} == right


def test_derived_cases_are_asked_again_too(check: Check) -> None:
    ran = check("Seldom", families=True)
    derived = {label for name, label in ran.labels.items() if "~" in name}
    assert derived == {"fail:flaky"}
    assert f"{len(ran.labels)} failures pass" in ran.flaky_line


def test_a_part_has_a_limit_but_each_kind_is_asked(check: Check, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wireproof.run.run.MAX_RETRIES", 0)
    labels = list(check("AtRandom").labels.values())
    assert labels.count("fail:flaky") == 1
    assert set(labels) == {"fail:flaky", "fail:wrong-reject"}


# --- baselines ---


def test_an_entry_for_a_flaky_case_covers_failure_and_pass(check: Check, tmp_path: Path) -> None:
    entry = known(tmp_path, "fail:flaky", "flaky = true")
    ran = check("InFirstProcess", *entry)
    assert (ran.labels, ran.done.code) == (FLAKY, 0)
    assert "flaky:" not in ran.done.out.replace("fail:flaky", "")
    assert check("reference", *entry).done.code == 0
    assert check("Always", *entry).done.code == 1


def test_a_case_that_is_known_as_flaky_is_asked_beyond_the_limit(
    check: Check, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, *_, last = check("AtRandom").labels
    monkeypatch.setattr("wireproof.run.run.MAX_RETRIES", 0)
    ran = check("AtRandom", *known(tmp_path, "fail:flaky", "flaky = true", name=last))
    assert ran.labels[first] == ran.labels[last] == "fail:flaky"


def test_without_the_mark_an_entry_is_stale_once_its_case_passes(check: Check, tmp_path: Path) -> None:
    entry = known(tmp_path, "fail:flaky")
    assert check("InFirstProcess", *entry).done.code == 0
    assert check("reference", *entry).done.code == 3


def test_what_the_baseline_expects_is_not_asked_again(check: Check, tmp_path: Path) -> None:
    ran = check("InFirstProcess", *known(tmp_path, "fail:wrong-reject", 'class = "other"', "flaky = true"))
    assert (ran.labels[TWIN], ran.starts) == ("fail:wrong-reject", 1)


def test_a_baseline_that_is_written_marks_flaky_failures(
    check: Check, wireproof: Command, tmp_path: Path
) -> None:
    check("InFirstProcess")
    file = tmp_path / "known.toml"
    assert wireproof("baseline", "add", file, tmp_path / "run.jsonl", "--owner", "me").code == 0
    assert 'kind = "fail:flaky"\nflaky = true\n' in file.read_text()
    assert [check(codec, "--baseline", file).done.code for codec in ("InFirstProcess", "reference")] == [0, 0]


# --- processes ---


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_run_starts_few_fresh_processes(
    jobs: int, check: Check, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The failures are in several parts."""
    monkeypatch.setattr("wireproof.cli.check.plan.GOLDEN", 8)
    entry = known(tmp_path, "crash", name=f"{TWIN}-bytes")
    alone, listed = check("Always", "--jobs", jobs), check("Always", "--jobs", jobs, *entry)
    assert 2 <= alone.starts <= jobs + 1
    assert 3 <= listed.starts <= jobs + 3
    assert alone.labels == listed.labels


def test_a_large_run_starts_a_process_only_if_a_case_that_passed_fails_now(
    check: Check, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("wireproof.run.run.SMALL_RUN", 0)
    assert [check(codec).starts for codec in ("Always", "InFirstProcess", "Tires")] == [1, 1, 2]
    assert list(check("Tires").labels.values()).count("fail:flaky") > 2


def test_a_recorded_run_starts_no_process_beside(check: Check, tmp_path: Path) -> None:
    trace = tmp_path / "trace.jsonl"
    ran = check("InFirstProcess", *PROCESS, "--trace", trace)
    assert ran.labels[TWIN] == "fail:wrong-reject"
    assert ran.starts == 1
    assert trace.read_text().count(f'"{TWIN_BYTES.hex()}"') >= 2


def test_shards_ask_again(check: Check) -> None:
    found = [check("InFirstProcess", "--shard", f"{shard}/2").labels for shard in (1, 2)]
    assert sorted(found, key=len) == [{}, FLAKY]


def test_a_program_is_asked_again(check: Check) -> None:
    program = f"jsonl:{sys.executable} -S -E {SUPPORT / 'scripted_adapter.py'} refuses-once"
    assert check(program, "--run", f"{TWIN}*", *PROCESS).labels[LARGEST] == "fail:flaky"
