"""Make cases of the items of a log, ask adapters about them, and judge the answers.

They are judged like golden cases: an entry becomes a case whose expectation is the reference's answer, the
engine asks the adapters in processes of their own, and the judge decides. If a frame kills, hangs or fattens
an adapter, only the verdict of that frame is lost.

Nearly every answer is right, so an adapter is asked for digests; it is asked for the value only where a
digest does not decide.
"""

from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Final

from attrs import define, evolve, field, frozen

from wireproof.adapters.requests import CaseResult
from wireproof.cases.case import ORIGIN_CORPUS, Accept, Case, Data, Reject, Source
from wireproof.cases.outcome import Accepted, Outcome, Refused
from wireproof.cases.reference_answers import reference_answer, reference_expectation
from wireproof.formats import Format
from wireproof.judge.context import JudgeContext
from wireproof.judge.judge import judge, needs_value
from wireproof.judge.signature import Signature, signature
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
        signature: the group of the verdict.
        cluster: equal for implementations that read the same from the bytes: `accepted` if it is what the
            reference reads, `refused`, or the beginning of the digest of the value; empty without an answer.
        finding: whether it needs a sample.
    """

    signature: Signature
    cluster: str
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
    from wireproof.derive.examples import capabilities_of_case  # noqa: PLC0415 - large, and Kafka needs it not

    bare = Case(
        f"{fmt.format_id}/scan/entry", fmt.name, fmt.revision, Data(data), expect or Accept(),
        options=options, source=Source(ORIGIN_CORPUS),
    )  # fmt: skip
    if expect is not None:
        return bare
    return evolve(bare, expect=reference_expectation(bare), needs=capabilities_of_case(bare))


# --- adapters ---


@contextmanager
def adapter_session(spec: str) -> Iterator["AdapterSession"]:
    """Give a session of an adapter, as the registry names it, whose processes end with the context."""
    with ExitStack() as stack:
        yield AdapterSession(spec, stack, stack.enter_context(Engine(spec, digest=True)))


@define
class AdapterSession:
    """One adapter and the items of a span.

    Attributes:
        spec: the adapter, as the registry names it.
    """

    spec: str
    _stack: ExitStack
    _digests: Engine
    _values: Engine | None = None
    _pending: deque[list[bool]] = field(factory=deque)

    def submit(self, items: Sequence[ItemCase]) -> None:
        """Ask the adapter about items; `collect` returns the verdicts."""
        self._pending.append([item.case is not None for item in items])
        if cases := [item.case for item in items if item.case]:
            self._digests.put(cases)

    def collect(self) -> list[ItemVerdict | None]:
        """Return the verdicts on the items of the earliest `submit`; None for an item without a case."""
        with_case = self._pending.popleft()
        judged = iter(self._by_judge(self._digests.take()) if any(with_case) else [])
        return [next(judged) if has_case else None for has_case in with_case]

    def judge(self, cases: Sequence[Case]) -> list[ItemVerdict]:
        """Return the verdict on each case."""
        return self._by_judge(list(self._digests.run(cases)))

    def _by_judge(self, ran: Sequence[CaseResult]) -> list[ItemVerdict]:
        """Judge the answers; where a digest does not decide, the adapter is asked for the value too."""
        hello = self._digests.hello
        contexts = [(answered, JudgeContext(answered.case, hello, reference_answer)) for answered in ran]
        undecided = [
            at
            for at, (answered, context) in enumerate(contexts)
            if needs_value(answered.case, answered.outcome, context=context)
        ]
        full: dict[int, Outcome] = {}
        if undecided:
            self._values = self._values or self._stack.enter_context(Engine(self.spec))
            again = self._values.run([ran[at].case for at in undecided])
            full = {at: answered.outcome for at, answered in zip(undecided, again, strict=True)}
        return [
            _verdict(self.spec, full.get(number, answered.outcome), answered.outcome, context)
            for number, (answered, context) in enumerate(contexts)
        ]


def _verdict(spec: str, outcome: Outcome, first_outcome: Outcome, context: JudgeContext) -> ItemVerdict:
    verdict = judge(context.case, outcome, hello=context.hello, context=context)
    finding = not verdict.passing and verdict.name not in {"unsupported", "not-run"}
    match outcome:
        case Refused():
            cluster = "refused"
        case Accepted() if verdict.name == "pass":
            cluster = "accepted"
        case Accepted():
            known = first_outcome.digest if isinstance(first_outcome, Accepted) else None
            cluster = (known or json_digest(outcome.value))[:16]
        case _:
            cluster = ""
    return ItemVerdict(signature(spec, context.case, verdict), cluster, finding)
