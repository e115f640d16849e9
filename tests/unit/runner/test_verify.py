"""The chain of a run, and a second look at some of its verdicts."""

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from attrs import evolve
from command_line import Command
from small_runs import FAIL, PASS, RUN, SKIP, event

from tests.mutants.registry import spec_of
from wireproof.runner.event_files import EventStream, EventWriter, parse_events
from wireproof.runner.verify_run import chain_break, chain_digest, sample_events, verdict_changes

LENIENT = spec_of("mutant:crc-skip")
SMALL = ("--run", "kafka.batch/v2/crc/*", "--in-process")
TRUSTED = ("--adapter", LENIENT, "--in-process")


def lines(*, started: str = "", ns: int = 7) -> list[str]:
    out = io.StringIO()
    writer = EventWriter(out, evolve(RUN, started=started))
    for one in (PASS, FAIL, SKIP):
        writer.case(evolve(one, ns=ns))
    writer.footer()
    return out.getvalue().splitlines(keepends=True)


def one(text: list[str]) -> EventStream:
    (stream,) = parse_events(text)
    return stream


def test_each_event_bears_the_digest_of_the_one_before_and_the_footer_the_last() -> None:
    rows = [json.loads(line) for line in lines()]
    assert "previous" not in rows[0]
    assert len({row["previous"] for row in rows[1:]}) == len(rows) - 1
    assert chain_break(one(lines())) is None


def test_two_runs_that_differ_in_times_only_have_one_head() -> None:
    assert chain_digest(one(lines())) == chain_digest(one(lines(started="2026-01-01T00:00:00Z", ns=8)))
    assert chain_digest(one(lines())) != chain_digest(one(lines()[:-1]))


CHANGES: dict[str, Callable[[list[str]], list[str]]] = {
    "a verdict": lambda text: [line.replace('"got":"accept,', '"got":"refuse,') for line in text],
    "the manifest": lambda text: [text[0].replace('"version":"1.2"', '"version":"1.3"'), *text[1:]],
    "a case moved": lambda text: [text[0], text[2], text[1], *text[3:]],
    "a case written twice, another dropped": lambda text: [*text[:3], text[2], text[3]],
    "digests taken out": lambda text: [line.replace('"previous"', '"token"') for line in text[:-1]],
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_run_that_was_changed_has_a_broken_chain(name: str) -> None:
    changed = CHANGES[name](lines())
    assert changed != lines()
    found = chain_break(one(changed[:4]))
    assert found is not None
    assert "digest" in found.text


def test_the_seed_decides_which_cases_are_judged_again() -> None:
    many = [event(seq, f"a/c{seq}") for seq in range(50)]
    stream = EventStream(RUN, (*many, event(50, "a/skipped", "unsupported"), event(51, "a/late", "not-run")))
    assert sample_events(stream, 5, 1) == sample_events(stream, 5, 1)
    assert sample_events(stream, 5, 1) != sample_events(stream, 5, 2)
    assert sample_events(stream, 1000, 0) == many


def test_another_verdict_kind_or_class_is_a_difference_and_a_case_that_is_gone() -> None:
    assert verdict_changes([PASS, FAIL], [PASS, evolve(FAIL, ns=9)]) == ()
    for now in ([evolve(FAIL, kind="wrong-value")], [evolve(FAIL, cls="bad-magic")], []):
        (found,) = verdict_changes([FAIL], now)
        assert found.text.startswith(f"{FAIL.id}: was fail:wrong-accept crc-mismatch, is ")


# --- the verb ---


@pytest.fixture
def run(wireproof: Command, tmp_path: Path) -> Path:
    path = tmp_path / "run.jsonl"
    assert wireproof("check", LENIENT, *SMALL, "--out", path).code == 1
    return path


def test_a_run_is_verified_by_its_chain_and_by_a_sample(wireproof: Command, run: Path) -> None:
    done = wireproof("verify", run, *TRUSTED, "--sample", 20, "--seed", 3)
    assert done.code == 0, done.out
    assert "the chain holds, its head is " in done.out
    assert f"{LENIENT}: 20 cases judged again, 0 otherwise" in done.out


def test_verdicts_that_nobody_gave_are_found_by_the_sample(wireproof: Command, run: Path) -> None:
    """A run that is written to look right has a chain that holds."""
    (stream,) = parse_events(run.read_text("utf-8").splitlines(keepends=True))
    with run.open("w", encoding="utf-8") as out:
        writer = EventWriter(out, stream.run)
        for case in stream.cases:
            writer.case(evolve(case, verdict="pass", kind="canonical", cls="", token=""))
        writer.footer()
    assert wireproof("verify", run, "--sample", 0).code == 0
    done = wireproof("verify", run, *TRUSTED, "--sample", 1000)
    assert done.code == 1
    assert "kafka.batch/v2/crc/bit-flip-in-value: was pass:canonical, is fail:wrong-accept" in done.out


def test_changed_incomplete_and_foreign_runs_are_reported(wireproof: Command, run: Path) -> None:
    text = run.read_text("utf-8").splitlines(keepends=True)
    run.write_text("".join(text[:-1]), encoding="utf-8")
    cut = wireproof("verify", run, "--sample", 0)
    assert (cut.code, "incomplete, the chain holds" in cut.out) == (1, True)

    run.write_text("".join([text[0].replace('"fixtures":"', '"fixtures":"00'), *text[1:]]), encoding="utf-8")
    changed = wireproof("verify", run, *TRUSTED)
    assert changed.code == 1
    assert "the chain breaks: event 1, " in changed.out

    (stream,) = parse_events(text)
    with run.open("w", encoding="utf-8") as out:
        EventWriter(out, evolve(stream.run, fixtures="00")).footer()
    other = wireproof("verify", run, *TRUSTED)
    assert other.code == 2
    assert "was run on the fixtures 00" in other.one_line()


def test_a_command_is_started_only_if_the_user_names_it(
    wireproof: Command, run: Path, tmp_path: Path
) -> None:
    """A run may come from somebody else, and name any command as its adapter."""
    (stream,) = parse_events(run.read_text("utf-8").splitlines(keepends=True))
    started = tmp_path / "started"
    command = f"exec:{sys.executable} -c \"open('{started}', 'w')\""
    with run.open("w", encoding="utf-8") as out:
        writer = EventWriter(out, evolve(stream.run, spec=command, adapter="innocent"))
        for case in stream.cases:
            writer.case(case)
        writer.footer()
    refused = wireproof("verify", run)
    assert refused.code == 2
    assert "which would be started here" in refused.err
    assert wireproof("verify", run, "--sample", 0).code == 0
    assert not started.exists()
    assert wireproof("verify", run, "--adapter", command).code == 4  # it ends without a hello
    assert started.exists()


def test_another_adapter_may_judge_the_sample_of_a_single_run(wireproof: Command, run: Path) -> None:
    """The command of one machine has another path on the next."""
    done = wireproof("verify", run, "--adapter", "reference", "--in-process", "--sample", 1000)
    assert done.code == 1
    assert "kafka.batch/v2/crc/bit-flip-in-value: was fail:wrong-accept crc-mismatch, is pass" in done.out


def test_a_file_without_a_run_is_one_line(wireproof: Command) -> None:
    assert "holds no run" in wireproof("verify", "/dev/null").one_line()
