"""Work is counted alike on every machine, and work that grows too fast is seen."""

import re
from collections.abc import Callable

import pytest
from work_counter import growth, steps


def once(size: int) -> Callable[[], object]:
    return lambda: [number + 1 for number in range(size)]


def each_with_each(size: int) -> Callable[[], object]:
    return lambda: [one + other for one in range(size) for other in range(size)]


def in_c(size: int) -> Callable[[], object]:
    word = re.compile("a")
    return lambda: [list(map(word.match, "a" * size)) and word.match("a") for _ in range(size)]


def test_the_same_call_takes_the_same_steps() -> None:
    assert steps(once(50)) == steps(once(50)) > 50


@pytest.mark.parametrize(("call", "growing"), [(once, 1), (each_with_each, 8), (in_c, 1)])
def test_growth_distinguishes_linear_work_from_quadratic(
    call: Callable[[int], Callable[[], object]], growing: int
) -> None:
    assert growth(call, 50) == pytest.approx(growing, rel=0.15)
