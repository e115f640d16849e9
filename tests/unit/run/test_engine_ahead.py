"""Cases that are put ahead, to an adapter that is a real process (`faulty_adapter.py`)."""

from pathlib import Path
from typing import Any

import pytest
from faulty_runs import LONG, SHORT, case, cases, good, spec

from wireproof.cases.case import Limits
from wireproof.cases.outcome import (
    Accepted,
    Crashed,
    Exhausted,
    Faulty,
    NotRun,
    TimedOut,
)
from wireproof.run.engine import Engine


def taken(*puts: list[bytes], ms: int = LONG) -> list[list[Any]]:
    """The outcomes of several puts, all of them sent before the first is taken."""
    with Engine(spec()) as engine:
        for parts in puts:
            engine.put(cases(*parts, ms=ms))
        return [[ran.outcome for ran in engine.take()] for _ in puts]


def test_what_is_put_ahead_is_taken_in_the_order_of_the_plan() -> None:
    puts = [[b"%d" % (number * 1000 + n) for n in range(700)] for number in range(3)]
    assert taken(*puts) == [[good(part) for part in parts] for parts in puts]


@pytest.mark.parametrize(
    ("fault", "kind"), [("segfault", Crashed), ("exit-0", Crashed), ("hang", TimedOut), ("noise", Faulty)]
)
@pytest.mark.parametrize("place", [0, 1, 2])
def test_one_of_many_in_flight_that_ends_the_adapter_costs_one_verdict(
    fault: str, kind: type, place: int
) -> None:
    """Return True if the case was queued together with the awaited one, before or after it."""
    puts = [[b"%d" % n for n in range(40)] for _ in range(3)]
    puts[place][17] = fault.encode()
    ms = 2 * SHORT if fault == "hang" else LONG  # what waits for its turn behind the silent one waits as long
    for number, outcomes in enumerate(taken(*puts, ms=ms)):
        bad = [
            n for n, (one, data) in enumerate(zip(outcomes, puts[number], strict=True)) if one != good(data)
        ]
        assert bad == ([17] if number == place else [])
        assert number != place or isinstance(outcomes[17], kind)


def test_each_of_many_that_end_the_adapter_costs_its_own_verdict() -> None:
    puts = [
        [b"segfault" if n == 5 else b"exit-0" if n == 6 else b"%d" % n for n in range(9)] for _ in range(3)
    ]
    found = taken(*puts)
    assert [[type(one) for one in outcomes[5:7]] for outcomes in found] == [[Crashed, Crashed]] * 3
    assert [outcomes[:5] + outcomes[7:] for outcomes in found] == [
        [good(b"%d" % n) for n in (0, 1, 2, 3, 4, 7, 8)]
    ] * 3


def test_a_case_measured_by_itself_waits_for_what_was_put_ahead() -> None:
    with Engine(spec()) as engine:
        engine.put([*cases(b"a"), case(b"needs-memory", limits=Limits(rss_mb=16))])
        engine.put(cases(b"b", b"c"))
        first, second = engine.take(), engine.take()
    assert first[0].outcome == good(b"a")
    assert isinstance(first[1].outcome, Exhausted)
    assert [ran.outcome for ran in second] == [good(b"b"), good(b"c")]


def test_an_adapter_that_does_not_start_again_leaves_no_put_waiting(tmp_path: Path) -> None:
    log = tmp_path / "starts"
    with Engine(spec(f"fails-to-start {log} 2 3 4 5 6 7")) as engine:
        engine.put(cases(b"a", b"segfault"))
        engine.put(cases(b"b"))
        engine.put(cases(b"c"))
        outcomes = [[ran.outcome for ran in engine.take()] for _ in range(3)]
    seen = [one for some in outcomes for one in some]
    assert sum(isinstance(one, Crashed) for one in seen) == 1, "the case that killed it keeps that"
    assert {type(one) for one in seen} <= {Accepted, NotRun, Crashed}
    assert isinstance(outcomes[2][0], NotRun)
    assert "did not start again" in outcomes[2][0].text
