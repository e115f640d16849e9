"""What a dead process was at, asked again: alone, in a fresh process, as every case is."""

from collections.abc import Iterator
from typing import Final

from attrs import evolve

from wireproof.cases.case import Case
from wireproof.fuzz.findings import Findings, is_finding
from wireproof.fuzz.inputs import Inputs, answered
from wireproof.trial.engine import Engine
from wireproof.trial.judge import judge
from wireproof.trial.signature import Signature, signature
from wireproof.trial.verdicts import Verdict

STILL: Final = "nothing moved"
"""How the end of a process is told that was ended because nothing moved."""


def blame(
    spec: str, inputs: Inputs, findings: Findings, data: bytes, how: str, origin: str
) -> list[Signature]:
    """Ask an adapter each question of `data` in fresh processes and keep what comes of it.

    Args:
        spec: the adapter.
        inputs: makes the cases, as the dead process did.
        findings: where they go.
        data: what it was at.
        how: how it died, for a death that does not come again.
        origin: seed and execution, for the record.

    Returns:
        The signatures; one of a crash that is not repeated if nothing else came of it. A standstill that is
        not repeated was the machine's.
    """
    case = answered(inputs.case(data))
    found: list[Signature] = []
    with Engine(spec) as engine:
        hello = engine.hello
        for asked, verdict in _judged(engine, [case, *inputs.more(case)]):
            if is_finding(verdict) and verdict.name in ("crash", "timeout", "resource"):
                sign = signature(hello.name, asked, verdict)
                findings.add(sign, verdict, asked, data, version=hello.version, origin=origin)
                found.append(sign)
    if not found and not how.startswith(STILL):
        verdict = Verdict("crash", text=f"{how}; not again in a fresh process")
        sign = evolve(signature(hello.name, case, verdict), path="not repeated")
        findings.add(sign, verdict, case, data, version=hello.version, origin=origin)
        found.append(sign)
    return found


def _judged(engine: Engine, cases: list[Case]) -> Iterator[tuple[Case, Verdict]]:
    for case, ran in zip(cases, engine.run(cases), strict=True):
        yield case, judge(ran.case, ran.outcome, hello=engine.hello)
