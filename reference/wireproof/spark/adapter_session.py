"""Ask one adapter about the items of a span, ahead of time in its own processes, and judge the answers.

Nearly every entry is clean and nearly every answer right. For a clean entry only the digest of the expected
value is known. An answer with the same digest gets the verdict that the judge gave before; the judge decides
on every other answer, with the whole expected value.
"""

from collections import deque
from collections.abc import Sequence
from contextlib import ExitStack
from types import TracebackType
from typing import Final, Self

from attrs import evolve

from wireproof.adapters.contract import Hello
from wireproof.cases.case import Case
from wireproof.cases.outcome import Accepted, Outcome, Refused, Unsupported
from wireproof.cases.reference_answers import reference_answer
from wireproof.runner.engine import Engine
from wireproof.runner.judge import judge, needs_value
from wireproof.runner.judge_context import JudgeContext
from wireproof.runner.pending_cases import CaseResult
from wireproof.runner.requests import prepare_case
from wireproof.runner.signature import signature
from wireproof.runner.verdicts import Verdict
from wireproof.spark.item_cases import ItemCase, ItemVerdict
from wireproof.wire.json_values import json_digest

CLUSTER_CHARACTERS: Final = 16
"""Characters of a digest that name a cluster."""


class AdapterSession:
    """One adapter and the items of a span; a context manager that owns the adapter's processes."""

    def __init__(self, spec: str, number: int = 0) -> None:
        """Store the arguments; nothing starts yet.

        Args:
            spec: of the adapter, as the registry reads it.
            number: the index of its digest among the digests of an item.
        """
        self.spec = spec
        self._number = number
        self._stack = ExitStack()
        self._digests: Engine | None = None
        self._values: Engine | None = None
        self._pending: deque[list[ItemCase | None]] = deque()
        self._kinds: dict[tuple[str, tuple[str, ...]], Case | Unsupported] = {}
        self._verdict_by_format: dict[str, ItemVerdict] = {}

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
        self._pending.append([item if item.case else None for item in items])
        if cases := [self._planned(item, item.case) for item in items if item.case]:
            self._engine.put(cases)

    def _planned(self, item: ItemCase, case: Case) -> Case:
        """Return the request for an item; for entries known by digest it is planned once for each kind."""
        if not item.digests:
            return case
        kind = case.format_id, case.needs
        if kind not in self._kinds:
            self._kinds[kind] = prepare_case(case, self._engine.hello)
        known = self._kinds[kind]
        if isinstance(known, Unsupported):
            return case
        return evolve(known, input=case.input, options=case.options)

    def collect(self) -> list[ItemVerdict | None]:
        """Return the verdicts on the items of the earliest `submit`; None for an item without a case."""
        items = self._pending.popleft()
        with_case = [item for item in items if item]
        judged = iter(self._verdicts(with_case, self._engine.take() if with_case else []))
        return [next(judged) if item else None for item in items]

    def judge(self, cases: Sequence[Case]) -> list[ItemVerdict]:
        """Return the verdict on each case."""
        return self._by_judge(list(self._engine.run(cases)))

    def _verdicts(self, items: Sequence[ItemCase], ran: Sequence[CaseResult]) -> list[ItemVerdict]:
        """Return the verdicts on answers; the judge decides on those that are not right by digest."""
        pairs = list(zip(items, ran, strict=True))
        others = [
            at
            for at, (item, answered) in enumerate(pairs)
            if not _matches_digest(item, answered, self._number)
        ]
        judged = dict(
            zip(others, self._by_judge([self._with_full_case(*pairs[at]) for at in others]), strict=True)
        )
        return [judged[at] if at in judged else self._known_verdict(*pair) for at, pair in enumerate(pairs)]

    def _known_verdict(self, item: ItemCase, answered: CaseResult) -> ItemVerdict:
        """Return the verdict on a right answer.

        For a case of the archive it depends only on the adapter and the fields that it observes. So the judge
        is asked once, about the first such answer and with the whole expected value.
        """
        name = answered.case.format_id
        if name not in self._verdict_by_format:
            (self._verdict_by_format[name],) = self._by_judge([self._with_full_case(item, answered)])
            cluster = self._verdict_by_format[name].cluster
            assert cluster == "accepted", "the digest is that of the expected value"
        return self._verdict_by_format[name]

    def _with_full_case(self, item: ItemCase, answered: CaseResult) -> CaseResult:
        """Return the answer with the whole expected value in its case."""
        if not (item.digests and isinstance(answered.outcome, Accepted | Refused)):
            return answered
        case = prepare_case(item.full_case, self._engine.hello)
        assert isinstance(case, Case), "unsupported cases have no answer"
        return evolve(answered, case=case)

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


def _matches_digest(item: ItemCase, answered: CaseResult, number: int) -> bool:
    """Return whether an answer is right in everything that the judge compares, by digest `number`."""
    match answered.outcome:
        case Accepted(value=None, consumed=consumed, data=None, digest=str(found)) if item.digests:
            return found == item.digests[number] and consumed in (None, len(item.data))
        case _:
            return False


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
