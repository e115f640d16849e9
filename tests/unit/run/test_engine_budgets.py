"""Limits of memory and of deaths, for adapters that are real processes (`faulty_adapter.py`)."""

import re

import pytest
from faulty_runs import LONG, case, cases, good, run

from wireproof.adapters.requests import MAX_CONSECUTIVE_TIMEOUTS, MAX_TIMEOUTS, FailureBudget
from wireproof.cases.case import Limits
from wireproof.cases.outcome import (
    Crashed,
    Exhausted,
    NotRun,
    TimedOut,
)


def test_an_adapter_that_hangs_on_everything_uses_up_a_budget_over_all_families() -> None:
    outcomes, engine = run(cases(*[b"hang"] * 20, ms=50))
    assert [type(one) for one in outcomes].count(TimedOut) == MAX_CONSECUTIVE_TIMEOUTS
    rest = [one for one in outcomes if isinstance(one, NotRun)]
    assert len(rest) == 20 - MAX_CONSECUTIVE_TIMEOUTS
    assert f"{MAX_CONSECUTIVE_TIMEOUTS} cases in a row without an answer in time" in rest[0].text
    assert engine.deaths.count == MAX_CONSECUTIVE_TIMEOUTS


def test_timeouts_are_bounded_in_number_where_some_cases_are_answered() -> None:
    deaths = FailureBudget()
    for number, one in enumerate(cases(*[b"hang"] * MAX_TIMEOUTS)):
        assert deaths.verdict(one) is None
        deaths.add(one, TimedOut(100), "timeout")
        if number % 2:
            deaths.answered()
    left_out = deaths.verdict(case(b"x", 1000))
    assert left_out is not None
    assert f"{MAX_TIMEOUTS} cases without an answer in time" in left_out.text


def test_three_deaths_of_one_kind_end_a_family_but_not_its_neighbours() -> None:
    family = [case(b"segfault", n, parent="toy/v1/basic/mother") for n in range(9)]
    outcomes, engine = run([*family, *cases(b"ok")])
    crashed = [n for n, outcome in enumerate(outcomes) if isinstance(outcome, Crashed)]
    rest = [outcome for outcome in outcomes if isinstance(outcome, NotRun)]
    assert (len(crashed), len(rest), engine.deaths.count) == (3, 6, 3)
    assert rest[0].text in {f"same as toy/v1/basic/c{n}" for n in crashed}
    assert outcomes[-1] == good(b"ok")


def test_a_death_that_no_case_causes_alone_is_that_of_the_oldest_in_flight() -> None:
    outcomes, engine = run(cases(*[b"x"] * 5), "exits-after-three")
    (told,) = [outcome for outcome in outcomes if isinstance(outcome, Crashed)]
    assert "none of which does it alone" in told.text
    assert len(engine.notes) == 1


@pytest.mark.parametrize("fault", ["eats-memory", "child-eats-memory"])
def test_memory_of_the_whole_tree_is_bounded(fault: str) -> None:
    outcomes, _ = run(cases(b"a", fault.encode()), memory=200 << 20)
    assert outcomes[0] == good(b"a")
    assert isinstance(outcomes[1], Exhausted)
    assert re.search(r"\d+ MiB resident, over the limit of 200 MiB", outcomes[1].text)


def test_the_memory_limit_of_a_case_is_held_against_its_own_peak() -> None:
    limits = Limits(ms=LONG, rss_mb=32)
    plan = [case(b"needs-memory", 0, limits=limits), case(b"small", 1, limits=limits)]
    outcomes, _ = run(plan)
    assert isinstance(outcomes[0], Exhausted)
    # 64 MiB of bytes, and as many in the bytearray that they are copied to: if nobody looks before the end.
    assert re.match(r"used \d+ MiB; the limit is 32 MiB", outcomes[0].text)
    assert outcomes[1] == good(b"small")


def test_a_case_over_its_memory_is_ended_by_that_and_not_by_its_time() -> None:
    outcomes, engine = run([case(b"eats-memory", 0, limits=Limits(ms=LONG, rss_mb=32)), *cases(b"b")])
    assert isinstance(outcomes[0], Exhausted)
    assert re.match(r"used \d+ MiB; the limit is 32 MiB", outcomes[0].text)
    assert outcomes[1] == good(b"b")
    assert engine.deaths.count == 1


def test_a_case_too_large_for_a_message_is_not_run_and_holds_up_nobody() -> None:
    outcomes, _ = run(cases(b"a", bytes(33 << 20), b"b"))
    assert outcomes[::2] == [good(b"a"), good(b"b")]
    assert isinstance(outcomes[1], NotRun)
    assert "over the limit" in outcomes[1].text
