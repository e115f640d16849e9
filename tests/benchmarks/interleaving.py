"""Two things timed in turn within one run, so that a slow minute of the machine slows both."""

import time
from collections.abc import Callable
from statistics import median
from typing import Any

ROUNDS = 40


def interleaved(
    benchmark: Any, ours: Callable[[], object], theirs: Callable[[], object], rounds: int = ROUNDS
) -> float:
    """The speed of `ours` over that of `theirs`: the median of the ratios of neighbouring rounds.

    The benchmark itself times `ours`; the ratio is printed and stands in `extra_info`.
    """
    ratios: list[float] = []

    ours(), theirs()  # both warm
    for number in range(rounds):  # in turn first, for what comes second finds other caches
        if number % 2:
            other, mine = _seconds(theirs), _seconds(ours)
        else:
            mine, other = _seconds(ours), _seconds(theirs)
        ratios.append(other / mine)
    ratio = median(ratios)
    benchmark.extra_info["ratio"] = round(ratio, 3)
    benchmark.pedantic(ours, rounds=3)
    print(f"\n{benchmark.name}: {ratio:.3f} of the other's speed")  # noqa: T201 - what a benchmark is for
    return ratio


def _seconds(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start
