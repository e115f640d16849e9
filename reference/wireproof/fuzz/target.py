"""The fuzz target: bytes in, findings out. Every format, adapter and way of fuzzing uses it.

The reference answers first, then the adapter, then the judge compares. Only findings leave the target.
"""

import traceback
from collections.abc import Iterable
from typing import Final

from attrs import evolve, frozen

from wireproof.cases.case import Case
from wireproof.cases.case_capabilities import capabilities_of_case
from wireproof.cases.examples import Examples, with_expectation
from wireproof.cases.outcome import Outcome, Refused
from wireproof.fuzz.executors import CaseOutcome, CpuTimer, Executor
from wireproof.fuzz.findings import Findings, is_finding
from wireproof.fuzz.oracles import Violation, violations
from wireproof.fuzz.shared_input import SharedInput
from wireproof.runner.judge import judge
from wireproof.runner.signature import Signature, signature
from wireproof.runner.verdicts import Verdict

REFERENCE: Final = "reference"
"""The adapter that is fuzzed against the oracles instead of against the reference."""


@frozen
class TargetContext:
    """The objects that a target uses.

    Attributes:
        examples: makes the cases.
        executor: runs the adapter; None checks the reference against its oracles.
        findings: the store to which findings are added.
        shared_input: shows the present input to the supervisor.
        timer: limits the time of the reference, and of an adapter in this process.
        origin: the random seed, for the record.
    """

    examples: Examples
    executor: Executor | None
    findings: Findings
    shared_input: SharedInput
    timer: CpuTimer
    origin: str = ""


class FuzzTarget:
    """The function that libFuzzer calls with each input. It raises only what ends the process."""

    def __init__(self, context: TargetContext) -> None:
        """Work with `context`."""
        self._context = context
        self._sent: dict[str, tuple[Case, bytes]] = {}

    def __call__(self, data: bytes) -> None:
        """Check one input."""
        context = self._context
        context.shared_input.begin_input(data)
        cases = self._cases(data)
        if context.executor is not None and cases:
            new = [case for case in cases if case.id not in self._sent]  # a batch may have an input twice
            self._sent.update((case.id, (case, data)) for case in new)
            self._judge(context.executor.run(new))
        context.shared_input.end_input()

    def finish(self) -> None:
        """Wait for the answers that are still missing, and judge them."""
        if self._context.executor is not None:
            self._context.shared_input.end_input("waiting")
            self._judge(self._context.executor.flush())
            self._context.shared_input.end_input()

    # --- the reference ---

    def _cases(self, data: bytes) -> list[Case]:
        """Return the cases of `data`; a failure of the reference becomes a finding."""

        def on_timeout() -> list[Case]:
            self._add_fault(Violation("time", "decode", "over its processor time"), data)
            return []

        try:
            return self._context.timer.run(lambda: self._checked_cases(data), on_timeout)
        except Exception as error:  # noqa: BLE001 - the oracle: the reference raises nothing but rejections
            self._add_fault(Violation("exception", _location(error), repr(error)), data)
            return []

    def _checked_cases(self, data: bytes) -> list[Case]:
        """Return the cases for the adapter; without an adapter, check the oracles and return none."""
        examples = self._context.examples
        case = examples.decode_case(data)
        if self._context.executor is not None:
            return [case, *examples.follow_ups(case)]
        for fault in violations(examples.fmt, case, len(data) + sum(data[-8:])):
            self._add_fault(fault, data, case)
        return []

    def _add_fault(self, fault: Violation, data: bytes, case: Case | None = None) -> None:
        """Add a failure of the reference; without `case`, of a decode that the reference did not answer."""
        case = self._context.examples.without_expectation(data) if case is None else case
        sign = Signature(REFERENCE, case.format_id, case.op, f"oracle:{fault.oracle}", "", fault.about)
        verdict = Verdict("suite-bug", text=fault.text)
        self._context.findings.add(sign, verdict, case, data, origin=self._origin())

    # --- the adapter ---

    def _judge(self, answers: Iterable[CaseOutcome]) -> None:
        for sent, outcome in answers:
            case, data = self._sent.pop(sent.id)
            self._judge_one(sent, case, outcome, data)

    def _judge_one(self, sent: Case, case: Case, outcome: Outcome, data: bytes) -> None:
        """Judge one answer and add a finding, unless the case needs what the adapter does not claim."""
        assert self._context.executor is not None
        hello = self._context.executor.hello
        if sent.op == "encode" and isinstance(outcome, Refused):
            return  # An encoder need not support every value of the format; what it writes is judged.
        case = evolve(case, limits=sent.limits)
        verdict = judge(sent, outcome, hello=hello)
        if is_finding(verdict) and verdict.name != "info":
            needs = tuple(dict.fromkeys((*case.needs, *capabilities_of_case(case))))
            case = evolve(case, needs=needs)
            verdict = judge(evolve(sent, needs=needs), outcome, hello=hello)
        if not is_finding(verdict) and not _is_untyped(outcome, verdict):
            return
        sign = signature(hello.name, case, verdict)
        if not is_finding(verdict):
            sign = evolve(sign, kind="untyped", cls=_exception_type(outcome), path="")
        findings = self._context.findings
        if findings.count(sign, len(data)):
            origin = self._origin()
            findings.save(sign, verdict, with_expectation(case), data, version=hello.version, origin=origin)

    def _origin(self) -> str:
        return f"{self._context.origin} #{self._context.shared_input.executions}".strip()


def _is_untyped(outcome: Outcome, verdict: Verdict) -> bool:
    """Report whether a correct rejection is an exception that the library does not document."""
    return verdict.passing and isinstance(outcome, Refused) and outcome.untyped


def _exception_type(outcome: Outcome) -> str:
    return outcome.text.partition(":")[0] if isinstance(outcome, Refused) else ""


def _location(error: Exception) -> str:
    """Return the type of an exception and the function that raised it."""
    frames = traceback.extract_tb(error.__traceback__)
    inner = frames[-1] if frames else None
    return f"{type(error).__name__} in {inner.name}" if inner else type(error).__name__
