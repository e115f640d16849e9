"""An adapter over the items of a span: asked ahead in its own processes, judged when the answers are taken.

Nearly every entry is clean and nearly every answer right. Of those the expectation is known by its digest
alone, and where the answer's is the same the verdict is one that the judge gave before: it rules on every
answer that is another, and is then given the whole expectation.
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
from wireproof.columnar.spelling import Spelling, View
from wireproof.formats import FORMATS
from wireproof.spark.judging import Judged, Seen, sort_of
from wireproof.trial.bench import Bench as Sitting
from wireproof.trial.claims import observed
from wireproof.trial.engine import Engine, Ran
from wireproof.trial.judge import judge, wants_value
from wireproof.trial.plan import planned
from wireproof.trial.reference import answer
from wireproof.trial.signature import signature
from wireproof.trial.verdicts import Verdict
from wireproof.wire.values import digest

CLUSTER: Final = 16
"""Characters of a digest that name a cluster."""


class Bench:
    """One adapter over the items of a span; a context manager that holds its processes."""

    def __init__(self, spec: str, number: int = 0) -> None:
        """Start nothing yet.

        Args:
            spec: of the adapter, as the registry reads it.
            number: of its digest among those of an item.
        """
        self.spec = spec
        self._number = number
        self._stack = ExitStack()
        self._digests: Engine | None = None
        self._values: Engine | None = None
        self._put: deque[list[Seen | None]] = deque()
        self._sorts: dict[tuple[str, tuple[str, ...]], Case | Unsupported] = {}
        self._known: dict[str, Judged] = {}

    def __enter__(self) -> Self:
        """Start the adapter; raises `UnknownAdapter` or `AdapterStartError`."""
        self._digests = self._stack.enter_context(Engine(self.spec, digest=True))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End it."""
        self._stack.__exit__(kind, error, trace)

    @property
    def spelling(self) -> Spelling:
        """What it shows of the entries of Kafka."""
        return spelling(self._engine.hello)

    @property
    def _engine(self) -> Engine:
        assert self._digests is not None, "entered"
        return self._digests

    def put(self, items: Sequence[Seen]) -> None:
        """Have the adapter asked about items; `take` gives what it does with each."""
        self._put.append([one if one.case else None for one in items])
        if cases := [self._planned(one, one.case) for one in items if one.case]:
            self._engine.put(cases)

    def _planned(self, item: Seen, case: Case) -> Case:
        """The case as it is asked; of entries that are told by digests it is planned once a sort."""
        if not item.digests:
            return case
        sort = case.joined, case.needs
        if sort not in self._sorts:
            self._sorts[sort] = planned(case, self._engine.hello)
        one = self._sorts[sort]
        return case if isinstance(one, Unsupported) else evolve(one, input=case.input, options=case.options)

    def take(self) -> list[Judged | None]:
        """What the adapter does with each item of the earliest `put`; None where there is nothing to ask."""
        items = self._put.popleft()
        asked = [one for one in items if one]
        judged = iter(self._ruled(asked, self._engine.take() if asked else []))
        return [next(judged) if one else None for one in items]

    def judge(self, cases: Sequence[Case]) -> list[Judged]:
        """What the adapter does with each case."""
        return self._by_judge(list(self._engine.run(cases)))

    def _ruled(self, items: Sequence[Seen], ran: Sequence[Ran]) -> list[Judged]:
        """The verdicts on answers; those that are not right the judge sees together."""
        pairs = list(zip(items, ran, strict=True))
        odd = [at for at, (item, one) in enumerate(pairs) if not _alike(item, one, self._number)]
        judged = dict(zip(odd, self._by_judge([self._told(*pairs[at]) for at in odd]), strict=True))
        return [judged[at] if at in judged else self._right(*pair) for at, pair in enumerate(pairs)]

    def _right(self, item: Seen, one: Ran) -> Judged:
        """The verdict on a right answer.

        Of a case that nobody wrote it depends on the adapter and on what it observes, and on nothing else. So
        the judge is asked once, about the first of them and with all that is expected.
        """
        name = one.case.joined
        if name not in self._known:
            (self._known[name],) = self._by_judge([self._told(item, one)])
            assert self._known[name].cluster == "accepted", "what is spelled is the value"
        return self._known[name]

    def _told(self, item: Seen, one: Ran) -> Ran:
        """An answer that is to be compared, beside all that is expected."""
        if not (item.digests and isinstance(one.outcome, Accepted | Refused)):
            return one
        case = planned(item.told, self._engine.hello)
        assert isinstance(case, Case), "it was asked"
        return evolve(one, case=case)

    def _by_judge(self, ran: Sequence[Ran]) -> list[Judged]:
        hello = self._engine.hello
        sat = [(one, Sitting(one.case, hello, answer)) for one in ran]
        open_ones = [
            at for at, (one, bench) in enumerate(sat) if wants_value(one.case, one.outcome, bench=bench)
        ]
        full = dict(zip(open_ones, self._in_full([ran[at].case for at in open_ones]), strict=True))
        return [
            _judged(self.spec, full.get(number, one.outcome), one.outcome, bench)
            for number, (one, bench) in enumerate(sat)
        ]

    def _in_full(self, cases: list[Case]) -> list[Outcome]:
        """The answers with their values, where a digest does not settle it."""
        if not cases:
            return []
        if self._values is None:
            self._values = self._stack.enter_context(Engine(self.spec))
        return [ran.outcome for ran in self._values.run(cases)]


def _alike(item: Seen, one: Ran, number: int) -> bool:
    """Whether an answer is right in all that the judge looks at, by the digest of adapter `number`."""
    match one.outcome:
        case Accepted(value=None, consumed=consumed, data=None, digest=str(told)) if item.digests:
            return told == item.digests[number] and consumed in (None, len(item.data))
        case _:
            return False


def spelling(hello: Hello) -> Spelling:
    """How the entries of Kafka are spelled for an adapter: as it is asked of them, and what it observes."""
    views: dict[int, View] = {}
    for magic in range(3):
        case = sort_of(magic)
        asked, row = planned(case, hello), FORMATS[case.joined]
        if isinstance(asked, Case):
            lifted = row.lifts_to is not None and asked.joined != case.joined
            views[magic] = View(observed(hello, asked), row.lifts_to[2] if row.lifts_to and lifted else "")
    return Spelling.of(views)


def _judged(spec: str, outcome: Outcome, first: Outcome, bench: Sitting) -> Judged:
    verdict = judge(bench.case, outcome, hello=bench.hello, bench=bench)
    finding = not verdict.passing and verdict.name not in {"unsupported", "not-run"}
    said = signature(spec, bench.case, verdict)
    return Judged(spec, verdict.label, verdict.cls, _cluster(verdict, outcome, first), said, finding)


def _cluster(verdict: Verdict, outcome: Outcome, first: Outcome) -> str:
    match outcome:
        case Refused():
            return "refused"
        case Accepted() if verdict.name == "pass":
            return "accepted"
        case Accepted():
            told = first.digest if isinstance(first, Accepted) and first.digest else digest(outcome.value)
            return told[:CLUSTER]
        case _:
            return ""
