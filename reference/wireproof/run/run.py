"""One run: the selected cases and their families on one adapter, judged, as events in the order of the plan.

Golden cases run first, after their twins; then derived ones; then the large golden ones, which take most of
the time. A case is derived only from one that the adapter accepts, so that one bug is reported once and not a
thousand times. See architecture.md#cases.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from types import TracebackType
from typing import Final, Self

from attrs import define, evolve, field, frozen

from wireproof.adapters.contract import Hello
from wireproof.adapters.errors import AdapterError
from wireproof.adapters.requests import NO_DIGESTS, DerivedSample, prepare_case, stream_wrapping
from wireproof.cases.case import Accept, Case, Data, Level, Reject
from wireproof.cases.fixtures import Suite
from wireproof.cases.made_case import is_large
from wireproof.cases.outcome import Outcome, Unsupported
from wireproof.cases.token import to_token
from wireproof.cases.wrap_as_stream import wrap_case
from wireproof.derive.derived import derived_cases
from wireproof.formats import FORMATS
from wireproof.judge.judge import awaits_twin, judge
from wireproof.judge.verdicts import FLAKY, NO_FINDING_GATES, ROWS, Verdict, gates
from wireproof.run.engine import Engine
from wireproof.run.events import CaseEvent, case_event
from wireproof.wire.text import counted

# --- retries: results.md#failures-that-come-and-go ---
#
# A crash or a silence is not asked here: the engine repeats it itself, to find the guilty case. A fresh
# process costs up to a second, as much as a hundred cases. So a large run without a baseline, in which most
# codecs fail, starts one only on suspicion: a case that passed fails now.


MAX_RETRIES: Final = 20
"""Failures of a part that are asked again; beside them, the first one with each signature is."""

SMALL_RUN: Final = 256
"""Golden cases of a run without a baseline that starts one fresh process: a second more is no harm there."""

AT_ONCE: Final = "when asked again"
FRESH: Final = "when asked again in a fresh process"
FRESH_OBJECT: Final = "when asked again by a fresh object"


def fresh_processes(cases: int, *, has_baseline: bool) -> int:
    """Return how many fresh processes a run of so many golden cases may start without a suspicion."""
    return 3 if has_baseline else int(cases <= SMALL_RUN)  # an unexpected failure is rare there


@define
class Retries:
    """Asks the failures of one part of a run again; a context manager that owns the fresh process.

    `fresh` makes another engine for the same adapter; `where` are the words for its answer. A failure that
    the baseline expects is not asked again. `starts` fresh processes may still be started without a
    suspicion; None: none at all.
    """

    engine: Engine
    fresh: Callable[[], Engine]
    level: Level
    expects: Callable[[CaseEvent], bool]
    starts: int | None
    where: str = FRESH
    _left: int = field(default=0, init=False)
    _controls: int = field(default=0, init=False)
    _passed: tuple[Case, Verdict | None] | None = field(default=None, init=False)
    _kinds: set[object] = field(factory=set, init=False)
    _second: Engine | None = field(default=None, init=False)
    _used: bool = field(default=True, init=False)
    _stack: ExitStack = field(factory=ExitStack, init=False)

    def __enter__(self) -> Self:
        self._left, self._controls = MAX_RETRIES, 4  # cases that passed, asked again after a failure
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()

    def retry(
        self, case: Case, event: CaseEvent | None, first: Verdict, twin: Verdict | None
    ) -> tuple[Verdict, Verdict] | None:
        """Return the verdict of a failure that passes later, and that on its later answer; else None.

        `first` is the verdict on the case as it was sent, and `event` that of its first answer; None if that
        was told already, which no failure is.
        """
        if first.passing and isinstance(case.input, Data) and isinstance(case.expect, Accept):
            self._passed = case, twin
        if first.name != "fail" or event is None or not self._is_asked(event):
            return None
        for engine, where in self._engines():
            second = self._judged(engine, case, twin)
            if second is not None and second.passing:
                return flaky_verdict(first, where), second
        return None

    def _is_asked(self, event: CaseEvent) -> bool:
        """Return whether a failure is asked again; one that the baseline knows as flaky always is."""
        if not gates(event.verdict, event.level, hold=self.level, security=event.is_security):
            return False
        if self.expects(event):
            return False
        if self.expects(evolve(event, kind=FLAKY, cls="", path="")):
            return True
        kind = event.signature("")
        if self._left <= 0 and kind in self._kinds:
            return False
        self._kinds.add(kind)
        self._left -= 1
        return True

    def _engines(self) -> Iterator[tuple[Engine, str]]:
        """Yield the engines that are asked in turn, each with the words for its answer."""
        yield self.engine, AT_ONCE
        if self._used and self.starts is not None:
            if self.starts > 0:
                self.starts -= 1
                self._start()
            elif self._second is None and self._is_suspect():
                self._start()
        if self._second is not None:
            yield self._second, self.where
            self._used = True  # the case failed in it, and may have left something behind

    def _is_suspect(self) -> bool:
        """Return whether the case that passed last fails now: then the codec keeps something."""
        if self._passed is None or self._controls <= 0:
            return False
        self._controls -= 1
        verdict = self._judged(self.engine, *self._passed)
        return verdict is not None and verdict.name == "fail"

    def _start(self) -> None:
        """Start a fresh process; a note says why there is none."""
        self._end()
        try:
            self._second = self._stack.enter_context(self.fresh())
            self.engine.check_same(self.engine.hello, self._second.hello)
            self._used = False
        except AdapterError as error:
            self.engine.notes.append(f"failures were not asked again in a fresh process: {error}")
            self.starts = None
            self._end()

    def _end(self) -> None:
        with suppress(AdapterError):  # an answer after the last one says nothing about the first process
            self._stack.close()
        self._second = None

    def _judged(self, engine: Engine, case: Case, twin: Verdict | None) -> Verdict | None:
        """Return the verdict on one more answer; None if the fresh process has become another adapter."""
        try:
            (ran,) = engine.run([case])
        except AdapterError:
            if engine is self.engine:
                raise
            return None
        return judge(ran.case, ran.outcome, hello=self.engine.hello, twin=twin)


def flaky_verdict(first: Verdict, where: str) -> Verdict:
    """Return the verdict on a failure that passes later; class and field of one answer are not its cause."""
    text = f"{first.label}, but passes {where}; `flaky = true` in a baseline expects it to come and go"
    return Verdict(
        "fail", FLAKY, text=text, want=first.want, got=first.got, broken=first.broken, level=first.level
    )


# --- the run ---


@frozen
class Selection:
    """The cases that one adapter runs; the `large` ones are last.

    `by_id` has every fixture, for the twins that a selection leaves out. `keep` selects derived cases: all,
    unless a token of one is replayed.
    """

    golden: Sequence[Case]
    by_id: Mapping[str, Case]
    families: bool = True
    keep: Callable[[Case], bool] = lambda _: True
    large: Sequence[Case] = ()

    @classmethod
    def of(cls, hello: Hello, cases: Sequence[Case], suite: Suite, *, families: bool = True) -> "Selection":
        return cls([case for case in cases if concerns(hello, case)], suite.by_id, families)

    def large_last(self) -> "Selection":
        large = [case for case in self.golden if is_large(case)]
        return evolve(self, golden=[case for case in self.golden if not is_large(case)], large=large)


def concerns(hello: Hello, case: Case) -> bool:
    """Return whether a case is of a format that the adapter claims, or of one whose stream it claims."""
    if not hello.revisions or case.format_id in hello.revisions:
        return True
    row = FORMATS.get(case.format_id)
    return row is not None and row.stream_id in hello.revisions


def run(engine: Engine, plan: Selection) -> Iterator[CaseEvent]:
    """Yield the events of a run in the order of the plan, by one engine, which must have been entered."""
    verdicts: dict[str, Verdict] = {}
    sample = DerivedSample()
    yield from in_turn(golden_events(engine, plan.by_id, plan.golden, verdicts))
    count = len(plan.golden)
    if plan.families:
        families = ((parent, derived_cases(parent)) for parent in parents(plan.golden, verdicts))
        for event in in_turn(derived_events(engine, families, verdicts, sample, count, plan.keep), count):
            yield event
            count += 1
    yield from in_turn(golden_events(engine, plan.by_id, plan.large, verdicts, count), count)
    engine.notes += left_out_notes(undigested(verdicts), sample)


def undigested(verdicts: Mapping[str, Verdict]) -> int:
    """Return how many cases of large values an adapter without digests was not asked."""
    return sum(verdict.text == NO_DIGESTS for verdict in verdicts.values())


def left_out_notes(undigested: int, sample: DerivedSample) -> Iterator[str]:
    """Yield a line for the user for each reason why cases were left out."""
    if sample.seen > sample.kept:
        yield f"a slow adapter: {sample.kept} of {sample.seen} derived cases were run"
    if undigested:
        many = counted(undigested, "case of larger values was", "cases of larger values were", grouped=False)
        yield f"{many} not asked: the adapter {NO_DIGESTS}"


# --- events as they are told ---
#
# Events come in the order of the plan, but cases are shuffled, and some answers take long: what is judged is
# told before its turn, for a file that outlives this process. A failure that is asked again is told after
# that, and a refusal that counts only with its twin after the twin. A verdict changes later only if the
# adapter broke the contract after its answer: then its case is told again.


@frozen
class Told:
    """Events of cases that were judged; `settled` if none of all that were told comes again."""

    events: tuple[CaseEvent, ...]
    settled: bool = False


def in_turn(told: Iterable[Told], first: int = 0) -> Iterator[CaseEvent]:
    """Yield events in the order of the plan from the place `first` on, each with its last verdict."""
    waiting: dict[int, CaseEvent] = {}
    for some in told:
        waiting |= {event.seq: event for event in some.events}
        while some.settled and first in waiting:
            yield waiting.pop(first)
            first += 1


@define
class _Teller:
    """Judges each answer as it arrives, and again when all cases of its block are answered.

    Attributes:
        engine: runs the adapter.
        verdicts: on golden cases. Of a case that passes when asked again it is the second one: the codec can
            accept a twin that it refused once.
        event_of: returns the event of a case with its nanoseconds; its place is negative if it is not told.
        retries: asks unexpected failures again; None: nothing is asked again.
        golden: whether the cases are golden ones: their verdicts are noted, for those whose twins they are.
        early: verdicts that were told, by id.
        waiting: answers that cannot be judged before the verdict on a twin, by its id.
        events: those that are to be told.
    """

    engine: Engine
    verdicts: dict[str, Verdict]
    event_of: Callable[[Case, Verdict, int], CaseEvent]
    retries: Retries | None
    golden: bool
    early: dict[str, Verdict] = field(factory=dict)
    waiting: dict[str, list[tuple[Case, Outcome, int]]] = field(factory=dict)
    events: list[CaseEvent] = field(factory=list)

    def told(self, cases: Iterable[Case]) -> Iterator[Told]:
        """Tell the events of cases, each of which comes after its twin."""
        # few golden cases are shuffled among themselves, so that an interrupted run keeps its verdicts
        for answered in self.engine.run_with(cases, self._keep, 64 if self.golden else None):
            if self.events:
                yield Told(tuple(self.events))
                self.events.clear()
            for case, found, ns in answered:
                event = self._settled(case, found, ns)
                if event is not None and event.seq >= 0:
                    yield Told((event,))
            if answered:
                self.waiting.clear()
                yield Told((), settled=True)

    def _twin(self, case: Case) -> str:
        """Return the id of the case that must be accepted, if a refusal of this one is to count."""
        return (case.twin if self.golden else case.parent) or ""

    def _keep(self, case: Case, outcome: Outcome, ns: int) -> tuple[Case, Verdict | Outcome, int]:
        twin = self.early.get(self._twin(case)) or self.verdicts.get(self._twin(case))
        if twin is None and awaits_twin(case, outcome):
            self.waiting.setdefault(self._twin(case), []).append((case, outcome, ns))
            return case, outcome, ns
        verdict = judge(case, outcome, hello=self.engine.hello, twin=twin)
        if self.retries is None or verdict.name != "fail":
            self.early[case.id] = verdict
            event = self.event_of(case, verdict, ns)
            self.events += [event] * (event.seq >= 0)
            for one in self.waiting.pop(case.id, ()):
                self._keep(*one)
        return case, verdict, ns

    def _settled(self, case: Case, found: Verdict | Outcome, ns: int) -> CaseEvent | None:
        """Return the event of a case with its last verdict; None if it was told."""
        twin = self.verdicts.get(self._twin(case))
        if isinstance(found, Verdict):
            verdict = found
        else:
            verdict = judge(case, found, hello=self.engine.hello, twin=twin)
        event = None if self.early.pop(case.id, None) == verdict else self.event_of(case, verdict, ns)
        if self.retries and (retried := self.retries.retry(case, event, verdict, twin)):
            flaky, verdict = retried
            event = self.event_of(case, flaky, ns)
        if self.golden:
            self.verdicts[case.id] = verdict
        return event


# --- golden cases ---


def golden_events(
    engine: Engine,
    by_id: Mapping[str, Case],
    cases: Sequence[Case],
    verdicts: dict[str, Verdict],
    first: int = 0,
    retries: Retries | None = None,
) -> Iterator[Told]:
    """Tell the events of golden cases, under the formats of their fixtures even if streams wrap them.

    `by_id` has every fixture, for the twins, which are asked before them. `verdicts` has those of earlier
    cases, and gets those of these cases and of their twins. `first` is the place of the first case in the
    plan. Without `retries` nothing is asked again.
    """
    places = {case.id: place for place, case in enumerate(cases)}

    def event_of(sent: Case, verdict: Verdict, ns: int) -> CaseEvent:
        place = places.get(sent.id, -1)
        golden = cases[place] if place >= 0 else sent
        case = evolve(sent, format=golden.format, revision=golden.revision)
        token = "" if sent.id in by_id else _token(golden, verdict)
        return case_event(first + place if place >= 0 else place, case, verdict, ns, token)

    teller = _Teller(engine, verdicts, event_of, retries, golden=True)
    return teller.told(_twins_first(cases, by_id, verdicts))


def _twins_first(
    cases: Sequence[Case], by_id: Mapping[str, Case], judged: Mapping[str, Verdict]
) -> Iterator[Case]:
    """Yield each golden case after its twin, even if the twin is not selected, unless that was judged."""
    selected = {case.id: case for case in cases}
    yielded: set[str] = set(judged)
    for case in cases:
        twin = selected.get(case.twin or "") or by_id.get(case.twin or "")
        for one in (twin, case):
            if one is not None and one.id not in yielded:
                yielded.add(one.id)
                yield one


# --- derived cases ---


def parents(golden: Iterable[Case], verdicts: Mapping[str, Verdict]) -> Iterator[Case]:
    """Yield the golden cases whose families are run: those that are accepted, as they should be."""
    for case in golden:
        if verdicts[case.id].accepts and not isinstance(case.expect, Reject):
            yield case


def derived_events(
    engine: Engine,
    families: Iterable[tuple[Case, Iterable[Case]]],
    verdicts: dict[str, Verdict],
    sample: DerivedSample,
    first: int = 0,
    wanted: Callable[[Case], bool] = lambda _: True,
    retries: Retries | None = None,
) -> Iterator[Told]:
    """Tell the events of families: golden cases, each with the cases derived from it.

    `verdicts` are those on the golden cases. `sample` chooses cases for a slow adapter, and counts them;
    `wanted` selects of all. `first` and `retries` are as for golden cases.
    """
    places: dict[str, int] = {}

    def event_of(sent: Case, verdict: Verdict, ns: int) -> CaseEvent:
        form, revision, *_ = sent.id.split("/")  # of its fixture, even if it was wrapped as a stream
        here = (form, revision) == (sent.format, sent.revision)
        case = sent if here else evolve(sent, format=form, revision=revision)
        return case_event(places[sent.id], case, verdict, ns, _token(sent, verdict))

    def members() -> Iterator[Case]:
        hello = engine.hello
        for parent, family in families:
            unknown = stream_wrapping(parent, hello)
            for member in family:
                # as a stream if the adapter claims only these; a scan is only for adapters that claim scans
                case = member if unknown is None else wrap_case(member, FORMATS[member.format_id], unknown)
                if wanted(case) and (
                    case.op == "decode" or not isinstance(prepare_case(case, hello), Unsupported)
                ):
                    yield case

    def numbered(cases: Iterable[Case]) -> Iterator[Case]:
        for place, case in enumerate(cases, first):
            places[case.id] = place
            yield case

    chosen = sample.of(members()) if engine.hello.cost == "slow" else members()
    return _Teller(engine, verdicts, event_of, retries, golden=False).told(numbered(chosen))


def _token(case: Case, verdict: Verdict) -> str:
    """Return the token of a verdict worth replaying, if it is short; the case's id recreates a long one."""
    word = "" if ROWS[verdict.name].gate in NO_FINDING_GATES else to_token(case)
    return "" if word.startswith("@") else word
