"""Interop runs: every encoder's bytes go to every decoder, over generated values, through engine and judge.

A value to write is an encode case, judged like any other. The bytes written are a decode case, whose
expectation is the answer of the reference to those bytes. Equal bytes of several adapters are read once. The
formats are those that more than one adapter claims. Where a family has message sets, each revision gets the
same messages; else the values come from the strategy of their format.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import count
from typing import Any, Final

from attrs import define, evolve, field, frozen

from wireproof.adapters.contract import Claim, Hello
from wireproof.adapters.errors import AdapterError
from wireproof.adapters.registry.live_servers import Carried, Relay
from wireproof.adapters.requests import CaseResult, DerivedSample, claimed_ops
from wireproof.cases.case import Accept, Case, Data, Op, Reject, Value
from wireproof.cases.outcome import Accepted, Refused, Unsupported
from wireproof.cases.reference_answers import reference_answer, reference_expectation
from wireproof.derive.examples import capabilities_of
from wireproof.derive.seeded_examples import (
    INTEROP,
    WRITE_PART,
    EncodeCase,
    encode_cases,
    exchange_case,
    exchanged_value,
    message_sets_of,
)
from wireproof.formats import FORMATS, Format
from wireproof.judge.context import JudgeContext
from wireproof.judge.differences import first_difference, short_expect, short_field, short_outcome
from wireproof.judge.judge import judge
from wireproof.judge.verdicts import NO_FINDING_GATES, ROWS, Verdict, gates
from wireproof.run.engine import Engine
from wireproof.run.events import (
    CaseEvent,
    EventStream,
    Run,
    case_event,
    footer_of,
    manifest_fields,
    run_event,
)
from wireproof.wire.json_values import to_json
from wireproof.wire.observed_fields import field_tree, project

SLOW_SHARE: Final = 8
"""A slow adapter reads one message in this many."""

DECLINED_CLASS: Final = "invalid-value"
"""The class with which an encoder reports that it cannot write a value."""


UNCOMPRESSED: Final = Verdict("info", "uncompressed", text="the messages as they are: it left the codec out")
"""The verdict on an encoder that had to compress and did not: nothing is lost."""


@frozen
class InteropSettings:
    """The settings: values of each format, their seed, and the ids of the formats, None for all.

    `assigned` are the fields of messages that a server assigns, which no two revisions have in common.
    """

    count: int
    seed: int = 0
    rows: frozenset[str] | None = None
    assigned: tuple[str, ...] = ()


@frozen
class EncodedMessage:
    """Bytes to read, with their writers and encode cases."""

    case: Case
    writers: tuple[tuple[str, EncodeCase], ...]

    @property
    def data(self) -> bytes:
        assert isinstance(self.case.input, Data)
        return self.case.input.data

    @property
    def producers(self) -> tuple[str, ...]:
        """Return the names of the writers, each once."""
        return tuple(dict.fromkeys(name for name, _ in self.writers))

    def named(self, producer: str, post: EncodeCase) -> str:
        return post.case.id.replace(f"/{INTEROP}/{WRITE_PART}~", f"/{INTEROP}/{producer}~")


@frozen
class EncodeResult:
    """The result of an encode case: the verdict, and the bytes if there are any."""

    post: EncodeCase
    verdict: Verdict
    data: bytes | None
    ns: int


@frozen
class DecodeResult:
    """The verdict on decoding the bytes of a message with one adapter."""

    encoded_message: EncodedMessage
    verdict: Verdict
    ns: int


@define
class Participant:
    """An adapter that takes part, and its results."""

    spec: str
    hello: Hello
    written: dict[str, list[EncodeResult]] = field(factory=dict)
    read: dict[str, list[DecodeResult]] = field(factory=dict)
    notes: list[str] = field(factory=list)


@frozen
class InteropRun:
    """The results of an interop run; `absent`: the adapters that did not start."""

    ask: InteropSettings
    participants: tuple[Participant, ...]
    encoded_messages: Mapping[str, tuple[EncodedMessage, ...]]
    absent: Mapping[str, AdapterError]


ProgressCallback = Callable[[str, int, int], None]
"""Takes what is being done in a few words, how many steps are done, and how many there are."""

EncodedMessages = Mapping[str, tuple[EncodedMessage, ...]]
"""Messages by their format and revision."""


def run_interop(
    specs: Sequence[str],
    ask: InteropSettings,
    *,
    timeout_scale: float = 1.0,
    through: Callable[[EncodedMessages], EncodedMessages] | None = None,
    report_progress: ProgressCallback = lambda *_: None,
) -> InteropRun:
    """Let the adapters that `specs` name write and read, each in processes of its own.

    `through` stores what was written, and returns what the others read. `report_progress` is called before
    each step.

    Raises:
        PropertyError: Hypothesis is missing.
    """
    with ExitStack() as stack:
        engines: dict[str, Engine] = {}
        absent: dict[str, AdapterError] = {}
        names = tuple(dict.fromkeys(specs))
        for number, spec in enumerate(names):
            report_progress(f"{spec} starts", number, len(names))
            try:
                engine = Engine(spec, seed=ask.seed, timeout_scale=timeout_scale)
                engines[spec] = stack.enter_context(engine)
            except AdapterError as error:
                absent[spec] = error
        participants = {spec: Participant(spec, engine.hello) for spec, engine in engines.items()}
        rows = shared_formats([participant.hello for participant in participants.values()], ask)
        steps = count()
        total = 2 * len(participants) * len(rows)
        for spec, participant in participants.items():
            for row in rows:
                report_progress(f"{spec} writes {row.format_id}", next(steps), total)
                participant.written[row.format_id] = _written(engines[spec], row, ask)
        encoded_messages: EncodedMessages = {
            row.format_id: group_by_bytes(row, participants.values()) for row in rows
        }
        if through is not None:
            encoded_messages = through(encoded_messages)
        for spec, participant in participants.items():
            for format_id, some in encoded_messages.items():
                report_progress(f"{spec} reads {format_id}", next(steps), total)
                participant.read[format_id] = _read(engines[spec], some, participant)
            participant.notes += engines[spec].notes
    return InteropRun(ask, tuple(participants.values()), encoded_messages, absent)


def shared_formats(hellos: Sequence[Hello], ask: InteropSettings) -> list[Format]:
    """Return the formats that one adapter writes and another reads; stream_ids run as their entries."""
    stream_ids = {"/".join(fmt.wrapped_by[:2]) for fmt in FORMATS.values() if fmt.wrapped_by}
    wanted = [fmt for format_id, fmt in FORMATS.items() if format_id not in stream_ids]
    return [
        fmt
        for fmt in wanted
        if (ask.rows is None or fmt.format_id in ask.rows) and _has_writer_and_reader(fmt, hellos)
    ]


def _has_writer_and_reader(fmt: Format, hellos: Sequence[Hello]) -> bool:
    writers = {number for number, hello in enumerate(hellos) if _can(hello, fmt, "encode")}
    readers = {number for number, hello in enumerate(hellos) if _can(hello, fmt, "decode")}
    return bool(writers) and bool(readers) and len(writers | readers) > 1


def _can(hello: Hello, fmt: Format, op: Op) -> bool:
    """Return whether an adapter claims an op of a format; a decode may be claimed of the wrapping stream."""
    if op in claimed_ops(hello, fmt):
        return True
    lifted = FORMATS["/".join(fmt.wrapped_by[:2])] if fmt.wrapped_by else fmt
    return op == "decode" and lifted.format_id in hello.revisions and op in claimed_ops(hello, lifted)


# --- writing ---


def _written(engine: Engine, fmt: Format, ask: InteropSettings) -> list[EncodeResult]:
    if not _can(engine.hello, fmt, "encode"):
        return []
    known = encode_cases(fmt.format_id, ask.count, ask.seed)
    rans = engine.run([post.case for post in known])
    return [_judge_written(post, ran, engine.hello, ask.seed) for post, ran in zip(known, rans, strict=True)]


def _judge_written(post: EncodeCase, ran: CaseResult, hello: Hello, seed: int) -> EncodeResult:
    """Judge an encoded value; a declined value is outside the claims."""
    match ran.outcome:
        case Refused(cls=cls, path=path, text=text) if cls == DECLINED_CLASS:
            return EncodeResult(post, Verdict("unsupported", path=path, text=text), None, ran.ns)
        case Accepted(data=bytes(data)):
            verdict = judge(ran.case, ran.outcome, hello=hello)
            if verdict.name == "fail" and (plain := _uncompressed_entries(post, data, hello, seed)):
                return EncodeResult(post, UNCOMPRESSED, data if len(plain) == 1 else None, ran.ns)
            return EncodeResult(post, verdict, data, ran.ns)
    return EncodeResult(post, judge(ran.case, ran.outcome, hello=hello), None, ran.ns)


def _uncompressed_entries(post: EncodeCase, data: bytes, hello: Hello, seed: int) -> tuple[Any, ...]:
    """Return the entries of a message set that the encoder left uncompressed, as it may if that is shorter.

    Empty if the bytes are anything else. They are judged as a log of the same messages without a codec.
    """
    case, claim = post.case, hello.revisions.get(post.case.format_id)
    fmt = FORMATS[case.format_id]
    sets = message_sets_of(fmt)
    plain = None if sets is None else sets.uncompressed(exchanged_value(sets.label, post.number, seed))
    if sets is None or plain is None or fmt.wrapped_by is None:
        return ()
    (entries,) = sets.encodings(plain, case.revision)
    name, revision, parts = fmt.wrapped_by
    log = evolve(case, format=name, revision=revision, input=Value(to_json(sets.stream(entries))), needs=())
    observes = tuple(f"{parts}[].{one}" for one in claim.observes) if claim is not None else ()
    writer = evolve(hello, revisions={log.format_id: Claim(("encode",), observes=observes)})
    verdict = judge(evolve(log, expect=Accept()), Accepted(data=data), hello=writer)
    return entries if verdict.passing else ()


# --- reading ---


def group_by_bytes(fmt: Format, participants: Iterable[Participant]) -> tuple[EncodedMessage, ...]:
    found: dict[bytes, list[tuple[str, EncodeCase]]] = {}
    for participant in participants:
        for one in participant.written.get(fmt.format_id, ()):
            if one.data is not None:
                found.setdefault(one.data, []).append((participant.spec, one.post))
    return tuple(_parcel(fmt, data, tuple(writers)) for data, writers in found.items())


def _parcel(fmt: Format, data: bytes, writers: tuple[tuple[str, EncodeCase], ...]) -> EncodedMessage:
    producer, post = writers[0]
    name = EncodedMessage(post.case, writers).named(producer, post)
    case = exchange_case(fmt, name, f"{fmt.format_id}/{INTEROP}/{producer}", Data(data), "decode")
    case = evolve(case, expect=reference_expectation(case), needs=capabilities_of(fmt, data))
    return EncodedMessage(case, writers)


def _read(engine: Engine, messages: Sequence[EncodedMessage], participant: Participant) -> list[DecodeResult]:
    """Decode the messages with an adapter; a slow one gets a part of them."""
    if not messages or not _can(engine.hello, FORMATS[messages[0].case.format_id], "decode"):
        return []
    by_id = {encoded_message.case.id: encoded_message for encoded_message in messages}
    cases: Iterator[Case] = (encoded_message.case for encoded_message in messages)
    sample = DerivedSample(SLOW_SHARE)
    slow = engine.hello.cost == "slow"
    found = [
        _judge_read(ran, by_id[ran.case.id], engine.hello)
        for ran in engine.run(sample.of(cases) if slow else cases)
    ]
    if slow:
        participant.notes.append(
            f"a slow adapter: it read {sample.kept} of {sample.seen} {messages[0].case.format_id}"
        )
    return found


def _judge_read(ran: CaseResult, encoded_message: EncodedMessage, hello: Hello) -> DecodeResult:
    context = JudgeContext(ran.case, hello, reference_answer)
    return DecodeResult(encoded_message, judge(ran.case, ran.outcome, hello=hello, context=context), ran.ns)


SENT: Final = "sent"
REFUSED_RIGHTLY: Final = "refused, as a producer may not send them"
STORED: Final = "stored"


@frozen
class RelayFault:
    """A message that the server refuses without a reason, or stores otherwise; `case` replays it."""

    message: EncodedMessage
    case: Case
    verdict: Verdict


@define
class RelayReport:
    """What a server did with the messages.

    Attributes:
        spec, name, version: of the server.
        counts: of the messages, by what became of them.
        left_out: of the messages that could not be carried, by the reason.
    """

    spec: str
    name: str
    version: str = ""
    counts: Counter[str] = field(factory=Counter)
    left_out: Counter[str] = field(factory=Counter)
    faults: list[RelayFault] = field(factory=list)

    def lines(self) -> Iterator[str]:
        """Yield how many messages were stored, and why the others were not."""
        others = [f"{number} {name}" for name, number in self.counts.items() if name not in (SENT, STORED)]
        stored = "; ".join([f"{self.counts[STORED]} of {self.counts[SENT]} messages stored", *others])
        yield f"THROUGH {self.spec} ({f'{self.name} {self.version}'.strip()}): {stored}"
        for reason, number in self.left_out.most_common():
            yield f"  {number} not carried: {reason}"


def carried_messages(
    relay: Relay,
    encoded_messages: Mapping[str, Sequence[EncodedMessage]],
    report: RelayReport,
) -> dict[str, tuple[EncodedMessage, ...]]:
    """Return the messages as the server stores them, without those that it did not store."""
    found: dict[str, tuple[EncodedMessage, ...]] = {}
    for format_id, messages in encoded_messages.items():
        answers = relay.carry(format_id, [message.data for message in messages])
        pairs = zip(messages, answers, strict=True)
        found[format_id] = tuple(_stored(pairs, relay.kept[format_id], report))
    return found


def _stored(
    pairs: Iterator[tuple[EncodedMessage, Carried]], kept: tuple[str, ...], report: RelayReport
) -> Iterator[EncodedMessage]:
    for message, answer in pairs:
        report.counts[SENT] += 1
        match answer:
            case Unsupported(text):
                report.left_out[text] += 1
            case Refused():
                _note_refusal(message, answer, report)
            case Accepted(data=b""):
                verdict = Verdict("fail", "wrong-value", want="what was acknowledged", got="nothing stored")
                report.faults.append(RelayFault(message, _produced(message), verdict))
            case Accepted(data=bytes(data)):
                report.counts[STORED] += 1
                case = evolve(message.case, input=Data(data))
                needs = capabilities_of(FORMATS[case.format_id], data)
                stored = evolve(message, case=evolve(case, expect=reference_expectation(case), needs=needs))
                if (fault := _changed(message, stored, kept)) is not None:
                    report.faults.append(fault)
                yield stored


def _produced(message: EncodedMessage) -> Case:
    """Return the case of the bytes as a producer sends them: a server judges them by other rules."""
    case = evolve(message.case, profile="produce")
    return evolve(case, expect=reference_expectation(case))


def _note_refusal(message: EncodedMessage, answer: Refused, report: RelayReport) -> None:
    case = _produced(message)
    if isinstance(case.expect, Reject):
        report.counts[REFUSED_RIGHTLY] += 1
        return
    want, got = short_expect(case.expect), short_outcome(answer)
    verdict = Verdict("fail", "wrong-reject", answer.cls, want=want, got=got, detail=answer.detail)
    report.faults.append(RelayFault(message, case, verdict))


def _changed(message: EncodedMessage, stored: EncodedMessage, kept: tuple[str, ...]) -> RelayFault | None:
    """Return the fault of a server that changed a field which it must keep, or stored what nobody reads."""
    sent, back = reference_answer(message.case).outcome, reference_answer(stored.case).outcome
    if not isinstance(sent, Accepted):
        return None
    case = evolve(_produced(message), expect=Accept(value=sent.value))
    if isinstance(back, Refused):
        text = short_outcome(back)
        return RelayFault(message, case, Verdict("fail", "wrong-value", back.cls, back.path, got=text))
    tree = field_tree(kept)
    difference = first_difference(project(sent.value, tree), project(back.value, tree))
    if difference is None:
        return None
    want, got = short_field(difference)
    return RelayFault(message, case, Verdict("fail", "wrong-value", path=difference.path, want=want, got=got))


Token = Callable[[Case], str]
"""Returns the token that replays a case."""


@define
class ReadCounts:
    """The readings by one adapter of one producer's bytes of one format, counted by encode case.

    Attributes:
        alike: read as the reference reads them.
        wrong: a verdict that gates.
        other: remarks, correct rejections, timeouts.
    """

    alike: int = 0
    wrong: int = 0
    other: int = 0

    @property
    def all(self) -> int:
        return self.alike + self.wrong + self.other


@define
class InteropResults:
    """The results of an interop run.

    Attributes:
        streams: one for each adapter, in the order in which the user named them.
        server: the faults of the server that stored the messages; None without one.
        tallies: by format, producer and reader.
    """

    streams: list[EventStream] = field(factory=list)
    server: EventStream | None = None
    tallies: dict[tuple[str, str, str], ReadCounts] = field(factory=dict)


def collect_results(
    exchanged: InteropRun, token: Token, *, relayed: RelayReport | None = None
) -> InteropResults:
    """Collect the results; `relayed` is of the server that stored the messages."""
    made = InteropResults(tallies=_tallies(exchanged))
    for participant in exchanged.participants:
        events = [*_encode_events(participant, token), *_decode_events(participant, token)]
        made.streams.append(_stream(_run(exchanged, participant.spec, participant.hello), events))
    if relayed is not None:
        run = _run(exchanged, relayed.spec, Hello(relayed.name, relayed.version))
        made.server = _stream(run, [_fault_event(fault, token) for fault in relayed.faults])
    return made


def _stream(run: Run, events: Sequence[CaseEvent]) -> EventStream:
    cases = tuple(evolve(event, seq=seq) for seq, event in enumerate(events))
    complete = not any(event.verdict == "not-run" for event in cases)
    return EventStream(run, cases, footer_of(cases, complete=complete))


def _run(exchanged: InteropRun, spec: str, hello: Hello) -> Run:
    filters = (f"{INTEROP} of {exchanged.ask.count}", *sorted(exchanged.ask.rows or ()))
    fields = {"spec": spec, "fixtures": "", "seed": exchanged.ask.seed, "filters": filters}
    return run_event(hello, **fields, **manifest_fields())


def _tallies(exchanged: InteropRun) -> dict[tuple[str, str, str], ReadCounts]:
    found: dict[tuple[str, str, str], ReadCounts] = {}
    for participant in exchanged.participants:
        for format_id, reads in participant.read.items():
            for read in reads:
                if read.verdict.name == "unsupported":
                    continue
                for producer, _ in read.encoded_message.writers:
                    tally = found.setdefault((format_id, producer, participant.spec), ReadCounts())
                    if read.verdict.name == "pass":
                        tally.alike += 1
                    elif gates(read.verdict.name, "must"):
                        tally.wrong += 1
                    else:
                        tally.other += 1
    return found


# --- events ---


def _encode_events(participant: Participant, token: Token) -> Iterator[CaseEvent]:
    for some in participant.written.values():
        for one in some:
            yield case_event(
                0, one.post.case, one.verdict, one.ns, replay_token(one.post.case, one.verdict, token)
            )


def _decode_events(participant: Participant, token: Token) -> Iterator[CaseEvent]:
    for some in participant.read.values():
        for read in some:
            case = read.encoded_message.case
            word = replay_token(case, read.verdict, token)
            for producer, post in read.encoded_message.writers:
                title = f"decode of what {producer} wrote"
                named = evolve(case, id=read.encoded_message.named(producer, post), title=title)
                yield case_event(0, named, read.verdict, read.ns, word)


def _fault_event(fault: RelayFault, token: Token) -> CaseEvent:
    producers = ", ".join(fault.message.producers)
    case = evolve(fault.case, title=f"stores what {producers} wrote")
    return case_event(0, case, fault.verdict, 0, token(fault.case))


def replay_token(case: Case, verdict: Verdict, token: Token) -> str:
    """Return the token of a verdict worth replaying, else nothing."""
    return "" if ROWS[verdict.name].gate in NO_FINDING_GATES else token(case)
