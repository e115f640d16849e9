"""The items of a log judged: what the reference says of each, and what every adapter does with it.

One road with golden cases: an entry becomes a case whose expectation is the reference's answer, the engine
asks the adapters in processes of their own, digests first, and the judge rules. A frame that kills, hangs or
fattens an adapter costs that frame one verdict.
"""

from collections.abc import Sequence
from contextlib import ExitStack
from types import TracebackType
from typing import Final, Self

from attrs import evolve, frozen

from wireproof import formats
from wireproof.adapters.objects import json_of
from wireproof.cases.case import Accept, Case, Data, Reject, Source
from wireproof.cases.needs import FLAGS, needs_of
from wireproof.cases.outcome import Accepted, Outcome, Refused
from wireproof.columnar.heads import CODECS
from wireproof.heka.frame import AROUND, RECORD_SEPARATOR
from wireproof.spark.framing import HEKA, KAFKA, Framing
from wireproof.trial.bench import Bench as Sitting
from wireproof.trial.engine import Engine
from wireproof.trial.judge import judge, wants_value
from wireproof.trial.reference import answer, expectation
from wireproof.trial.signature import Signature, signature
from wireproof.trial.verdicts import Verdict
from wireproof.wire.items import Item
from wireproof.wire.options import Options
from wireproof.wire.values import Json, digest

REFERENCE: Final = "reference"
CLUSTER: Final = 16
"""Characters of a digest that name a cluster."""


@frozen
class Seen:
    """An item and its bytes; `case` is what adapters are asked, None where the bytes are no entry."""

    item: Item
    data: bytes
    case: Case | None


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
    case = None if item.kind == "tail" else _CASES[framing.row.name](framing, item, data, options)
    return Seen(item, data, case)


def _kafka(_: Framing, item: Item, data: bytes, options: Options) -> Case | None:
    """A whole entry is asked as one of its magic; bytes that are none are no question."""
    size = int.from_bytes(data[8:12], "big", signed=True) + 12
    if len(data) < 17 or data[16] > 2 or size != len(data):
        return None
    expect: Accept | Reject = Reject(item.cls or "other")
    tree = json_of(item.value)
    if item.kind == "frame":
        classes = tuple(dict.fromkeys(remark.cls for remark in item.remarks))
        expect = Accept(tree, len(data), classes)
    case = _case("kafka.batch", f"v{data[16]}", data, expect, options)
    return evolve(case, needs=_needs(tree, data))


def _needs(tree: Json, data: bytes) -> tuple[str, ...]:
    """As `needs.needs_of`, from the attributes and the value: kafka.md §1.2, §2.1."""
    newer = data[16] == 2
    attributes = int.from_bytes(data[21:23]) if newer else data[17]
    found = {f"codec:{CODECS[attributes & 7]}"}
    found |= {atom for bit, atom in FLAGS if newer and attributes & bit}
    if not newer and attributes & 7:
        found.add("feature:wrapper")
    records = tree.get("records") if isinstance(tree, dict) else None
    if isinstance(records, list) and any(isinstance(one, dict) and one["headers"] for one in records):
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

    def __init__(self, spec: str) -> None:
        """Start nothing yet."""
        self.spec = spec
        self._stack = ExitStack()
        self._digests: Engine | None = None
        self._values: Engine | None = None

    def __enter__(self) -> Self:
        """Start the adapter; raises `UnknownAdapter` or `AdapterStartError`."""
        self._digests = self._stack.enter_context(Engine(self.spec, digest=True))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End it."""
        self._stack.close()

    def ask(self, items: Sequence[Seen]) -> list[Judged | None]:
        """What the adapter does with each item; None where there is nothing to ask."""
        judged = iter(self.judge([one.case for one in items if one.case]))
        return [next(judged) if one.case else None for one in items]

    def judge(self, cases: Sequence[Case]) -> list[Judged]:
        """What the adapter does with each case."""
        assert self._digests is not None, "entered"
        hello = self._digests.hello
        ran = [(one, Sitting(one.case, hello, answer)) for one in self._digests.run(cases)]
        open_ones = [
            at for at, (one, bench) in enumerate(ran) if wants_value(one.case, one.outcome, bench=bench)
        ]
        full = dict(zip(open_ones, self._in_full([cases[number] for number in open_ones]), strict=True))
        return [
            _judged(self.spec, full.get(number, one.outcome), one.outcome, bench)
            for number, (one, bench) in enumerate(ran)
        ]

    def _in_full(self, cases: list[Case]) -> list[Outcome]:
        """The answers with their values, where a digest does not settle it."""
        if not cases:
            return []
        if self._values is None:
            self._values = self._stack.enter_context(Engine(self.spec))
        return [ran.outcome for ran in self._values.run(cases)]


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
