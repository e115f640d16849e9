"""Runs of the engine with `faulty_adapter.py`, a real process, and the cases that it is asked."""

import sys
from typing import Any

from folders import SUPPORT

from wireproof.cases.case import Accept, Case, Data, Limits
from wireproof.cases.outcome import Accepted
from wireproof.run.engine import Engine

FAULTY = SUPPORT / "faulty_adapter.py"
GOOD = [b"a", b"bb", b"ccc"]

MUTE = (b"hang", b"half-a-frame")
SHORT, LONG = 700, 60_000
"""Milliseconds."""


def spec(fault: str = "obeys-bytes") -> str:
    return f"exec:{sys.executable} -S -E {FAULTY} {fault}"


def case(data: bytes, number: int = 0, **more: Any) -> Case:
    return Case(f"toy/v1/basic/c{number}", "toy", "v1", Data(data), Accept({"hex": data.hex()}), **more)


def cases(*parts: bytes, ms: int | None = None) -> list[Case]:
    """A case of each part; one that is never answered has a short time, the others all they may want."""
    limits = [Limits(ms=ms or (SHORT if part in MUTE else LONG)) for part in parts]
    return [
        case(part, number, limits=limit)
        for number, (part, limit) in enumerate(zip(parts, limits, strict=True))
    ]


def run(plan: list[Case], fault: str = "obeys-bytes", **options: Any) -> tuple[list[Any], Engine]:
    with Engine(spec(fault), **options) as engine:
        return [ran.outcome for ran in engine.run(plan)], engine


def good(data: bytes) -> Accepted:
    return Accepted({"hex": data.hex()}, len(data))


def around(fault: str, **options: Any) -> tuple[Any, Engine]:
    """The outcome of the faulty case, after a check that its neighbours kept their results."""
    outcomes, engine = run(cases(*GOOD, fault.encode(), *GOOD), **options)
    assert outcomes[:3] == outcomes[4:] == [good(data) for data in GOOD]
    return outcomes[3], engine
