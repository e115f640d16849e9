"""The parts of runs, put together: whatever order their messages come in, and whoever dies meanwhile."""

from collections.abc import Sequence
from typing import Any

import pytest
from goldens import load

from wireproof.adapters import requests
from wireproof.adapters.contract import Hello
from wireproof.cli.check import plan as check_plan
from wireproof.cli.check.plan import CheckPlan
from wireproof.cli.check.worker import Ask, CheckOptions, CheckWork, Judged, Start, Started, Task
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
