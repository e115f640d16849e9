"""The results of an interop run: a stream of events for each adapter, and counts for the reports.

The topic of encoded and decoded messages is `interop`: `kafka.batch/v2/interop/<producer>~s0:7` is an
adapter's reading of that producer's bytes for encode case 7, `…/interop/write~s0:7` the bytes that it wrote.
"""

from collections.abc import Callable, Iterator, Sequence

from attrs import define, evolve, field

from wireproof.adapters.contract import Hello
from wireproof.cases.case import Case
from wireproof.cases.seeded_examples import INTEROP
from wireproof.runner.event_files import EventStream
from wireproof.runner.events import CaseEvent, Run, case_event, footer_of, run_event
from wireproof.runner.interop import InteropRun, Participant
from wireproof.runner.interop_relay import RelayFault, RelayReport
from wireproof.runner.run_manifest import manifest_fields
from wireproof.runner.verdicts import NO_FINDING_GATES, ROWS, Verdict, gates

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
        """Return the number of encode cases read."""
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
                    _count(tally, read.verdict)
    return found


def _count(tally: ReadCounts, verdict: Verdict) -> None:
    if verdict.name == "pass":
        tally.alike += 1
    elif gates(verdict.name, "must"):
        tally.wrong += 1
    else:
        tally.other += 1


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
