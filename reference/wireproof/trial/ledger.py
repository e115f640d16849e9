"""The results of an interop run: a stream of events for each adapter, and counts for the reports.

The topic of encoded and decoded messages is `interop`: `kafka.batch/v2/interop/<producer>~s0:7` is an
adapter's reading of that producer's bytes for encode case 7, `…/interop/write~s0:7` the bytes that it wrote.
The topic of cross-version checks is `laws`.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping

from attrs import define, evolve, field

from wireproof.cases.case import Case
from wireproof.trial import laws
from wireproof.trial.events import CaseEvent, Run, case_event, footer_of, run_event
from wireproof.trial.exchange import TOPIC, Exchanged, Party
from wireproof.trial.laws import Held
from wireproof.trial.platform import manifest
from wireproof.trial.streams import Stream
from wireproof.trial.understanding import Split
from wireproof.trial.verdicts import ROWS, SILENT, Verdict, gates

Token = Callable[[Case], str]
"""Returns the token that replays a case."""


@define
class Tally:
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
class Ledger:
    """The results of an interop run.

    Attributes:
        streams: one for each adapter, in the order in which the user named them.
        tallies: by format, producer and reader.
        broken: the cross-version checks that fail.
        asked: the number of checks, by producer and older revision.
    """

    streams: list[Stream] = field(factory=list)
    tallies: dict[tuple[str, str, str], Tally] = field(factory=dict)
    broken: list[Held] = field(factory=list)
    asked: Counter[tuple[str, str]] = field(factory=Counter)


def ledger(exchanged: Exchanged, splits: Mapping[str, Split], token: Token) -> Ledger:
    """Collect the results; `splits` by the id of the message's case."""
    made = Ledger(tallies=_tallies(exchanged))
    by_reader: dict[str, list[Held]] = {}
    for held in laws.laws(exchanged):
        made.asked[held.producer, held.older] += 1
        by_reader.setdefault(held.reader or held.producer, []).append(held)
        if not held.verdict.passing:
            made.broken.append(held)
    for party in exchanged.parties:
        events = [*_encode_events(party, token), *_decode_events(party, splits, token)]
        events += [_check_event(held, token) for held in by_reader.get(party.spec, ())]
        cases = tuple(evolve(event, seq=seq) for seq, event in enumerate(events))
        complete = not any(event.verdict == "not-run" for event in cases)
        made.streams.append(Stream(_run(exchanged, party), cases, footer_of(cases, complete=complete)))
    return made


def _run(exchanged: Exchanged, party: Party) -> Run:
    filters = (f"{TOPIC} of {exchanged.ask.count}", *sorted(exchanged.ask.rows or ()))
    fields = {"spec": party.spec, "fixtures": "", "seed": exchanged.ask.seed, "filters": filters}
    return run_event(party.hello, **fields, **manifest())


def _tallies(exchanged: Exchanged) -> dict[tuple[str, str, str], Tally]:
    found: dict[tuple[str, str, str], Tally] = {}
    for party in exchanged.parties:
        for joined, reads in party.read.items():
            for read in reads:
                if read.verdict.name == "unsupported":
                    continue
                for producer, _ in read.parcel.senders:
                    tally = found.setdefault((joined, producer, party.spec), Tally())
                    _count(tally, read.verdict)
    return found


def _count(tally: Tally, verdict: Verdict) -> None:
    if verdict.name == "pass":
        tally.alike += 1
    elif gates(verdict.name, "must"):
        tally.wrong += 1
    else:
        tally.other += 1


# --- events ---


def _encode_events(party: Party, token: Token) -> Iterator[CaseEvent]:
    for some in party.written.values():
        for one in some:
            yield case_event(0, one.post.case, one.verdict, one.ns, worth(one.post.case, one.verdict, token))


def _decode_events(party: Party, splits: Mapping[str, Split], token: Token) -> Iterator[CaseEvent]:
    for some in party.read.values():
        for read in some:
            case = read.parcel.case
            word = worth(case, read.verdict, token)
            split = splits.get(case.id)
            cluster = split.place(party.spec) if split else 0
            for producer, post in read.parcel.senders:
                title = f"decode of what {producer} wrote"
                named = evolve(case, id=read.parcel.named(producer, post), title=title)
                yield evolve(case_event(0, named, read.verdict, read.ns, word), cluster=cluster)


def _check_event(held: Held, token: Token) -> CaseEvent:
    """Return the event of a check, with the first entry of the older revision, which a replay reads."""
    case = held.parcels[0].case
    seed = case.id.rpartition("~")[2].partition(":")[0]
    name = f"{case.joined}/{laws.TOPIC}/{held.producer}~{seed}:{held.number}"
    named = evolve(case, id=name, title=f"the same messages as {held.newer} and {held.older}")
    return case_event(0, named, held.verdict, 0, worth(case, held.verdict, token))


def worth(case: Case, verdict: Verdict, token: Token) -> str:
    """Return the token of a verdict worth replaying, else nothing."""
    return "" if ROWS[verdict.name].gate in SILENT else token(case)
