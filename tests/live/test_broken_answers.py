"""A broker that breaks its answers fails by the rules that it breaks, whatever its cases are about."""

import json
import re
from pathlib import Path
from typing import Final

import pytest

from tests.live import fault_table, proxy
from tests.live.judging import Judged, judged
from tests.live.mock_broker.server import cluster_of, running
from wireproof.adapters.process import controller
from wireproof.cases.fixtures import load
from wireproof.live.loopback_broker import server
from wireproof.run.engine import Engine
from wireproof.run.events import CaseEvent, read_events

pytestmark = pytest.mark.live

PRODUCER = "kafka.log/mixed/append/producer-*"
SHOULD = (PRODUCER, "kafka.log/mixed/append/max-timestamp-*", "kafka.log/mixed/append/compact-*")
STEPS = (
    "kafka.log/mixed/transaction/first-open",
    "kafka.log/mixed/transaction/abort",
    "kafka.log/mixed/idempotence/wrap-*",
)


def run_of(fault: str, every: int, cases: tuple[str, ...], folder: Path) -> tuple[Judged, list[CaseEvent]]:
    """Check the loopback broker behind a proxy at the default level."""
    with running() as broker, proxy.running(broker, fault, every) as broken:
        run = judged([f"127.0.0.1:{broken.port}"], folder, "--level", "must", cases=cases)
        assert broken.broken
    (stream,) = read_events(folder / "run.jsonl")
    return run, list(stream.cases)


def level_of(event: CaseEvent) -> str:
    return load().by_id[event.id].level


def test_a_bit_that_is_flipped_in_every_fetch_fails_cases_of_level_should_by_the_checksum(
    tmp_path: Path,
) -> None:
    markdown, junit = tmp_path / "run.md", tmp_path / "junit.xml"
    with running() as broker, proxy.running(broker, "bit-of-fetch") as broken:
        views = ("--markdown", str(markdown), "--junit", str(junit))
        run = judged([f"127.0.0.1:{broken.port}"], tmp_path, "--level", "must", *views, cases=[PRODUCER])
    (stream,) = read_events(tmp_path / "run.jsonl")
    assert {level_of(event) for event in stream.cases} == {"should"}
    assert run.code == 1
    assert {(event.level, event.broken) for event in stream.cases} == {("must", "kafka.append.crc")}
    first = next(line for line in run.output.splitlines() if line.startswith("FAIL"))
    assert "  kafka.append.crc  must produce" in first
    assert "kafka.append.crc" in markdown.read_text()
    assert 'message="breaks kafka.append.crc (must)' in junit.read_text()


SILENT: Final = {"half-answer", "long-frame", "silence"}
"""The faults after which the rest of an answer does not come."""

NAMES: Final = {
    "bytes-behind": r"(Fetch|Produce) \d+: 5 bytes behind the answer, of \d+ bytes: 0000",
    "correlation-id": r"(Fetch|Produce) \d+: the correlation id of the answer is \d+, not \d+",
    "cut-frame": r"(Fetch|Produce) \d+: an answer that (is too short|cannot be read), of \d+ bytes: 0000",
    "half-answer": r"(Fetch|Produce) \d+: \d+ of \d+ bytes of the answer came, then nothing",
    "http": r"(Fetch|Produce) \d+: an answer of HTTP: 48545450",
    "largest-size": r"(Fetch|Produce) \d+: an answer of length 2147483647",
    "long-frame": r"(Fetch|Produce) \d+: \d+ of \d+ bytes of the answer came, then nothing",
    "negative-size": r"(Fetch|Produce) \d+: an answer of length -1",
    "no-correlation-id": r"(Fetch|Produce) \d+: an answer of 2 bytes: 0000, without a correlation id",
    "silence": r"(Fetch|Produce) \d+: no answer in time",
    "tls": r"(Fetch|Produce) \d+: an answer of TLS: 15030300",
    "twice": r"(Fetch|Produce) \d+: request \d+ is answered again",
    "unasked": r"(Fetch|Produce) \d+: an answer without a request, with correlation id 7+",
}
"""What the report says of each fault of a frame."""

CONTENTS: Final = {
    "aborted-emptied": set(),
    "batches-exchanged": {"kafka.fetch.readable"},
    "bit-repaired": {"kafka.append.earlier"},
    "first-batch-lost": {"kafka.append.earlier"},
    "first-batch-twice": {"kafka.append.records"},
    "last-batch-twice": {"kafka.append.earlier"},
    "records-cut": {"kafka.append.records"},
    "watermark": {"kafka.append.offsets"},
}
"""Rules that are broken where every answer that can be has the fault; other rules may be broken too."""


@pytest.mark.parametrize("fault", NAMES)
def test_one_broken_answer_in_fifty_is_named_in_a_case_of_level_should(fault: str, tmp_path: Path) -> None:
    run, events = run_of(fault, 50, SHOULD, tmp_path)
    assert run.code == 1, run.output
    failed = [event for event in events if event.verdict in ("fail", "stalled")]
    assert {event.broken or None for event in failed} == (
        {None} if fault in SILENT else {"kafka.answer.frame"}
    )
    assert "should" in {level_of(event) for event in failed}
    assert all(re.search(NAMES[fault], event.got) for event in failed), run.output


@pytest.mark.parametrize("fault", CONTENTS)
def test_what_every_answer_says_wrongly_fails_cases(fault: str, tmp_path: Path) -> None:
    run, events = run_of(fault, 1, STEPS if fault == "aborted-emptied" else SHOULD, tmp_path)
    assert run.code == 1
    assert {event.broken for event in events} >= CONTENTS[fault], run.output


@pytest.mark.parametrize(
    ("fault", "line"),
    [
        ("closed-inside", r"asked again or opened again: \d+ cases whose connection the broker closed"),
        ("dropped-after-40", r"asked again or opened again: .*\d+ cases whose connection the broker closed"),
        ("produce-lost", r"asked again or opened again: \d+ cases whose connection the broker closed"),
    ],
)
def test_what_was_asked_again_is_counted_at_the_end(fault: str, line: str, tmp_path: Path) -> None:
    run, _ = run_of(fault, 50, fault_table.CASES, tmp_path)
    assert run.code == 0, run.output
    assert re.search(line, run.output)


def test_what_was_asked_again_is_counted_where_the_end_takes_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(controller, "EXIT_SECONDS", 0.0)  # as if the machine had no time for it
    cases = [case for case in load().cases if case.id.startswith(PRODUCER.removesuffix("*"))]
    with running() as broker, proxy.running(broker, "closed-inside", 7, 1) as broken:
        with Engine(f"kafka-broker:127.0.0.1:{broken.port}") as engine:
            list(engine.run(cases))
        assert "asked again or opened again: 1 cases whose connection the broker closed" in engine.notes


def test_a_connection_that_is_dropped_while_topics_are_deleted_leaves_none(tmp_path: Path) -> None:
    cluster = cluster_of()
    with server.running(cluster) as broker, proxy.running(broker, "dropped-after-40") as broken:
        run = judged([f"127.0.0.1:{broken.port}"], tmp_path, cases=fault_table.CASES)
    assert (cluster.topics, "left" in run.output) == ({}, False), run.output


def test_answers_that_are_late_are_no_fault(tmp_path: Path) -> None:
    run, _ = run_of("late", 10, STEPS, tmp_path)
    assert run.code == 0, run.output
    assert "again" not in run.output


def test_every_fault_of_a_proxy_is_tested() -> None:
    assert proxy.FRAMES.keys() == NAMES.keys()
    assert proxy.CONTENTS.keys() == CONTENTS.keys() | {"bit-of-fetch"}


def test_one_flipped_bit_in_fifty_fetches_is_named_by_the_checksum(tmp_path: Path) -> None:
    run, events = run_of("bit-of-fetch", 50, SHOULD, tmp_path)
    failed = {event.broken for event in events if event.broken}
    assert (run.code, failed) == (1, {"kafka.append.crc"}), run.output


def test_a_flipped_bit_fails_a_case_with_steps_by_the_checksum(tmp_path: Path) -> None:
    run, events = run_of("bit-of-fetch", 1, STEPS, tmp_path)
    assert run.code == 1
    assert "kafka.append.crc" in {event.broken for event in events if level_of(event) == "should"}, run.output


def test_a_fault_that_is_the_subject_of_its_case_stays_below_the_level_and_is_named_at_the_end(
    tmp_path: Path,
) -> None:
    with running("loses-producer") as address:
        run = judged([address], tmp_path, "--level", "must", cases=[PRODUCER])
    assert run.code == 0
    assert "below the level: 6 of kafka.append.producer" in [line.strip() for line in run.output.splitlines()]
    assert json.loads((tmp_path / "run.jsonl").read_text().splitlines()[1]).get("broken") is None
