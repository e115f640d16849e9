"""The work of a call as a number that is the same on every machine."""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any


def steps(call: Callable[[], object]) -> int:
    """Return how many lines of Python a call runs, and how many functions of C it calls."""
    number = 0

    def line(_: FrameType, __: str, ___: Any) -> Any:
        nonlocal number
        number += 1
        return line

    def function(_: FrameType, event: str, __: Any) -> None:
        nonlocal number
        number += event == "c_call"

    tracing, profiling = sys.gettrace(), sys.getprofile()
    sys.settrace(line)
    sys.setprofile(function)
    try:
        call()
    finally:
        sys.settrace(tracing)
        sys.setprofile(profiling)
    return number


def growth(call: Callable[[int], Callable[[], object]], size: int, times: int = 8) -> float:
    """Return the work for each byte of `times` the size against that of the size: 1 is linear."""
    call(size)()  # what is made once and kept is made here
    return steps(call(size * times)) / steps(call(size)) / times
