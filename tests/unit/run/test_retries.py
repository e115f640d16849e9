"""Failures that are asked again: what passes then is flaky, what fails again stays what it was."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen
from command_line import Command, Done
from flaky_codecs import TWIN as TWIN_BYTES
from folders import SUPPORT

from wireproof.run.events import CaseEvent, EventStream, read_events

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


def test_a_failure_at_random_passes_when_asked_again(check: Check) -> None:
    ran = check("AtRandom")
    assert len(ran.labels) > 2
    assert set(ran.labels.values()) == {"fail:flaky"}
    assert ran.done.code == 1
    event = next(iter(ran.failures.values()))
    assert event.text.startswith("fail:wrong-reject, but passes when asked again; `flaky = true` in a")
    assert (event.cls, event.path) == ("", "")
    assert event.want.startswith("accept")
    assert event.got.startswith("refuse other")


def test_the_end_of_a_run_says_once_how_many_are_flaky_and_what_to_do(check: Check, tmp_path: Path) -> None:
    page = tmp_path / "run.md"
    ran = check("AtRandom", "--markdown", page)
    assert f"{len(ran.labels)} failures pass when asked again" in ran.flaky_line
    assert ran.flaky_line.endswith("or accept it: baseline add FILE RUN fail:flaky")
    assert f"- {ran.flaky_line.strip()}\n" in page.read_text()
    assert "1 failure passes when asked again" in check("InFirstProcess").flaky_line


def test_what_the_first_process_always_fails_passes_in_a_fresh_one(check: Check) -> None:
    ran = check("InFirstProcess", *PROCESS)
    assert (ran.labels, ran.starts, ran.done.code) == (FLAKY, 2, 1)
    assert "passes when asked again in a fresh process" in ran.failures[TWIN].text


def test_an_object_in_this_process_is_asked_again_as_a_fresh_object(check: Check) -> None:
    ran = check("InFirstProcess")
    assert (ran.labels, ran.starts, ran.done.code) == (FLAKY, 2, 1)
    assert "passes when asked again by a fresh object" in ran.failures[TWIN].text


def test_what_fails_only_as_the_first_case_of_a_process_is_flaky(check: Check) -> None:
    ran = check("AsFirst", *PROCESS)
    assert list(ran.labels.values()) == ["fail:flaky"]
    assert (ran.starts, ran.done.code) == (1, 1)


def test_what_always_fails_stays_what_it_was(check: Check) -> None:
    ran = check("Always", *PROCESS)
    assert ran.labels[TWIN] == ran.labels[LARGEST] == "fail:wrong-reject"
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


def test_a_refusal_counts_if_its_twin_passes_when_asked_again(check: Check) -> None:
    assert f"blocked:{TWIN}" in check("Always").labels.values()
    assert check("InFirstProcess").labels == FLAKY


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
