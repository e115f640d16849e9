"""The items of a log judged: what the reference says of each, and what every adapter does with it.

One road with golden cases: an entry becomes a case whose expectation is the reference's answer, the engine
asks the adapters in processes of their own, digests first, and the judge rules. A frame that kills, hangs or
fattens an adapter costs that frame one verdict.

Nearly every entry is clean and nearly every answer right. Of those the expectation is known by its digest
alone, and where the answer's is the same the verdict is one that the judge gave before: it rules on every
answer that is another, and is then given the whole expectation.
"""

from collections import deque
from collections.abc import Sequence
from contextlib import ExitStack
from types import TracebackType
from typing import Final, Self

from attrs import evolve, frozen

from wireproof import formats
from wireproof.adapters.contract import Hello
from wireproof.adapters.idle import Idle
from wireproof.adapters.objects import json_of
from wireproof.cases.case import Accept, Case, Data, Reject, Source
from wireproof.cases.needs import FLAGS, needs_of
from wireproof.cases.outcome import Accepted, Outcome, Refused
from wireproof.columnar.heads import CODECS
from wireproof.columnar.spelling import Spelling, Spelt, View, tree
from wireproof.formats import FORMATS
from wireproof.heka.frame import AROUND, RECORD_SEPARATOR
from wireproof.spark.framing import HEKA, KAFKA, Framing
from wireproof.trial.bench import Bench as Sitting
from wireproof.trial.claims import observed
from wireproof.trial.engine import Engine, Ran
from wireproof.trial.judge import judge, wants_value
from wireproof.trial.plan import planned
from wireproof.trial.reference import answer, expectation
from wireproof.trial.signature import Signature, signature
from wireproof.trial.verdicts import Verdict
from wireproof.wire.items import Item
from wireproof.wire.options import DEFAULT, Options
from wireproof.wire.values import Json, digest

REFERENCE: Final = "reference"
CLUSTER: Final = 16
"""Characters of a digest that name a cluster."""


@frozen
class Seen:
    """An item and its bytes.

    Attributes:
        item, data: both.
        case: what adapters are asked; None where the bytes are no entry.
        digests: of what each adapter must understand, where that alone is known and `case` does not say.
    """

    item: Item
    data: bytes
    case: Case | None
    digests: tuple[str, ...] = ()

    @property
    def told(self) -> Case:
        """The case with all that is expected."""
        assert self.case is not None, "it is asked"
        if not self.digests:
            return self.case
        return evolve(self.case, expect=Accept(tree(self.data, self.case.options), len(self.data)))


@frozen
class Judged:
    """What one implementation makes of an item.

    Attributes:
        adapter: its name.
        verdict: the judge's label, or of the reference `frame`, `garbage` or `tail`.
        cls: the class that the verdict is about.
        cluster: implementations of one cluster understand the bytes alike: `accepted` as the reference
            does, `refused`, else the beginning of the digest of what was understood; empty without an answer.
        signature: how it is grouped.
        finding: whether it is worth a sample.
    """

    adapter: str
    verdict: str
    cls: str
    cluster: str
    signature: Signature
    finding: bool


# --- items as cases ---


def seen(framing: Framing, item: Item, data: bytes, options: Options) -> Seen:
    """The item as adapters are asked about it."""
    if isinstance(item.value, Spelt):
        return _spelt(item, item.value, data, options)
    case = None if item.kind == "tail" else _CASES[framing.row.name](framing, item, data, options)
    return Seen(item, data, case)


def _spelt(item: Item, value: Spelt, data: bytes, options: Options) -> Seen:
    case = _case("kafka.batch", f"v{data[16]}", data, Accept(None, len(data)), options)
    return Seen(item, data, evolve(case, needs=_needs(data, headers=value.headers)), value.digests)


def _kafka(_: Framing, item: Item, data: bytes, options: Options) -> Case | None:
    """A whole entry is asked as one of its magic; bytes that are none are no question."""
    size = int.from_bytes(data[8:12], "big", signed=True) + 12
    if len(data) < 17 or data[16] > 2 or size != len(data):
        return None
    expect: Accept | Reject = Reject(item.cls or "other")
    value = json_of(item.value)
    if item.kind == "frame":
        classes = tuple(dict.fromkeys(remark.cls for remark in item.remarks))
        expect = Accept(value, len(data), classes)
    case = _case("kafka.batch", f"v{data[16]}", data, expect, options)
    return evolve(case, needs=_needs(data, headers=_with_headers(value)))


def _with_headers(value: Json) -> bool:
    records = value.get("records") if isinstance(value, dict) else None
    return isinstance(records, list) and any(isinstance(one, dict) and one["headers"] for one in records)


def _needs(data: bytes, *, headers: bool) -> tuple[str, ...]:
    """As `needs.needs_of`, from the attributes and the value: kafka.md §1.2, §2.1."""
    newer = data[16] == 2
    attributes = int.from_bytes(data[21:23]) if newer else data[17]
    found = {f"codec:{CODECS[attributes & 7]}"}
    found |= {atom for bit, atom in FLAGS if newer and attributes & bit}
    if not newer and attributes & 7:
        found.add("feature:wrapper")
    if headers:
        found.add("feature:headers")
    return tuple(atom for atom in formats.get("kafka.batch", f"v{data[16]}").atoms if atom in found)


def _heka(_: Framing, item: Item, data: bytes, options: Options) -> Case | None:
    """Peers read messages, not frames: what is asked is the message of a whole frame."""
    if len(data) < 2 or data[0] != RECORD_SEPARATOR or len(data) <= AROUND + data[1]:
        return None
    if item.kind == "garbage" and item.cls in {"bad-separator", "truncated", None}:
        return None
    message = data[AROUND + data[1] :]
    return _case("heka.message", "0.10", message, None, options)


def _iggy(framing: Framing, _: Item, data: bytes, options: Options) -> Case:
    return _case(framing.row.name, framing.row.revision, data, None, options)


_CASES: Final = {KAFKA.row.name: _kafka, HEKA.row.name: _heka, "iggy.log": _iggy}


def _case(name: str, revision: str, data: bytes, expect: Accept | Reject | None, options: Options) -> Case:
    """Without an expectation, that of the reference."""
    bare = Case(
        f"{name}/{revision}/scan/entry",
        name,
        revision,
        Data(data),
        expect or Accept(),
        options=options,
        source=Source("corpus"),
    )
    return bare if expect is not None else evolve(bare, expect=expectation(bare), needs=needs_of(bare))


# --- verdicts ---


def by_reference(row: str, item: Item) -> Judged:
    """What the reference says, as one more implementation; `row` is the format that the item is of."""
    kind, cls = item.kind, item.cls or ""
    cluster = {"frame": "accepted", "garbage": "refused"}.get(kind, "")
    said = Signature(REFERENCE, row, "scan", kind, cls, "")
    return Judged(REFERENCE, kind, cls, cluster, said, kind == "garbage")


class Bench:
    """One adapter over the items of a span; a context manager that holds its processes."""

    def __init__(self, spec: str, idle: Idle | None = None, number: int = 0) -> None:
        """Start nothing yet.

        Args:
            spec: of the adapter, as the registry reads it.
            idle: where its processes come from and go to.
            number: of its digest among those of an item.
        """
        self.spec = spec
        self._idle = idle
        self._number = number
        self._stack = ExitStack()
        self._digests: Engine | None = None
        self._values: Engine | None = None
        self._put: deque[list[Seen | None]] = deque()
        self._right: dict[str, Judged] = {}

    def __enter__(self) -> Self:
        """Start the adapter; raises `UnknownAdapter` or `AdapterStartError`."""
        self._digests = self._stack.enter_context(Engine(self.spec, digest=True, idle=self._idle))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End it, or leave it idle."""
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
        if cases := [one.case for one in items if one.case]:
            self._engine.put(cases)

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
        """The verdicts on answers; what the judge says of a right one he is asked once.

        Of a case that nobody wrote it depends on the adapter and on what it observes, and on nothing else.
        """
        alike = [_alike(item, one, self._number) for item, one in zip(items, ran, strict=True)]
        known = [self._right.get(one.case.joined) if right else None
                 for right, one in zip(alike, ran, strict=True)]  # fmt: skip
        rest = [at for at, judged in enumerate(known) if judged is None]
        ruled = self._by_judge([self._told(items[at], ran[at]) for at in rest])
        for at, judged in zip(rest, ruled, strict=True):
            known[at] = judged
            if alike[at]:
                self._right[ran[at].case.joined] = judged
        return [judged for judged in known if judged]

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
            self._values = self._stack.enter_context(Engine(self.spec, idle=self._idle))
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
        case = _case("kafka.batch", f"v{magic}", b"", Accept(), DEFAULT)
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
