"""Make cases of the items of a log, ask adapters about them, and judge the answers.

They are judged like golden cases: an entry becomes a case whose expectation is the reference's answer, the
engine asks the adapters in processes of their own, and the judge decides. If a frame kills, hangs or fattens
an adapter, only the verdict of that frame is lost.

Nearly every answer is right, so an adapter is asked for digests; it is asked for the value only where a
digest does not decide.
"""

from collections import deque
from collections.abc import Sequence
from contextlib import ExitStack
from types import TracebackType
from typing import Final, Self

from attrs import evolve, frozen

from wireproof.adapters.contract import Hello
from wireproof.adapters.requests import CaseResult
from wireproof.cases.case import ORIGIN_CORPUS, Accept, Case, Data, Reject, Source
from wireproof.cases.outcome import Accepted, Outcome, Refused
from wireproof.cases.reference_answers import reference_answer, reference_expectation
from wireproof.derive.examples import capabilities_of_case
from wireproof.formats import Format
from wireproof.judge.context import JudgeContext
from wireproof.judge.judge import judge, needs_value
from wireproof.judge.signature import Signature, signature
from wireproof.judge.verdicts import Verdict
from wireproof.run.engine import Engine
from wireproof.spark.logs.split_points import StreamFraming
from wireproof.wire.json_values import json_digest
from wireproof.wire.options import Options
from wireproof.wire.scan_items import Item

REFERENCE: Final = "reference"


@frozen
class ItemCase:
    """An item, and the case in which adapters are asked about it.

    Attributes:
        item, data: the item and its bytes.
        case: None if the bytes are not an entry.
    """

    item: Item
    data: bytes
    case: Case | None


@frozen
class ItemVerdict:
    """The verdict on one implementation for an item.

    Attributes:
        adapter: its name.
        verdict: the judge's label, or `frame`, `garbage` or `tail` for the reference.
        cls: the class that the verdict is about.
        cluster: equal for implementations that read the same from the bytes: `accepted` if it is what the
            reference reads, `refused`, or the beginning of the digest of the value; empty without an answer.
        signature: the group of the verdict.
        finding: whether it needs a sample.
    """

    adapter: str
    verdict: str
    cls: str
    cluster: str
    signature: Signature
    finding: bool


# --- items as cases ---


def make_item_case(framing: StreamFraming, item: Item, data: bytes, options: Options) -> ItemCase:
    """Make a case of an item."""
    if item.kind == "tail":
        return ItemCase(item, data, None)
    if framing.item_case is not None:
        return framing.item_case(item, data, options)
    return ItemCase(item, data, case_of_bytes(framing.fmt, data, None, options))


def case_of_bytes(fmt: Format, data: bytes, expect: Accept | Reject | None, options: Options) -> Case:
    """Make a case; without an expectation, the reference decides."""
    bare = Case(
        f"{fmt.format_id}/scan/entry",
        fmt.name,
        fmt.revision,
        Data(data),
        expect or Accept(),
        options=options,
        source=Source(ORIGIN_CORPUS),
    )
    return (
        bare
        if expect is not None
        else evolve(bare, expect=reference_expectation(bare), needs=capabilities_of_case(bare))
    )


# --- adapters ---

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
            if needs_value(answered.case, answered.outcome, context=context)
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
    verdict = judge(context.case, outcome, hello=context.hello, context=context)
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
