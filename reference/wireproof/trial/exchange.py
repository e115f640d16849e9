"""Every encoder's bytes to every decoder, over generated values, on the one road. Design, sections 3 and 6.

What is to be written is a case of op `encode`, judged like any other; what was written is a case of op
`decode`, whose expectation is the reference's reading of those bytes. Bytes that several adapters write alike
are read once. The rows are those that more than one adapter claims; Kafka's are fed with `cases.sending`, so
that the same messages go through each revision, the others with the strategy of their values.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import lru_cache
from itertools import count
from typing import Any, Final

from attrs import define, evolve, field, frozen

from wireproof.adapters.contract import Claim, Hello
from wireproof.adapters.errors import AdapterError
from wireproof.cases.case import Accept, Case, Data, Expect, Op, Source, Value
from wireproof.cases.derived import OPEN
from wireproof.cases.needs import atoms_of
from wireproof.cases.outcome import Accepted, Outcome, Refused
from wireproof.cases.sending import Sending, spellings
from wireproof.formats import FORMATS, Format
from wireproof.kafka.values import Log
from wireproof.trial.bench import Bench
from wireproof.trial.engine import Engine, Ran
from wireproof.trial.judge import judge
from wireproof.trial.plan import Sample, claimed_ops
from wireproof.trial.property import PropertyError
from wireproof.trial.reference import answer, expectation
from wireproof.trial.verdicts import Verdict
from wireproof.wire.observe import Wanted
from wireproof.wire.values import to_json

TOPIC: Final = "interop"
"""The family of the cases, and the topic in their ids."""

WRITE: Final = "write"
"""Stands in an id where that of a read has the name of the writer."""

SLOW_SHARE: Final = 8
"""A slow adapter reads one parcel in so many."""

DECLINED: Final = "invalid-value"
"""The class of an encoder that says of a value that it has no way to write it."""


WRAPPER: Final = "feature:wrapper"
"""Whoever claims codecs in v0 and v1 writes wrappers: there is no other way to compress."""


UNPACKED: Final = Verdict("info", "uncompressed", text="the messages as they are: it left the codec out")
"""What is said of an encoder that was told to compress and did not: nothing is lost by it."""


@frozen
class Ask:
    """How many values of each format, of which seed, and which rows: joined names, None for all."""

    count: int
    seed: int = 0
    rows: frozenset[str] | None = None


@frozen
class Post:
    """A value to be written: entry `part` of a spelling of value number `number`."""

    number: int
    spelling: int
    part: int
    case: Case


@frozen
class Parcel:
    """Bytes to be read, and who wrote them for which post."""

    case: Case
    senders: tuple[tuple[str, Post], ...]

    @property
    def data(self) -> bytes:
        """The bytes."""
        assert isinstance(self.case.input, Data)
        return self.case.input.data

    @property
    def producers(self) -> tuple[str, ...]:
        """The writers by name, each once."""
        return tuple(dict.fromkeys(name for name, _ in self.senders))

    def named(self, producer: str, post: Post) -> str:
        """The id of the case for one of its senders."""
        return post.case.id.replace(f"/{TOPIC}/{WRITE}~", f"/{TOPIC}/{producer}~")


@frozen
class Written:
    """What came of a post: the verdict, and the bytes if there are any."""

    post: Post
    verdict: Verdict
    data: bytes | None
    ns: int

    @property
    def declined(self) -> bool:
        """Whether the adapter has no way to write the value."""
        return self.verdict.name == "unsupported"


@frozen
class Read:
    """What came of a parcel at one adapter.

    Attributes:
        asked: the case as it was asked: lifted, where the adapter reads streams.
        outcome: what it did; of a whole pass, what the reference does, over the fields that it shows.
        wanted: those fields.
    """

    parcel: Parcel
    asked: Case
    verdict: Verdict
    outcome: Outcome
    wanted: Wanted
    ns: int


@define
class Party:
    """An adapter in an exchange, and what it did."""

    spec: str
    hello: Hello
    written: dict[str, list[Written]] = field(factory=dict)
    read: dict[str, list[Read]] = field(factory=dict)
    notes: list[str] = field(factory=list)


@frozen
class Exchanged:
    """All that came of an exchange: who took part, the parcels by row, and who did not start, and why."""

    ask: Ask
    parties: tuple[Party, ...]
    parcels: Mapping[str, tuple[Parcel, ...]]
    absent: Mapping[str, AdapterError]


Tell = Callable[[str, int, int], None]
"""Takes what is being done in a few words, how many steps are done, and how many there are."""


def exchange(
    specs: Sequence[str], ask: Ask, *, timeout_scale: float = 1.0, tell: Tell = lambda *_: None
) -> Exchanged:
    """Let the adapters that `specs` name write and read, each in processes of its own.

    `tell` is called before each step.

    Raises:
        PropertyError: Hypothesis is missing.
    """
    with ExitStack() as stack:
        engines: dict[str, Engine] = {}
        absent: dict[str, AdapterError] = {}
        names = tuple(dict.fromkeys(specs))
        for number, spec in enumerate(names):
            tell(f"{spec} starts", number, len(names))
            try:
                engine = Engine(spec, seed=ask.seed, timeout_scale=timeout_scale)
                engines[spec] = stack.enter_context(engine)
            except AdapterError as error:
                absent[spec] = error
        parties = {spec: Party(spec, engine.hello) for spec, engine in engines.items()}
        rows = rows_of([party.hello for party in parties.values()], ask)
        steps = count()
        total = 2 * len(parties) * len(rows)
        for spec, party in parties.items():
            for row in rows:
                tell(f"{spec} writes {row.joined}", next(steps), total)
                party.written[row.joined] = _written(engines[spec], row, ask)
        parcels = {row.joined: packed(row, parties.values()) for row in rows}
        for spec, party in parties.items():
            for joined, some in parcels.items():
                tell(f"{spec} reads {joined}", next(steps), total)
                party.read[joined] = _read(engines[spec], some, party)
            party.notes += engines[spec].notes
    return Exchanged(ask, tuple(parties.values()), parcels, absent)


def rows_of(hellos: Sequence[Hello], ask: Ask) -> list[Format]:
    """The rows that one adapter writes and another one reads; streams of entries go entry by entry."""
    streams = {"/".join(row.lifts_to[:2]) for row in FORMATS.values() if row.lifts_to}
    wanted = [row for joined, row in FORMATS.items() if joined not in streams]
    return [row for row in wanted if (ask.rows is None or row.joined in ask.rows) and _shared(row, hellos)]


def _shared(row: Format, hellos: Sequence[Hello]) -> bool:
    writers = {number for number, hello in enumerate(hellos) if _does(hello, row, "encode")}
    readers = {number for number, hello in enumerate(hellos) if _does(hello, row, "decode")}
    return bool(writers) and bool(readers) and len(writers | readers) > 1


def _does(hello: Hello, row: Format, op: Op) -> bool:
    """Whether an adapter claims an op of a row; who writes entries may read only the stream of them."""
    if op in claimed_ops(hello, row):
        return True
    lifted = FORMATS["/".join(row.lifts_to[:2])] if row.lifts_to else row
    return op == "decode" and lifted.joined in hello.revisions and op in claimed_ops(hello, lifted)


# --- writing ---


@lru_cache(maxsize=64)
def posts(joined: str, count: int, seed: int) -> tuple[Post, ...]:
    """The values of a row that everybody is asked to write; raises `PropertyError` without Hypothesis."""
    row = FORMATS[joined]
    found: list[Post] = []
    for number in range(count):
        for spelling, entries in enumerate(_values(row, number, seed)):
            for part, value in enumerate(entries):
                name = f"{joined}/{TOPIC}/{WRITE}~s{seed}:{len(found)}"
                found.append(Post(number, spelling, part, _post(row, name, value)))
    return tuple(found)


def _values(row: Format, number: int, seed: int) -> Iterable[tuple[Any, ...]]:
    """The spellings of value `number`, each as the entries that it becomes."""
    if row.name == "kafka.batch":
        sending: Sending = _draw("kafka", number, seed)
        return spellings(sending, row.revision)
    return ((_draw(row.joined, number, seed),),)


def _draw(name: str, number: int, seed: int) -> Any:  # noqa: ANN401 - a value of any row, or a sending
    """Value `number` of a seed is the same one in every run; one too large to be drawn has none after it."""
    found = _drawing(name)(f"{TOPIC} {name} {seed} {number}")
    return found[0]


@lru_cache(maxsize=64)
def _drawing(name: str) -> Callable[[str], list[Any]]:
    try:
        from wireproof.cases.strategies import values  # noqa: PLC0415 - an extra
        from wireproof.cases.strategies.samples import drawing  # noqa: PLC0415 - as above
        from wireproof.cases.strategies.sending import sendings  # noqa: PLC0415 - as above
    except ImportError:
        raise PropertyError("an exchange needs Hypothesis: pip install 'wireproof[test]'") from None
    return drawing(sendings() if name == "kafka" else values(*name.split("/")))


def _post(row: Format, name: str, value: Any) -> Case:  # noqa: ANN401 - a value of any row
    case = _case(row, name, f"{row.joined}/{TOPIC}/{WRITE}", Value(to_json(value)), "encode")
    match answer(case).outcome:
        case Accepted(data=bytes(data)):
            needs = tuple(atom for atom in atoms_of(row, data) if atom != WRAPPER)
            return evolve(case, expect=Accept(data=(data,)), needs=needs)
    return evolve(case, expect=expectation(case))


def _case(row: Format, name: str, family: str, given: Data | Value, op: Op) -> Case:
    return Case(
        name,
        row.name,
        row.revision,
        given,
        Accept(),
        title=f"{op}, of an exchange",
        op=op,
        source=Source(OPEN, f"values of {name.partition('~')[2]}"),
        parent=family,
        family=TOPIC,
    )


def _written(engine: Engine, row: Format, ask: Ask) -> list[Written]:
    if not _does(engine.hello, row, "encode"):
        return []
    known = posts(row.joined, ask.count, ask.seed)
    rans = engine.run([post.case for post in known])
    return [_wrote(post, ran, engine.hello, ask.seed) for post, ran in zip(known, rans, strict=True)]


def _wrote(post: Post, ran: Ran, hello: Hello, seed: int) -> Written:
    """A value that an encoder declines is outside what it does."""
    match ran.outcome:
        case Refused(cls=cls, path=path, text=text) if cls == DECLINED:
            return Written(post, Verdict("unsupported", path=path, text=text), None, ran.ns)
        case Accepted(data=bytes(data)):
            verdict = judge(ran.case, ran.outcome, hello=hello)
            if verdict.name == "fail" and (plain := _unpacked(post, data, hello, seed)):
                return Written(post, UNPACKED, data if len(plain) == 1 else None, ran.ns)
            return Written(post, verdict, data, ran.ns)
    return Written(post, judge(ran.case, ran.outcome, hello=hello), None, ran.ns)


def _unpacked(post: Post, data: bytes, hello: Hello, seed: int) -> tuple[Any, ...]:
    """The entries of a sending whose encoder left them uncompressed, as those do for which packing must pay.

    Empty if the bytes are anything else. They are judged as a log of the same messages without a codec.
    """
    case, claim = post.case, hello.revisions.get(post.case.joined)
    if case.format != "kafka.batch":
        return ()
    sending: Sending = _draw("kafka", post.number, seed)
    (entries,) = spellings(evolve(sending, codec=0), case.revision)
    log = evolve(case, format="kafka.log", revision="mixed", input=Value(to_json(Log(entries))), needs=())
    observes = tuple(f"batches[].{name}" for name in claim.observes) if claim is not None else ()
    writer = evolve(hello, revisions={log.joined: Claim(("encode",), observes=observes)})
    verdict = judge(evolve(log, expect=Accept()), Accepted(data=data), hello=writer)
    return entries if sending.codec and verdict.passing else ()


# --- reading ---


def packed(row: Format, parties: Iterable[Party]) -> tuple[Parcel, ...]:
    """What was written of a row, equal bytes together."""
    found: dict[bytes, list[tuple[str, Post]]] = {}
    for party in parties:
        for one in party.written.get(row.joined, ()):
            if one.data is not None:
                found.setdefault(one.data, []).append((party.spec, one.post))
    return tuple(_parcel(row, data, tuple(senders)) for data, senders in found.items())


def _parcel(row: Format, data: bytes, senders: tuple[tuple[str, Post], ...]) -> Parcel:
    producer, post = senders[0]
    name = Parcel(post.case, senders).named(producer, post)
    case = _case(row, name, f"{row.joined}/{TOPIC}/{producer}", Data(data), "decode")
    case = evolve(case, expect=expectation(case), needs=atoms_of(row, data))
    return Parcel(case, senders)


def _read(engine: Engine, some: Sequence[Parcel], party: Party) -> list[Read]:
    """What the adapter makes of some parcels, or a slow one of a part of them."""
    if not some or not _does(engine.hello, FORMATS[some[0].case.joined], "decode"):
        return []
    by_id = {parcel.case.id: parcel for parcel in some}
    cases: Iterator[Case] = (parcel.case for parcel in some)
    sample = Sample(SLOW_SHARE)
    slow = engine.hello.cost == "slow"
    found = [
        _heard(ran, by_id[ran.case.id], engine.hello)
        for ran in engine.run(sample.of(cases) if slow else cases)
    ]
    if slow:
        party.notes.append(f"a slow adapter: it read {sample.kept} of {sample.seen} {some[0].case.joined}")
    return found


def _heard(ran: Ran, parcel: Parcel, hello: Hello) -> Read:
    bench = Bench(ran.case, hello, answer)
    verdict = judge(ran.case, ran.outcome, hello=hello, bench=bench)
    outcome = _known(ran.case.expect) if verdict.name == "pass" else ran.outcome
    return Read(parcel, ran.case, verdict, outcome, bench.wanted, ran.ns)


def _known(expect: Expect) -> Outcome:
    """The outcome that a pass has, over the fields that the adapter shows: one object for all who pass."""
    match expect:
        case Accept(value=value, consumed=consumed):
            return Accepted(value, consumed)
        case _:
            return Refused()
