"""Ask one adapter about the items of a span, ahead of time in its own processes, and judge the answers.

Nearly every answer is right, so the adapter is asked for digests; it is asked for the value only where a
digest does not decide.
"""

from collections import deque
from collections.abc import Sequence
from contextlib import ExitStack
from types import TracebackType
from typing import Final, Self

from wireproof.adapters.contract import Hello
from wireproof.cases.case import Case
from wireproof.cases.outcome import Accepted, Outcome, Refused
from wireproof.cases.reference_answers import reference_answer
from wireproof.runner.engine import Engine
from wireproof.runner.judge import judge, needs_value
from wireproof.runner.judge_context import JudgeContext
from wireproof.runner.requests import CaseResult
from wireproof.runner.signature import signature
from wireproof.runner.verdicts import Verdict
from wireproof.spark.item_cases import ItemCase, ItemVerdict
from wireproof.wire.json_values import json_digest

CLUSTER_CHARACTERS: Final = 16
"""Characters of a digest that name a cluster."""


class AdapterSession:
    """One adapter and the items of a span; a context manager that owns the adapter's processes."""

    def __init__(self, spec: str) -> None:
        """Store the spec of the adapter, as the registry reads it; nothing starts yet."""
        self.spec = spec
        self._stack = ExitStack()
        self._digests: Engine | None = None
        self._values: Engine | None = None
        self._pending: deque[list[bool]] = deque()

    def __enter__(self) -> Self:
        """Start the adapter; raises `UnknownAdapter` or `AdapterStartError`."""
        self._digests = self._stack.enter_context(Engine(self.spec, digest=True))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the adapter."""
        self._stack.__exit__(kind, error, trace)

    @property
    def hello(self) -> Hello:
        """Return the hello of the adapter."""
        return self._engine.hello

    @property
    def _engine(self) -> Engine:
        assert self._digests is not None, "the context was entered"
        return self._digests

    def submit(self, items: Sequence[ItemCase]) -> None:
        """Ask the adapter about items; `collect` returns the verdicts."""
        self._pending.append([item.case is not None for item in items])
        if cases := [item.case for item in items if item.case]:
            self._engine.put(cases)

    def collect(self) -> list[ItemVerdict | None]:
        """Return the verdicts on the items of the earliest `submit`; None for an item without a case."""
        with_case = self._pending.popleft()
        judged = iter(self._by_judge(self._engine.take()) if any(with_case) else [])
        return [next(judged) if has_case else None for has_case in with_case]

    def judge(self, cases: Sequence[Case]) -> list[ItemVerdict]:
        """Return the verdict on each case."""
        return self._by_judge(list(self._engine.run(cases)))

    def _by_judge(self, ran: Sequence[CaseResult]) -> list[ItemVerdict]:
        hello = self._engine.hello
        contexts = [(answered, JudgeContext(answered.case, hello, reference_answer)) for answered in ran]
        undecided = [
            at
            for at, (answered, context) in enumerate(contexts)
            if needs_value(answered.case, answered.outcome, bench=context)
        ]
        full = dict(zip(undecided, self._in_full([ran[at].case for at in undecided]), strict=True))
        return [
            _verdict(self.spec, full.get(number, answered.outcome), answered.outcome, context)
            for number, (answered, context) in enumerate(contexts)
        ]

    def _in_full(self, cases: list[Case]) -> list[Outcome]:
        """Return the answers with their values, for cases that a digest does not decide."""
        if not cases:
            return []
        if self._values is None:
            self._values = self._stack.enter_context(Engine(self.spec))
        return [ran.outcome for ran in self._values.run(cases)]


def _verdict(spec: str, outcome: Outcome, first_outcome: Outcome, context: JudgeContext) -> ItemVerdict:
    verdict = judge(context.case, outcome, hello=context.hello, bench=context)
    finding = not verdict.passing and verdict.name not in {"unsupported", "not-run"}
    group = signature(spec, context.case, verdict)
    return ItemVerdict(
        spec, verdict.label, verdict.cls, _cluster(verdict, outcome, first_outcome), group, finding
    )


def _cluster(verdict: Verdict, outcome: Outcome, first_outcome: Outcome) -> str:
    match outcome:
        case Refused():
            return "refused"
        case Accepted() if verdict.name == "pass":
            return "accepted"
        case Accepted():
            found = (
                first_outcome.digest
                if isinstance(first_outcome, Accepted) and first_outcome.digest
                else json_digest(outcome.value)
            )
            return found[:CLUSTER_CHARACTERS]
        case _:
            return ""
