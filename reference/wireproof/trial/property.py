"""The property suite of any adapter: generated cases on the one road, op by op. Design, section 3.

Example n of a format, an op and a seed is one case for ever, `<format>/<revision>/property/<op>~s<seed>:<n>`,
and is drawn once however many adapters are asked: a table of mutants shares them.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache, partial
from itertools import islice
from typing import Final

from attrs import define, evolve, field, frozen

from wireproof.adapters.contract import Hello
from wireproof.cases.case import Accept, Case, Chunks, Data, Op, Source, Value
from wireproof.cases.derived import OPEN
from wireproof.cases.examples import Example, examples
from wireproof.cases.needs import atoms_of, atoms_of_value
from wireproof.cases.outcome import Accepted, Unsupported
from wireproof.formats import FORMATS, Format
from wireproof.trial.engine import Engine, Ran
from wireproof.trial.judge import judge
from wireproof.trial.kill import Killed
from wireproof.trial.plan import planned
from wireproof.trial.reference import expectation
from wireproof.trial.signature import Signature, signature
from wireproof.trial.verdicts import Verdict, gates

FAMILY: Final = "property"
"""The family of the cases, and the topic in their ids."""

BLOCK: Final = 64
"""Cases that are asked at once."""

SLACK: Final = 4
"""So many times the examples wanted are drawn at most: some lie outside the claims, or in known failures."""

STALE: Final = 64
"""Samples in a row that show nothing new, after which a format has no more to show."""

TRIED: Final = 8
"""Answers by which an adapter that claims nothing shows whether it does an op at all."""


class PropertyError(ValueError):
    """Nothing can be generated; one line says what to do."""


# --- the cases ---


class Pool:
    """The cases of one row and seed, drawn as far as they were asked for."""

    def __init__(self, row: Format, seed: int) -> None:
        """Draw nothing yet; raises `PropertyError` where Hypothesis is missing."""
        try:
            from wireproof.cases.strategies.samples import drawn  # noqa: PLC0415 - an extra
        except ImportError:
            raise PropertyError("properties need Hypothesis: pip install 'wireproof[test]'") from None
        self._row, self._seed = row, seed
        self._drawn = partial(drawn, row, seed)
        self._made: dict[Op, list[Case]] = {}
        self._more: dict[Op, Iterator[Case]] = {}

    def cases(self, op: Op, start: int, stop: int) -> Sequence[Case]:
        """The cases from `start` to before `stop`; fewer only where the format has no more to show."""
        made = self._made.setdefault(op, [])
        if stop > len(made):
            more = self._more.setdefault(op, self._new(op))
            made.extend(islice(more, stop - len(made)))
        return made[start:stop]

    def _new(self, op: Op) -> Iterator[Case]:
        seen: set[str] = set()
        number = stale = 0
        for sample in self._drawn():
            before = number
            for example in examples(self._row, op, sample):
                key = repr((example.input, example.options))
                if key not in seen:
                    seen.add(key)
                    yield self._case(op, number, example, sample.data)
                    number += 1
            stale = 0 if number > before else stale + 1
            if stale >= STALE:
                return

    def _case(self, op: Op, number: int, example: Example, data: bytes) -> Case:
        topic = f"{self._row.joined}/{FAMILY}/{op}"
        case = Case(
            f"{topic}~s{self._seed}:{number}",
            self._row.name,
            self._row.revision,
            example.input,
            Accept(),
            title=f"{op}, {example.kind}",
            op=op,
            profile=example.options.profile,
            options=example.options,
            needs=_needs(self._row, example, data),
            source=Source(OPEN, f"{FAMILY} of seed {self._seed}"),
            parent=f"{topic}-{example.kind}",
            family=FAMILY,
        )
        return evolve(case, expect=expectation(case))


def _needs(row: Format, example: Example, data: bytes) -> tuple[str, ...]:
    """What the bytes ask for, and what the whole frames did that they were made of."""
    own = example.input.data if isinstance(example.input, Data) else data
    shown = {*atoms_of(row, own, example.options), *atoms_of(row, data, example.options)}
    if isinstance(example.input, Chunks):
        shown.add("feature:partial-tail")
    if isinstance(example.input, Value):
        shown.update(atoms_of_value(row, example.input.value))
    return tuple(atom for atom in row.atoms if atom in shown)


@lru_cache(maxsize=64)
def pool(joined: str, seed: int) -> Pool:
    """The pool of a row, shared by all who ask for its seed; `pool.cache_clear()` forgets them all."""
    return Pool(FORMATS[joined], seed)


def property_cases(row: Format, op: Op, count: int, seed: int) -> Sequence[Case]:
    """The first `count` cases of a row, an op and a seed; of a seed, fewer are the beginning of more.

    Raises:
        PropertyError: Hypothesis is missing.
    """
    return pool(row.joined, seed).cases(op, 0, count)


def property_case(name: str) -> Case | None:
    """The case of an id, drawn again; None for an id that is no property's."""
    head, _, tail = name.partition("~s")
    joined, _, op = head.rpartition(f"/{FAMILY}/")
    seed, _, number = tail.partition(":")
    if joined not in FORMATS or not (seed.isdecimal() and number.isdecimal()):
        return None
    row = FORMATS[joined]
    for known in _ops(row):
        if known == op:
            return next(iter(pool(joined, int(seed)).cases(known, int(number), int(number) + 1)), None)
    return None


def _ops(row: Format) -> tuple[Op, ...]:
    return ("decode", "encode") if row.scan is None else ("decode", "encode", "scan")


# --- a run ---


@frozen
class Ask:
    """What a run of properties asks.

    Attributes:
        count: examples of each row and op.
        seed: of them all.
        rows: joined names; None takes every row that the adapter claims.
        known: signatures of known failures. An example that fails with one of them is in the region of a
            known fault: it is drawn again and counted, and asserted nowhere; the entry's own case checks
            the fault. A signature is what makes findings one finding (design, section 1), so a second
            fault is hidden only where every view would have shown it as the first one "more like it".
    """

    count: int
    seed: int = 0
    rows: frozenset[str] | None = None
    known: frozenset[Signature] = frozenset()


@frozen
class Target:
    """A row and an op that are asked of an adapter."""

    row: Format
    op: Op

    def __str__(self) -> str:
        """`kafka.batch/v2 decode`."""
        return f"{self.row.joined} {self.op}"


@frozen
class Judged:
    """A property's case with its verdict, its signature, and the nanoseconds it took."""

    case: Case
    verdict: Verdict
    signature: Signature
    ns: int


@define
class Tally:
    """What the events of a run do not show: examples drawn again, by target, and targets that ran out."""

    known: dict[str, int] = field(factory=dict)
    short: dict[str, int] = field(factory=dict)

    def notes(self) -> list[str]:
        """Return a line for each target that is partly in the region of known failures or lacks examples."""
        again = "examples in the region of known failures were drawn again"
        less = "examples only: few others lie within the claims and outside that region"
        return [
            *(f"{target}: {number} {again}" for target, number in self.known.items()),
            *(f"{target}: {number} {less}" for target, number in self.short.items()),
        ]


def targets(hello: Hello, rows: Iterable[str] | None = None) -> list[Target]:
    """What an adapter claims, of `rows`; all there is where it claims nothing, for its answers will tell.

    A row that it claims only as the stream of its entries stands for that stream, as its cases do.
    """
    wanted = set(FORMATS) if rows is None else set(rows)
    lifts = [FORMATS[one].lifts_to for one in wanted if one in FORMATS and one not in hello.revisions]
    wanted |= {f"{lift[0]}/{lift[1]}" for lift in lifts if lift is not None and hello.revisions}
    found = []
    for joined, row in FORMATS.items():
        claim = hello.revisions.get(joined)
        if joined not in wanted or (hello.revisions and claim is None):
            continue
        ops = claim.ops if claim is not None else None
        found += [Target(row, op) for op in _ops(row) if ops is None or op in ops]
    return found


def sampled(engine: Engine, target: Target, ask: Ask, tally: Tally) -> Iterator[Judged]:
    """`ask.count` examples of a target, judged in their order; then what came of reading back.

    What an adapter writes in bytes of its own is shown to its own reader too, as a case of its own.
    """
    start = given = 0
    while given < ask.count and start < SLACK * ask.count:
        most = BLOCK if start or engine.hello.revisions else TRIED
        stop = min(start + min(most, ask.count - given), SLACK * ask.count)
        block = pool(target.row.joined, ask.seed).cases(target.op, start, stop)
        if not block:
            break
        wanted = _claimed(engine.hello, block)[: ask.count - given]
        rans = list(engine.run(wanted))
        if not (start or engine.hello.revisions) and _does_not(rans):
            return
        start = stop
        for judged in _judged(engine, rans):
            if judged.signature in ask.known:
                tally.known[str(target)] = tally.known.get(str(target), 0) + 1
                continue
            given += 1
            yield judged
        again = _claimed(engine.hello, _read_back(engine.hello, rans))
        yield from (one for one in _judged(engine, engine.run(again)) if one.signature not in ask.known)
    if given < ask.count:
        tally.short[str(target)] = given


def _does_not(rans: Sequence[Ran]) -> bool:
    return bool(rans) and all(isinstance(ran.outcome, Unsupported) for ran in rans)


def _claimed(hello: Hello, cases: Iterable[Case]) -> list[Case]:
    return [case for case in cases if not isinstance(planned(case, hello), Unsupported)]


def _judged(engine: Engine, rans: Iterable[Ran]) -> Iterator[Judged]:
    for ran in rans:
        verdict = judge(ran.case, ran.outcome, hello=engine.hello)
        yield Judged(ran.case, verdict, signature(engine.hello.name, ran.case, verdict), ran.ns)


def _read_back(hello: Hello, rans: Iterable[Ran]) -> Iterator[Case]:
    """An adapter's own bytes as decodes, where the reference writes others and so decodes others."""
    for ran in rans:
        match ran.outcome, ran.case.expect:
            case Accepted(data=bytes(data)), Accept(data=ours) if data not in ours:
                case = evolve(
                    ran.case,
                    id=ran.case.id.replace(f"/{FAMILY}/encode~", f"/{FAMILY}/read-back~"),
                    op="decode",
                    input=Data(data),
                    title=f"decode of what {hello.name} wrote",
                    parent=None,
                )
                yield evolve(case, expect=expectation(case))


# --- mutants ---


def killed_by_property(
    name: str, count: int, seed: int = 0, *, in_process: bool = True, timeout_scale: float = 1.0
) -> Killed:
    """The first property that an adapter fails, of `count` examples of each row and op that it claims.

    The targets take turns, a block each, and the run ends at the first verdict that gates: `count` is 1 then.

    Raises:
        AdapterError: it cannot be started.
        PropertyError: Hypothesis is missing.
    """
    passed = 0
    with Engine(name, in_process=in_process, timeout_scale=timeout_scale) as engine:
        ask = Ask(count, seed)
        for judged in _in_turn([sampled(engine, one, ask, Tally()) for one in targets(engine.hello)]):
            if gates(judged.verdict.name, judged.case.level):
                return Killed(judged.case.id, judged.verdict.label, 1, passed)
            passed += judged.verdict.passing
    return Killed("", "", 0, passed)


def _in_turn(runs: list[Iterator[Judged]]) -> Iterator[Judged]:
    """A block of each, then the next of each."""
    while runs:
        left = []
        for run in runs:
            block = 0
            for block, judged in enumerate(islice(run, BLOCK), 1):  # noqa: B007 - how many there were
                yield judged
            left += [run] * (block == BLOCK)
        runs = left
