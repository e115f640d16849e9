"""Interop runs: every encoder's bytes go to every decoder, over generated values, through engine and judge.

A value to write is an encode case, judged like any other. The bytes written are a decode case, whose
expectation is the answer of the reference to those bytes. Equal bytes of several adapters are read once. The
formats are those that more than one adapter claims. Where a family has message sets, each revision gets the
same messages; else the values come from the strategy of their format.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
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
from wireproof.run.events import CaseEvent, EventStream, case_event, footer_of, manifest_fields, run_event
from wireproof.wire.json_values import to_json
from wireproof.wire.observed_fields import field_tree, project
from wireproof.wire.text import counted

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


Writer = tuple[str, EncodeCase]
"""An adapter that wrote a message, and the encode case."""


@frozen
class EncodedMessage:
    """Bytes to read, with their writers and encode cases."""

    case: Case
    writers: tuple[Writer, ...]

    @property
    def data(self) -> bytes:
        assert isinstance(self.case.input, Data)
        return self.case.input.data

    @property
    def producers(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for name, _ in self.writers))

    def named(self, producer: str, post: EncodeCase) -> str:
        return post.case.id.replace(f"/{INTEROP}/{WRITE_PART}~", f"/{INTEROP}/{producer}~")


@define
class ReadCounts:
    """The readings by one adapter of one producer's bytes of one format, counted by encode case.

    They are as the reference reads, wrong by a verdict that gates, or other: remarks, refusals, timeouts.
    """

    alike: int = 0
    wrong: int = 0
    other: int = 0

    @property
    def all(self) -> int:
        return self.alike + self.wrong + self.other


@define
class Participant:
    """An adapter that takes part, or the server between them; `written`: encoded and requested, by format."""

    spec: str
    hello: Hello
    written: dict[str, tuple[int, int]] = field(factory=dict)
    events: list[CaseEvent] = field(factory=list)
    notes: list[str] = field(factory=list)


@define
class InteropRun:
    """The results of an interop run; `token` returns the token that replays a case.

    `tallies` are by format, producer and reader; `absent` are the adapters that did not start.
    """

    settings: InteropSettings
    token: Callable[[Case], str]
    participants: list[Participant] = field(factory=list)
    encoded_messages: "EncodedMessages" = field(factory=dict)
    tallies: dict[tuple[str, str, str], ReadCounts] = field(factory=dict)
    readings: int = 0
    absent: dict[str, AdapterError] = field(factory=dict)

    @property
    def streams(self) -> list[EventStream]:
        return [self.stream_of(one) for one in self.participants]

    def stream_of(self, one: Participant) -> EventStream:
        """Return what is judged of an adapter or of the server as a run."""
        filters = (f"{INTEROP} of {self.settings.count}", *sorted(self.settings.rows or ()))
        fields = {"spec": one.spec, "fixtures": "", "seed": self.settings.seed, "filters": filters}
        cases = tuple(evolve(event, seq=seq) for seq, event in enumerate(one.events))
        complete = not any(event.verdict == "not-run" for event in cases)
        run = run_event(one.hello, **fields, **manifest_fields())
        return EventStream(run, cases, footer_of(cases, complete=complete))

    def event(self, case: Case, verdict: Verdict, ns: int) -> CaseEvent:
        quiet = ROWS[verdict.name].gate in NO_FINDING_GATES
        return case_event(0, case, verdict, ns, "" if quiet else self.token(case))


ProgressCallback = Callable[[str, int, int], None]
"""Takes what is being done in a few words, how many steps are done, and how many there are."""

EncodedMessages = Mapping[str, Sequence[EncodedMessage]]
"""Messages by their format and revision."""


def run_interop(
    specs: Sequence[str],
    settings: InteropSettings,
    token: Callable[[Case], str],
    *,
    timeout_scale: float = 1.0,
    through: Callable[[InteropRun, EncodedMessages], EncodedMessages] = lambda _, messages: messages,
    report_progress: ProgressCallback = lambda *_: None,
) -> InteropRun:
    """Let the adapters that `specs` name write and read, each in its own processes; raises `PropertyError`.

    `token` returns the token that replays a case. `through` stores what was written, and returns what the
    others read. `report_progress` is called before each step.
    """
    found = InteropRun(settings, token)
    with ExitStack() as stack:
        engines: list[Engine] = []
        names = tuple(dict.fromkeys(specs))
        for number, spec in enumerate(names):
            report_progress(f"{spec} starts", number, len(names))
            try:
                engine = stack.enter_context(Engine(spec, seed=settings.seed, timeout_scale=timeout_scale))
            except AdapterError as error:
                found.absent[spec] = error
            else:
                engines.append(engine)
                found.participants.append(Participant(spec, engine.hello))
        rows = shared_formats([one.hello for one in found.participants], settings)
        pairs = list(zip(found.participants, engines, strict=True))
        steps = count()
        total = 2 * len(pairs) * len(rows)
        written: dict[str, dict[bytes, list[Writer]]] = {row.format_id: {} for row in rows}
        for participant, engine in pairs:
            for row in rows:
                report_progress(f"{participant.spec} writes {row.format_id}", next(steps), total)
                for data, post in _written(found, participant, engine, row):
                    written[row.format_id].setdefault(data, []).append((participant.spec, post))
        messages = {
            row.format_id: [_message(row, data, tuple(some)) for data, some in written[row.format_id].items()]
            for row in rows
        }
        found.encoded_messages = through(found, messages)
        for participant, engine in pairs:
            for format_id, some in found.encoded_messages.items():
                report_progress(f"{participant.spec} reads {format_id}", next(steps), total)
                _read(found, participant, engine, some)
            participant.notes += engine.notes
    return found


def shared_formats(hellos: Sequence[Hello], settings: InteropSettings) -> list[Format]:
    """Return the formats that one adapter writes and another reads; streams run as their entries."""
    stream_ids = {fmt.stream_id for fmt in FORMATS.values()}
    wanted = [fmt for format_id, fmt in FORMATS.items() if format_id not in stream_ids]
    found = []
    for fmt in wanted if settings.rows is None else [one for one in wanted if one.format_id in settings.rows]:
        writers = {number for number, hello in enumerate(hellos) if _can(hello, fmt, "encode")}
        readers = {number for number, hello in enumerate(hellos) if _can(hello, fmt, "decode")}
        if writers and readers and len(writers | readers) > 1:
            found.append(fmt)
    return found


def _can(hello: Hello, fmt: Format, op: Op) -> bool:
    """Return whether an adapter claims an op of a format; a decode may be claimed of the wrapping stream."""
    if op in claimed_ops(hello, fmt):
        return True
    lifted = FORMATS.get(fmt.stream_id, fmt)
    return op == "decode" and lifted.format_id in hello.revisions and op in claimed_ops(hello, lifted)


# --- writing ---


def _written(
    found: InteropRun, participant: Participant, engine: Engine, fmt: Format
) -> Iterator[tuple[bytes, EncodeCase]]:
    """Yield the bytes that an adapter writes, each with the encode case."""
    if not _can(engine.hello, fmt, "encode"):
        return
    posts = encode_cases(fmt.format_id, found.settings.count, found.settings.seed)
    done = 0
    for post, ran in zip(posts, engine.run([post.case for post in posts]), strict=True):
        verdict, data = _judge_written(post, ran, engine.hello, found.settings.seed)
        participant.events.append(found.event(post.case, verdict, ran.ns))
        done += data is not None
        if data is not None:
            yield data, post
    participant.written[fmt.format_id] = done, len(posts)


def _judge_written(
    post: EncodeCase, ran: CaseResult, hello: Hello, seed: int
) -> tuple[Verdict, bytes | None]:
    """Judge an encoded value, and return its bytes if any; a declined value is outside the claims."""
    match ran.outcome:
        case Refused(cls="invalid-value", path=path, text=text):
            return Verdict("unsupported", path=path, text=text), None
        case Accepted(data=bytes(data)):
            verdict = judge(ran.case, ran.outcome, hello=hello)
            if verdict.name == "fail" and (plain := _uncompressed_entries(post, data, hello, seed)):
                return UNCOMPRESSED, data if len(plain) == 1 else None
            return verdict, data
    return judge(ran.case, ran.outcome, hello=hello), None


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


def _message(fmt: Format, data: bytes, writers: tuple[Writer, ...]) -> EncodedMessage:
    producer, post = writers[0]
    name = EncodedMessage(post.case, writers).named(producer, post)
    case = exchange_case(fmt, name, f"{fmt.format_id}/{INTEROP}/{producer}", Data(data), "decode")
    case = evolve(case, expect=reference_expectation(case), needs=capabilities_of(fmt, data))
    return EncodedMessage(case, writers)


def _read(
    found: InteropRun, participant: Participant, engine: Engine, messages: Sequence[EncodedMessage]
) -> None:
    if not messages or not _can(engine.hello, FORMATS[messages[0].case.format_id], "decode"):
        return
    by_id = {message.case.id: message for message in messages}
    cases: Iterator[Case] = (message.case for message in messages)
    sample = DerivedSample(8)  # a slow adapter reads one message in so many
    slow = engine.hello.cost == "slow"
    for ran in engine.run(sample.of(cases) if slow else cases):
        message, context = by_id[ran.case.id], JudgeContext(ran.case, engine.hello, reference_answer)
        verdict = judge(ran.case, ran.outcome, hello=engine.hello, context=context)
        event = found.event(message.case, verdict, ran.ns)
        found.readings += 1
        for producer, post in message.writers:
            name, title = message.named(producer, post), f"decode of what {producer} wrote"
            participant.events.append(evolve(event, id=name, title=title))
            if verdict.name == "unsupported":
                continue
            tally = found.tallies.setdefault((event.format_id, producer, participant.spec), ReadCounts())
            if verdict.name == "pass":
                tally.alike += 1
            elif gates(verdict.name, "must"):
                tally.wrong += 1
            else:
                tally.other += 1
    if slow:
        participant.notes.append(
            f"a slow adapter: it read {sample.kept} of {sample.seen} {messages[0].case.format_id}"
        )


# --- through a server ---

SENT: Final = "sent"
REFUSED_RIGHTLY: Final = "refused, as a producer may not send them"
STORED: Final = "stored"


@define
class RelayReport:
    """What a server did with the messages, and why others could not be carried.

    The events of `server` are the messages that it refuses without a reason, or stores otherwise.
    """

    server: Participant
    counts: Counter[str] = field(factory=Counter)
    left_out: Counter[str] = field(factory=Counter)

    def lines(self) -> Iterator[str]:
        """Yield how many messages were stored, and why the others were not."""
        others = [f"{number} {name}" for name, number in self.counts.items() if name not in (SENT, STORED)]
        sent = counted(self.counts[SENT], "message", grouped=False)
        stored = "; ".join([f"{self.counts[STORED]} of {sent} stored", *others])
        name = f"{self.server.hello.name} {self.server.hello.version}".strip()
        yield f"THROUGH {self.server.spec} ({name}): {stored}"
        for reason, number in self.left_out.most_common():
            yield f"  {number} not carried: {reason}"


def carried_messages(
    found: InteropRun, encoded_messages: EncodedMessages, relay: Relay, report: RelayReport
) -> EncodedMessages:
    """Return the messages as the server stores them, without those that it did not store."""
    carried: dict[str, list[EncodedMessage]] = {}
    for format_id, messages in encoded_messages.items():
        carried[format_id] = []
        answers = relay.carry(format_id, [message.data for message in messages])
        for message, answer in zip(messages, answers, strict=True):
            stored = _stored(message, answer, report)
            if stored is not None:
                carried[format_id].append(stored)
            if (fault := _fault(message, answer, stored, relay.kept[format_id])) is not None:
                title = f"stores what {', '.join(message.producers)} wrote"
                report.server.events.append(evolve(found.event(*fault, 0), title=title))
    return carried


def _stored(message: EncodedMessage, answer: Carried, report: RelayReport) -> EncodedMessage | None:
    """Count an answer, and return the message as it is stored; None if it is not."""
    report.counts[SENT] += 1
    match answer:
        case Unsupported(text):
            report.left_out[text] += 1
        case Refused() if isinstance(_produced(message).expect, Reject):
            report.counts[REFUSED_RIGHTLY] += 1
        case Accepted(data=bytes(data)) if data:
            report.counts[STORED] += 1
            case = evolve(message.case, input=Data(data))
            needs = capabilities_of(FORMATS[case.format_id], data)
            return evolve(message, case=evolve(case, expect=reference_expectation(case), needs=needs))
    return None


def _produced(message: EncodedMessage) -> Case:
    """Return the case of the bytes as a producer sends them: a server judges them by other rules."""
    case = evolve(message.case, profile="produce")
    return evolve(case, expect=reference_expectation(case))


def _fault(
    message: EncodedMessage, answer: Carried, stored: EncodedMessage | None, kept: tuple[str, ...]
) -> tuple[Case, Verdict] | None:
    """Return what is wrong with a server that refuses without a reason, or changes a field that it must keep.

    It may also store nothing, or what nobody reads.
    """
    case = _produced(message)
    if isinstance(answer, Refused):
        want, got = short_expect(case.expect), short_outcome(answer)
        verdict = Verdict("fail", "wrong-reject", answer.cls, want=want, got=got, detail=answer.detail)
        return None if isinstance(case.expect, Reject) else (case, verdict)
    if isinstance(answer, Accepted) and stored is None:
        return case, Verdict("fail", "wrong-value", want="what was acknowledged", got="nothing stored")
    sent = reference_answer(message.case).outcome
    if stored is None or not isinstance(sent, Accepted):
        return None
    case, back = evolve(case, expect=Accept(value=sent.value)), reference_answer(stored.case).outcome
    if isinstance(back, Refused):
        return case, Verdict("fail", "wrong-value", back.cls, back.path, got=short_outcome(back))
    tree = field_tree(kept)
    difference = first_difference(project(sent.value, tree), project(back.value, tree))
    if difference is None:
        return None
    want, got = short_field(difference)
    return case, Verdict("fail", "wrong-value", path=difference.path, want=want, got=got)
