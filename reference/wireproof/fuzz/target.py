"""The one harness: bytes in, findings out. Every format, adapter and engine of fuzzing goes through it.

Reference first, then the adapter, then the judge; nothing leaves it but through the findings.
"""

import traceback
from collections.abc import Iterable
from typing import Final

from attrs import evolve, frozen

from wireproof.cases.case import Case
from wireproof.cases.needs import needs_of
from wireproof.cases.outcome import Outcome, Refused
from wireproof.fuzz.asker import Answered, Asker
from wireproof.fuzz.cell import Cell
from wireproof.fuzz.clock import Clock
from wireproof.fuzz.findings import Findings, is_finding
from wireproof.fuzz.inputs import Inputs, answered
from wireproof.fuzz.oracles import Fault, faults
from wireproof.trial.judge import judge
from wireproof.trial.signature import Signature, signature
from wireproof.trial.verdicts import Verdict

OWN: Final = "reference"
"""Who is held to the oracles when nobody else is asked."""


@frozen
class Desk:
    """What a target works with.

    Attributes:
        inputs: makes the cases.
        asker: the adapter; None holds the reference to its oracles alone.
        findings: where they go.
        cell: where the current input lies.
        clock: of the reference, and of an adapter in this process.
        origin: the seed, for the record.
    """

    inputs: Inputs
    asker: Asker | None
    findings: Findings
    cell: Cell
    clock: Clock
    origin: str = ""


class Target:
    """Called with bytes, as often as anybody likes; it raises nothing but what ends a process."""

    def __init__(self, desk: Desk) -> None:
        """Work at `desk`."""
        self._desk = desk
        self._asked: dict[str, tuple[Case, bytes]] = {}

    def __call__(self, data: bytes) -> None:
        """Look at one input."""
        desk = self._desk
        desk.cell.put(data)
        cases = self._cases(data)
        if desk.asker is not None and cases:
            fresh = [case for case in cases if case.id not in self._asked]  # the same input twice in a batch
            self._asked.update((case.id, (case, data)) for case in fresh)
            self._judge(desk.asker.ask(fresh))
        desk.cell.rest()

    def finish(self) -> None:
        """Judge what is still owed."""
        if self._desk.asker is not None:
            self._desk.cell.rest("away")
            self._judge(self._desk.asker.rest())
            self._desk.cell.rest()

    # --- the reference ---

    def _cases(self, data: bytes) -> list[Case]:
        """The questions that `data` asks; the reference's own faults on the way are findings."""

        def late() -> list[Case]:
            self._fault(Fault("time", "decode", "over its processor time"), self._bare(data), data)
            return []

        try:
            return self._desk.clock.within(lambda: self._asking(data), late)
        except Exception as error:  # noqa: BLE001 - that nothing but a refusal leaves it is the oracle
            self._fault(Fault("exception", _where(error), repr(error)), self._bare(data), data)
            return []

    def _asking(self, data: bytes) -> list[Case]:
        inputs = self._desk.inputs
        case = inputs.case(data)
        if self._desk.asker is not None:
            return [case, *inputs.more(case)]
        for fault in faults(inputs.row, case, len(data) + sum(data[-8:])):
            self._fault(fault, case, data)
        return []

    def _bare(self, data: bytes) -> Case:
        """A case of bytes of which the reference has no answer."""
        return self._desk.inputs.unanswered(data)

    def _fault(self, fault: Fault, case: Case, data: bytes) -> None:
        sign = Signature(OWN, case.joined, case.op, f"oracle:{fault.oracle}", "", fault.about)
        verdict = Verdict("suite-bug", text=fault.text)
        self._desk.findings.add(sign, verdict, case, data, origin=self._origin())

    # --- the adapter ---

    def _judge(self, answers: Iterable[Answered]) -> None:
        for asked, outcome in answers:
            case, data = self._asked.pop(asked.id)
            self._keep(asked, case, outcome, data)

    def _keep(self, asked: Case, case: Case, outcome: Outcome, data: bytes) -> None:
        """Judge one answer; what takes a capability that the adapter does not claim is let go."""
        assert self._desk.asker is not None
        hello = self._desk.asker.hello
        if asked.op == "encode" and isinstance(outcome, Refused):
            return  # a builder may have less to say than the format has; what it writes is judged
        case = evolve(case, limits=asked.limits)
        verdict = judge(asked, outcome, hello=hello)
        if is_finding(verdict) and verdict.name != "info":
            needs = tuple(dict.fromkeys((*case.needs, *needs_of(case))))
            case = evolve(case, needs=needs)
            verdict = judge(evolve(asked, needs=needs), outcome, hello=hello)
        if not is_finding(verdict) and not _untyped(outcome, verdict):
            return
        sign = signature(hello.name, case, verdict)
        if not is_finding(verdict):
            sign = evolve(sign, kind="untyped", cls=_type_of(outcome), path="")
        findings = self._desk.findings
        if findings.wants(sign, len(data)):
            origin = self._origin()
            findings.keep(sign, verdict, answered(case), data, version=hello.version, origin=origin)

    def _origin(self) -> str:
        return f"{self._desk.origin} #{self._desk.cell.executions}".strip()


def _untyped(outcome: Outcome, verdict: Verdict) -> bool:
    """A right refusal by an exception that the library does not document."""
    return verdict.passing and isinstance(outcome, Refused) and outcome.untyped


def _type_of(outcome: Outcome) -> str:
    return outcome.text.partition(":")[0] if isinstance(outcome, Refused) else ""


def _where(error: Exception) -> str:
    """The type of an exception and the function that raised it."""
    frames = traceback.extract_tb(error.__traceback__)
    inner = frames[-1] if frames else None
    return f"{type(error).__name__} in {inner.name}" if inner else type(error).__name__
