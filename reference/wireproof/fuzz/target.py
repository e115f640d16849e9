"""The fuzz target: bytes in, findings out. Every format, adapter and way of fuzzing uses it.

The reference answers first, then the adapter, then the judge compares. Only findings leave the target.
"""

import traceback
from collections.abc import Iterable
from typing import Final

from attrs import evolve

from wireproof.cases.case import Case
from wireproof.cases.outcome import Refused
from wireproof.derive.examples import Examples, capabilities_of_case, with_expectation
from wireproof.fuzz.findings import NOT_GATING, Findings, failures_of
from wireproof.fuzz.process import Answer, CpuTimer, Executor, SharedInput
from wireproof.fuzz.relations import Violation, violations
from wireproof.judge.context import exclusion_reason
from wireproof.judge.signature import Signature
from wireproof.judge.verdicts import Verdict

REFERENCE: Final = "reference"
"""The adapter that is fuzzed against the oracles instead of against the reference."""


class CodecFailure(Exception):  # noqa: N818 - of the codec, not of the target
    """The codec fails an input; libFuzzer writes the input to a file and ends."""


class FuzzTarget:
    """The function that libFuzzer calls with each input. It raises only what ends the process.

    Attributes:
        executor: runs the adapter; None checks the reference against its oracles.
        timer: limits the time of the reference, and of an adapter in this process.
        failure: how the codec, or the reference, has failed the last input that it failed.
    """

    def __init__(
        self,
        examples: Examples,
        executor: Executor | None,
        findings: Findings,
        shared_input: SharedInput,
        timer: CpuTimer,
        origin: str,
    ) -> None:
        """Make cases with `examples`, and show each input in `shared_input`; `origin` is the random seed."""
        self._examples, self.executor, self._findings = examples, executor, findings
        self._shared_input, self.timer, self._seed = shared_input, timer, origin
        self.failure = ""

    def __call__(self, data: bytes) -> None:
        self._shared_input.begin_input(data)
        cases = self._cases(data)
        if self.executor is not None and cases:
            self._judge(self.executor.run(cases, data))
        self._shared_input.end_input()

    def raising(self, data: bytes) -> None:
        """Check one input alone; raise `CodecFailure` if it fails, whatever failed before."""
        self.failure = ""
        self(data)
        self.finish()
        if self.failure:
            self.timer.stop()  # its signal would end the process before libFuzzer writes the input
            raise CodecFailure(self.failure)

    def finish(self) -> None:
        """Wait for the answers that are still missing, and judge them."""
        if self.executor is not None:
            self._shared_input.end_input()
            self._judge(self.executor.flush())
            self._shared_input.end_input()

    @property
    def _origin(self) -> str:
        return f"{self._seed} #{self._shared_input.executions}"

    def _cases(self, data: bytes) -> list[Case]:
        """Return the cases of `data` for the adapter; a failure of the reference becomes a finding.

        Without an adapter, check the relations of the reference and return none.
        """

        def made() -> list[Case]:
            case = self._examples.decode_case(data)
            if self.executor is not None:
                return [case, *self._examples.follow_ups(case)]
            for fault in violations(self._examples.fmt, case, len(data) + sum(data[-8:])):
                self._add_fault(fault, data, case)
            return []

        def on_timeout() -> list[Case]:
            self._add_fault(Violation("time", "decode", "over its processor time"), data)
            return []

        try:
            return self.timer.run(made, on_timeout)
        except Exception as error:  # noqa: BLE001 - the oracle: the reference raises nothing but rejections
            frames = traceback.extract_tb(error.__traceback__)
            about = " in ".join((type(error).__name__, *(frame.name for frame in frames[-1:])))
            self._add_fault(Violation("exception", about, repr(error)), data)
            return []

    def _add_fault(self, fault: Violation, data: bytes, case: Case | None = None) -> None:
        """Add a failure of the reference; without `case`, of a decode that the reference did not answer."""
        case = self._examples.without_expectation(data) if case is None else case
        sign = Signature(REFERENCE, case.format_id, case.op, f"oracle:{fault.oracle}", "", fault.about)
        self.failure = f"{sign}: {fault.text}"
        self._findings.add(sign, Verdict("suite-bug", text=fault.text), case, data, origin=self._origin)

    def _judge(self, answers: Iterable[Answer]) -> None:
        """Judge answers, and add findings, unless a case needs what the adapter does not claim."""
        assert self.executor is not None
        hello, store = self.executor.hello, self._findings
        for asked, data, sent, outcome in answers:
            if asked.op == "encode" and isinstance(outcome, Refused):
                continue  # an encoder need not support every value of the format; what it writes is judged
            case, size = asked, len(data)
            ways = store.separate(failures_of(hello, case, sent, outcome, self._examples.answer))
            if not ways:
                continue
            settled = all(store.is_settled(way.signature, way.shape, size) for way in ways)
            if (hello.revisions or not settled) and ways[0].fails:  # to know what is needed takes a trace
                needs = tuple(dict.fromkeys((*case.needs, *capabilities_of_case(case))))
                if exclusion_reason(hello, evolve(sent, needs=needs)):
                    continue
                case = evolve(case, needs=needs)
            for way in reversed(ways):  # `failure` is that of the first
                if way.signature.kind.partition(":")[0] not in NOT_GATING:
                    verdict = way.verdict
                    told = f"want {verdict.want}; got {verdict.got}" if verdict.want else verdict.text
                    self.failure = f"{way}: {told}"
                if store.count(way.signature, way.shape, case.needs, size) and not settled:
                    kept = with_expectation(evolve(case, limits=sent.limits))
                    more = {"version": hello.version, "origin": self._origin}
                    store.save(way.signature, way.verdict, kept, data, **more)
