"""Run the input that stopped a fuzzing process again, alone in a fresh process, and record the result."""

from collections.abc import Iterator
from typing import Final

from attrs import evolve

from wireproof.cases.case import Case
from wireproof.cases.examples import Examples, with_expectation
from wireproof.fuzz.findings import Findings, is_finding
from wireproof.runner.engine import Engine
from wireproof.runner.judge import judge
from wireproof.runner.signature import Signature, signature
from wireproof.runner.verdicts import Verdict

NO_PROGRESS: Final = "no progress"
"""Beginning of the reason of a process that was stopped as hanging."""


def reproduce_crash(
    spec: str, examples: Examples, findings: Findings, data: bytes, reason: str, origin: str
) -> list[Signature]:
    """Run each case of `data` in fresh processes of the adapter, and keep the crashes as findings.

    Args:
        spec: the adapter.
        examples: makes the same cases as in the process that stopped.
        findings: where crashes, timeouts and exhausted memory are added.
        data: the input that the process worked on.
        reason: how the process stopped; the text of the finding if the crash does not happen again.
        origin: seed and number of the execution, for the record.

    Returns:
        The signatures of what was added. A crash that does not happen again is added too. A hang that does
        not happen again is not: the cause was the load of the machine.
    """
    case = with_expectation(examples.decode_case(data))
    found: list[Signature] = []
    with Engine(spec) as engine:
        hello = engine.hello
        for sent, verdict in _verdicts(engine, [case, *examples.follow_ups(case)]):
            if is_finding(verdict) and verdict.name in ("crash", "timeout", "resource"):
                sign = signature(hello.name, sent, verdict)
                findings.add(sign, verdict, sent, data, version=hello.version, origin=origin)
                found.append(sign)
    if not found and not reason.startswith(NO_PROGRESS):
        verdict = Verdict("crash", text=f"{reason}; not again in a fresh process")
        sign = evolve(signature(hello.name, case, verdict), path="not repeated")
        findings.add(sign, verdict, case, data, version=hello.version, origin=origin)
        found.append(sign)
    return found


def _verdicts(engine: Engine, cases: list[Case]) -> Iterator[tuple[Case, Verdict]]:
    for case, ran in zip(cases, engine.run(cases), strict=True):
        yield case, judge(ran.case, ran.outcome, hello=engine.hello)
