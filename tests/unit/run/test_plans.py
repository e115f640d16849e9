"""The parts of runs, put together; shards, generated cases."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from command_line import Command
from each import each
from goldens import load

from wireproof.adapters import requests
from wireproof.adapters.contract import Claim, Hello
from wireproof.adapters.requests import NO_DIGESTS, prepare_case
from wireproof.cases.case import Accept, Case
from wireproof.cases.made_case import made_case, made_input
from wireproof.cases.outcome import Accepted, Unsupported
from wireproof.cli.check import plan as check_plan
from wireproof.cli.check.plan import CheckPlan
from wireproof.cli.check.worker import Ask, CheckOptions, CheckWork, Judged, Start, Started, Task
from wireproof.judge.judge import judge, needs_value
from wireproof.run.engine import Engine
from wireproof.run.events import Shard, joined, read_events
from wireproof.run.run import Selection, run
from wireproof.run.workers import TaskEnded, WorkerDiedError

PLACE = "iggy.identifier/0.0.30"
NAMES = ("identifier/numeric-max", "identifier/string", "text/nul")
DIES = "py:tests.support.hanging_codecs:DiesAtLargest"
HELLO = Hello("a codec", "1")
KILLED = WorkerDiedError("it was killed")


def plan_of(*specs: str, families: bool = False) -> CheckPlan:
    cases = tuple(load().by_id[f"{PLACE}/{name}"] for name in NAMES)
    options = CheckOptions(
        suite=load(), fixtures="", cases=cases, left_out=(), families=families, examples=None, golden=True,
        in_process=False, seed=0, scale=1.0, level="must", filters=(), baseline=None,
    )  # fmt: skip
    return CheckPlan(options, specs)


def judged(plan: CheckPlan, *, first_is_late: bool) -> list[tuple[int, str, str]]:
    """Judge with two workers; with `first_is_late` the second one tells about its golden case first."""
    work = CheckWork(plan.options, tuple(plan.specs))

    def tell(worker: int, task: Task, messages: Sequence[Any]) -> None:
        for message in (*messages, TaskEnded()):
            plan.receive(worker, task, message)

    with work() as one, work() as two:
        start = plan.next_task(0)
        tell(0, start, tuple(one(start)))
        if first_is_late:
            early, late = plan.next_task(0), plan.next_task(1)
            found = tuple(one(early))
            tell(1, late, tuple(two(late)))
            tell(0, early, found)
        for worker, messages in ((0, one), (1, two)):
            while task := plan.next_task(worker):
                tell(worker, task, tuple(messages(task)))
    assert plan.runs[0].ended
    return [(event.seq, event.id, event.verdict) for event in plan.runs[0].events]


def test_what_was_judged_behind_the_end_of_a_budget_counts_for_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Another worker has accepted later cases already, from which nothing may be derived then."""
    monkeypatch.setattr(check_plan, "GOLDEN", 1)
    monkeypatch.setattr(requests, "MAX_SIGNATURES", 1)
    in_order = judged(plan_of(DIES, families=True), first_is_late=False)
    assert [verdict for _, _, verdict in in_order] == ["crash", "not-run", "not-run"]
    assert judged(plan_of(DIES, families=True), first_is_late=True) == in_order


def test_a_worker_that_dies_takes_those_adapters_that_no_other_may_keep() -> None:
    plan = plan_of("live", "other", "next")
    plan.runs[0].alone = True
    for number in (0, 1):
        plan.receive(0, Start(number), Started(number, HELLO, ()))
        plan.runs[number].begun = True
        plan.runs[number].workers.add(0)
    plan.receive(0, Start(2), TaskEnded(KILLED))
    assert [run.error for run in plan.runs] == [KILLED, None, KILLED]
    assert [run.ended for run in plan.runs] == [True, False, True]
    task = plan.next_task(1)
    assert isinstance(task, Ask)
    assert task.kind == "golden"


def test_a_worker_that_dies_after_the_last_part_leaves_the_run_whole() -> None:
    plan = plan_of("one", "two")
    plan.receive(0, plan.next_task(0), Started(0, HELLO, ()))
    plan.runs[0].parts.clear()
    plan.receive(0, Start(1), TaskEnded(KILLED))
    assert [run.error for run in plan.runs] == [None, KILLED]
    assert plan.runs[0].footer is not None


def test_a_run_that_nobody_is_left_to_judge_ends_with_an_error() -> None:
    plan = plan_of("one", "two")
    plan.receive(0, plan.next_task(0), Started(0, HELLO, ()))
    plan.end()
    assert [str(run.error) for run in plan.runs] == ["no process was left to judge it"] * 2


def test_a_message_about_a_run_that_has_ended_comes_too_late() -> None:
    plan = plan_of("one")
    start = plan.next_task(0)
    plan.receive(0, start, Started(0, HELLO, ()))
    task = plan.next_task(0)
    assert isinstance(task, Ask)
    plan.receive(1, start, TaskEnded(KILLED))
    plan.receive(0, task, Judged(0, task.parts[0].number, ((0, *("x",) * 5, "pass"),)))
    assert plan.runs[0].events == []


# --- shards ---


SELECTED = ("--run", "iggy.identifier/0.8/**")


@each("text", ["", "1", "0/3", "4/3", "1/0", "1/1001", "-1/3", "1/3 ", "٣/٣"])
def test_a_shard_is_a_number_of_a_count(text: str, wireproof: Command) -> None:
    with pytest.raises(ValueError, match="write 2/5 for the second of five"):
        Shard.of(text)
    done = wireproof("check", "reference", *SELECTED, "--shard", text)
    assert (done.code, "is no shard: write 2/5" in done.err) == (2, True)


def test_shards_take_every_item_once_and_keep_its_place() -> None:
    plan = list("abcdefgh")
    found: dict[int, str] = {}
    for number in (1, 2, 3):
        shard = Shard(number, 3)
        found |= {shard.place(seq): item for seq, item in enumerate(shard.part(plan))}
    assert [found[place] for place in sorted(found)] == plan


def test_merged_shards_are_the_whole_run(wireproof: Command, tmp_path: Path) -> None:
    whole, *parts = (tmp_path / name for name in ("whole", "one", "two", "three"))
    wireproof("check", "reference", *SELECTED, "--in-process", "--out", whole)
    for number, part in enumerate(parts, 1):
        shard = ("--shard", f"{number}/3")
        assert wireproof("check", "reference", *SELECTED, "--in-process", *shard, "--out", part).code == 0
    (run,) = read_events(whole)
    (merged,) = joined([stream for part in reversed(parts) for stream in read_events(part)])
    assert merged.complete
    assert {one.id: one.label for one in merged.cases} == {one.id: one.label for one in run.cases}
    golden = [one.id for one in run.cases if "~" not in one.id]
    assert [one.id for one in merged.cases][: len(golden)] == golden
    (two,) = joined([stream for part in parts[:2] for stream in read_events(part)])
    assert not two.complete
    assert "10 of 10" not in wireproof("report", *parts[:2]).out


# --- generated cases in a run ---


ONE = "kafka.batch/v2/size/zstd-value-65537"
LARGE = "kafka.batch/v2/size/zstd-value-40m"
LARGE_WRITTEN = "iggy.send/0.11/size-encode/payload-12m"
WRITTEN = "kafka.batch/v2/size-encode/none-value-65537"

SOMEBODY = Hello("somebody", "1")
DIGESTING = evolve(SOMEBODY, digests=True)
SHOWS_ALL = Hello("x", "1", {"kafka.batch/v2": Claim(observes=("*",))}, digests=True)


def case(name: str) -> Case:
    return load().by_id[name]


def value_of(one: Case) -> Accepted:
    made = made_case(one).expect
    assert isinstance(made, Accept)
    return Accepted(made.value, made.consumed)


def digest_of(one: Case) -> Accepted:
    return Accepted(consumed=one.expect.consumed, digest=one.expect.digest)


@each("large, small", [(LARGE, ONE), (LARGE_WRITTEN, WRITTEN)])
def test_a_large_value_is_for_adapters_that_answer_digests(large: str, small: str) -> None:
    assert prepare_case(case(large), SOMEBODY) == Unsupported(NO_DIGESTS)
    assert prepare_case(case(large), DIGESTING) == case(large)
    assert prepare_case(case(small), SOMEBODY) == case(small)


# --- what is compared ---


def test_a_digest_and_a_value_are_both_right() -> None:
    for outcome in (digest_of(case(ONE)), value_of(case(ONE))):
        assert judge(case(ONE), outcome, hello=SHOWS_ALL).label == "pass:canonical"
        assert not needs_value(case(ONE), outcome, SHOWS_ALL)


def test_another_digest_or_another_value_is_wrong() -> None:
    right = value_of(case(ONE)).value
    assert isinstance(right, dict)
    for outcome in (
        evolve(digest_of(case(ONE)), digest="00" * 16),
        evolve(value_of(case(ONE)), value={**right, "baseOffset": "1"}),
    ):
        assert judge(case(ONE), outcome, hello=DIGESTING).label == "fail:wrong-value"


def test_what_is_written_is_read_back() -> None:
    right = made_case(evolve(case("kafka.batch/v2/size/none-value-65537"))).input
    data = right.data
    assert judge(case(WRITTEN), Accepted(data=data)).label == "pass:semantic"
    assert judge(case(WRITTEN), Accepted(data=data[:-1])).label == "fail:wrong-bytes"


# --- a run ---


def test_a_note_counts_the_cases_that_were_not_asked() -> None:
    with Engine("reference", in_process=True) as engine:
        engine.hello = evolve(engine.hello, digests=False)
        events = list(run(engine, Selection((case(ONE), case(LARGE)), load().by_id)))
    assert [event.verdict for event in events] == ["pass", "unsupported"]
    assert engine.notes == [f"1 case of larger values was not asked: the adapter {NO_DIGESTS}"]


# --- verbs ---


def test_show_prints_the_recipe(wireproof: Command) -> None:
    out = wireproof("show", ONE).out
    assert '"kind": "kafka.batch/v2"' in out
    assert "made from this recipe" in out


def test_an_export_has_the_recipe_or_the_bytes(wireproof: Command, tmp_path: Path) -> None:
    for more, name in (((), "rules"), (("--generated",), "bytes")):
        wireproof("export", "--out", str(tmp_path / name), "--run", ONE, "--run", WRITTEN, *more)
    rows = {
        name: [
            json.loads(line) for line in (tmp_path / name / "cases.ndjson").read_text("utf-8").splitlines()
        ]
        for name in ("rules", "bytes")
    }
    assert ["generate" in row["input"] for row in rows["rules"]] == [True, True]
    assert not (tmp_path / "rules" / "raw").exists()
    file = next(row["file"] for row in rows["bytes"] if "file" in row)
    source = made_input(case(ONE))
    assert (tmp_path / "bytes" / file).read_bytes() == source.data
    assert ["hex" in row["input"] or "value" in row["input"] for row in rows["bytes"]] == [True, True]
