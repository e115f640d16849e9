"""The adapters that misbehave, each under a name of its own, and what the suite makes of each.

architecture.md#strength: fourteen faulty adapters. Some faults are none of the codec's and must cost nothing.
"""

import sys
from typing import Any

from attrs import field, frozen
from each import each
from folders import SUPPORT

from wireproof.cases.case import Accept, Case, Data, Limits
from wireproof.runner.engine import Engine
from wireproof.runner.judge import judge
from wireproof.runner.probe import findings, judged

PROGRAM = SUPPORT / "faulty_adapter.py"


@frozen
class Fault:
    """How `faulty_adapter.py` is asked for a fault, and the verdicts that must and that may come of the run.

    Attributes:
        caught: a label that some case must get.
        program: its argument; without one the fault waits for its own name among the bytes.
        cases: what is asked; the words that bring the fault about are among them.
        options: of the engine.
        others: further labels that cases may get.
    """

    caught: str
    program: str = "obeys-bytes"
    cases: tuple[bytes, ...] = ()
    options: dict[str, Any] = field(factory=dict)
    others: frozenset[str] = frozenset()


def at(fault: str, caught: str) -> Fault:
    """A fault in one case, whose neighbours pass."""
    return Fault(caught, cases=(b"a", fault.encode(), b"b"), others=frozenset({"pass"}))


MANY = tuple(b"%d" % number for number in range(60))
FEW = MANY[:20]
"""Enough for a fault that comes every fifth time, and for 200 MiB of 16 MiB each."""

SOME = frozenset({"pass", "not-run"})

FAULTS = {
    "hang": at("hang", "timeout"),
    "slow-quadratic": Fault(
        "timeout", "slow-quadratic", (b"x" * 10, b"x" * 100, b"x" * 3000), others=frozenset({"pass"})
    ),
    "exit-0-midway": at("exit-0", "crash"),
    "segfault-on-nth": Fault("crash", "segfault-on-nth", FEW, others=SOME),
    "stdout-noise": at("noise", "adapter-error"),
    "stderr-flood": at("floods-stderr", "pass"),
    "split-writes": at("split-writes", "pass"),
    "wrong-id": at("wrong-id", "adapter-error"),
    "repeat-id": Fault("adapter-error", cases=(*MANY, b"repeated-id"), others=frozenset({"pass"})),
    "huge-frame": at("huge-frame", "adapter-error"),
    "leaky-state": Fault(
        "fail:wrong-value", "leaky-state", (b"a", b"", b"b", b"", b"c", b""), others=frozenset({"pass"})
    ),
    "claims-too-much": Fault("fail:undeclared-skip", "claims-wrongly", (b"a",)),
    "grows-memory": Fault("resource:memory", "grows-memory", FEW, {"memory": 200 << 20}, SOME),
}


def cases(fault: Fault) -> list[Case]:
    limits = Limits(ms=700 if fault.caught == "timeout" else 60_000)
    return [
        Case(f"toy/v1/basic/c{n}", "toy", "v1", Data(data), Accept({"hex": data.hex()}), limits=limits)
        for n, data in enumerate(fault.cases)
    ]


def spec(program: str) -> str:
    return f"exec:{sys.executable} -S -E {PROGRAM} {program}"


@each("name", FAULTS)
def test_a_faulty_adapter_is_caught(name: str) -> None:
    fault = FAULTS[name]
    with Engine(spec(fault.program), **fault.options) as engine:
        found = [
            judge(ran.case, ran.outcome, hello=engine.hello, reference=None).label
            for ran in engine.run(cases(fault))
        ]
    labels = {label.removesuffix(":canonical") for label in found}
    assert fault.caught in labels
    assert labels <= {fault.caught, *fault.others}


def test_an_adapter_that_claims_too_little_is_found_by_the_probe() -> None:
    needs = ("codec:lz4",)
    asked = Case("toy/v1/basic/lz4", "toy", "v1", Data(b"a"), Accept({"hex": "61"}), needs=needs)
    with Engine(spec("claims-too-little")) as engine:
        found = {
            f"{one.kind}:{one.name}": one.standing
            for one in findings(engine.hello, judged(engine.hello, engine.ask([asked])))
        }
    assert found["codec:lz4"] == "under-claimed"
