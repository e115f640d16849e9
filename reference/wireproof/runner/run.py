"""One run: the selected cases and their families on one adapter, judged, as events in the order of the plan.

Golden cases run first, after their twins; then derived ones; then the large golden ones, which take most of
the time. A case is derived only from one that the adapter accepts, so that one bug is reported once and not a
thousand times. See architecture.md#cases.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Final

from attrs import evolve, frozen

from wireproof.adapters.contract import Hello
from wireproof.cases.case import Case, Reject
from wireproof.cases.derived import derived_cases
from wireproof.cases.fixtures import Suite
from wireproof.cases.made_case import is_large
from wireproof.cases.outcome import Outcome, Unsupported
from wireproof.cases.token import to_token
from wireproof.cases.wrap_as_stream import wrap_case
from wireproof.formats import FORMATS
from wireproof.runner.engine import Engine
from wireproof.runner.events import CaseEvent, case_event
from wireproof.runner.judge import awaits_twin, judge
from wireproof.runner.requests import NO_DIGESTS, DerivedSample, prepare_case, stream_wrapping
from wireproof.runner.retries import Retries
from wireproof.runner.verdicts import NO_FINDING_GATES, ROWS, Verdict

GOLDEN_BLOCK: Final = 64
"""Golden cases that are shuffled among themselves: few, so that an interrupted run keeps its verdicts."""


@frozen
class Selection:
    """The cases that one adapter runs.

    Attributes:
        golden: the selected fixtures, in order.
        by_id: every fixture, for the twins that a selection leaves out.
        families: whether the derived cases run too.
        keep: selects derived cases; all of them unless a token of one is replayed.
        large: fixtures that run last.
    """

    golden: Sequence[Case]
    by_id: Mapping[str, Case]
    families: bool = True
    keep: Callable[[Case], bool] = lambda _: True
    large: Sequence[Case] = ()

    @classmethod
    def of(cls, hello: Hello, cases: Sequence[Case], suite: Suite, *, families: bool = True) -> "Selection":
        """Return the plan for one adapter, without the cases of formats that it does not claim."""
        return cls([case for case in cases if concerns(hello, case)], suite.by_id, families)

    def large_last(self) -> "Selection":
        large = [case for case in self.golden if is_large(case)]
        return evolve(self, golden=[case for case in self.golden if not is_large(case)], large=large)


def concerns(hello: Hello, case: Case) -> bool:
    """Return whether a case is of a format that the adapter claims, or of one whose stream it claims."""
    if not hello.revisions or case.format_id in hello.revisions:
        return True
    row = FORMATS.get(case.format_id)
    wrapped_by = row.wrapped_by if row else None
    return wrapped_by is not None and f"{wrapped_by[0]}/{wrapped_by[1]}" in hello.revisions


def run(engine: Engine, plan: Selection) -> Iterator[CaseEvent]:
    """Yield the events of a run in the order of the plan, by one engine, which must have been entered."""
    verdicts: dict[str, Verdict] = {}
    sample = DerivedSample()
    yield from golden_events(engine, plan.by_id, plan.golden, verdicts)
    count = len(plan.golden)
    if plan.families:
        families = ((parent, derived_cases(parent)) for parent in parents(plan.golden, verdicts))
        for event in derived_events(engine, families, verdicts, sample, count, plan.keep):
            yield event
            count += 1
    yield from golden_events(engine, plan.by_id, plan.large, verdicts, count)
    engine.notes += left_out_notes(undigested(verdicts), sample)


def undigested(verdicts: Mapping[str, Verdict]) -> int:
    """Return how many cases of large values an adapter without digests was not asked."""
    return sum(verdict.text == NO_DIGESTS for verdict in verdicts.values())


def left_out_notes(undigested: int, sample: DerivedSample) -> Iterator[str]:
    """Yield a line for the user for each reason why cases were left out."""
    if sample.seen > sample.kept:
        yield f"a slow adapter: {sample.kept} of {sample.seen} derived cases were run"
    if undigested:
        yield f"{undigested} cases of larger values were not asked: the adapter {NO_DIGESTS}"


# --- golden cases ---


def golden_events(
    engine: Engine,
    by_id: Mapping[str, Case],
    cases: Sequence[Case],
    verdicts: dict[str, Verdict],
    first: int = 0,
    retries: Retries | None = None,
) -> Iterator[CaseEvent]:
    """Judge each answer as it arrives, and yield the events in order as soon as that is possible.

    Args:
        engine: runs the adapter.
        by_id: every fixture, for the twins of cases, which are asked before them.
        cases: the cases, in order.
        verdicts: those of earlier cases; gets those of these cases and of their twins. Of a case that passes
            when asked again it is the second one: the codec can accept a twin that it refused once.
        first: the place of the first case in the plan.
        retries: asks unexpected failures again; None: nothing is asked again.
    """

    def keep(case: Case, outcome: Outcome, ns: int) -> tuple[Case, Verdict | Outcome, int]:
        held = awaits_twin(case, outcome)  # a rejection counts only if the twin is accepted
        return case, outcome if held else judge(case, outcome, hello=engine.hello), ns

    places = {case.id: place for place, case in enumerate(cases)}
    waiting: dict[int, CaseEvent] = {}
    next_place = 0
    for case, judged, ns in engine.run_with(_twins_first(cases, by_id, verdicts), keep, GOLDEN_BLOCK):
        twin = verdicts.get(case.twin or "")
        verdict = (
            judged if isinstance(judged, Verdict) else judge(case, judged, hello=engine.hello, twin=twin)
        )
        place = places.get(case.id, -1)
        event_of = partial(
            _golden_event, first + place, cases[place] if place >= 0 else case, case, ns=ns,
            stored=case.id in by_id,
        )  # fmt: skip
        event, verdicts[case.id] = _settled(retries, case, verdict, twin, event_of)
        if place >= 0:
            waiting[place] = event
        while next_place in waiting:
            yield waiting.pop(next_place)
            next_place += 1


def _settled(
    retries: Retries | None,
    case: Case,
    verdict: Verdict,
    twin: Verdict | None,
    event_of: Callable[[Verdict], CaseEvent],
) -> tuple[CaseEvent, Verdict]:
    """Return the event of a case, and the verdict that counts for the cases that depend on it."""
    event = event_of(verdict)
    if retries and (retried := retries.retry(case, event, verdict, twin)):
        flaky, passing = retried
        return event_of(flaky), passing
    return event, verdict


def _golden_event(
    seq: int, golden: Case, sent: Case, verdict: Verdict, *, ns: int, stored: bool
) -> CaseEvent:
    """Make the event of a golden case under the format of its fixture, even if it was wrapped as a stream."""
    case = evolve(sent, format=golden.format, revision=golden.revision)
    return case_event(seq, case, verdict, ns, "" if stored else _token(golden, verdict))


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
    verdicts: Mapping[str, Verdict],
    sample: DerivedSample,
    first: int = 0,
    wanted: Callable[[Case], bool] = lambda _: True,
    retries: Retries | None = None,
) -> Iterator[CaseEvent]:
    """Yield the events of families, in order.

    Args:
        engine: runs the adapter.
        families: golden cases, each with the cases derived from it.
        verdicts: by id, those on the golden cases.
        sample: chooses cases for a slow adapter, and counts them.
        first: the place of the first case in the plan.
        wanted: selects derived cases.
        retries: as for golden cases.
    """

    def keep(case: Case, outcome: Outcome, ns: int) -> tuple[Case, Verdict, int]:
        verdict = judge(case, outcome, hello=engine.hello, twin=verdicts.get(case.parent or ""))
        return case, verdict, ns

    members = chain.from_iterable(_as_sent(parent, family, engine.hello) for parent, family in families)
    asked = (case for case in members if wanted(case) and _is_within_claims(engine.hello, case))
    chosen = sample.of(asked) if engine.hello.cost == "slow" else asked
    for seq, (case, verdict, ns) in enumerate(engine.run_with(chosen, keep), first):
        twin = verdicts.get(case.parent or "")
        yield _settled(retries, case, verdict, twin, partial(_derived_event, seq, case, ns=ns))[0]


def _derived_event(seq: int, case: Case, verdict: Verdict, *, ns: int) -> CaseEvent:
    return case_event(seq, _under_fixture_format(case), verdict, ns, _token(case, verdict))


def _as_sent(parent: Case, family: Iterable[Case], hello: Hello) -> Iterable[Case]:
    """Return the cases of a family in the form for an adapter: as streams if it claims only these."""
    unknown = stream_wrapping(parent, hello)
    return (
        family
        if unknown is None
        else (wrap_case(member, FORMATS[member.format_id], unknown) for member in family)
    )


def _is_within_claims(hello: Hello, case: Case) -> bool:
    """Return whether a derived case is decodable here: a scan is only for adapters that claim scans."""
    return case.op == "decode" or not isinstance(prepare_case(case, hello), Unsupported)


def _under_fixture_format(case: Case) -> Case:
    """Return a derived case under the format of its fixture, even if it was wrapped as a stream."""
    form, revision, *_ = case.id.split("/")
    here = (form, revision) == (case.format, case.revision)
    return case if here else evolve(case, format=form, revision=revision)


def _token(case: Case, verdict: Verdict) -> str:
    """Return the token of a verdict worth replaying, if it is short; the case's id recreates a long one."""
    word = "" if ROWS[verdict.name].gate in NO_FINDING_GATES else to_token(case)
    return "" if word.startswith("@") else word
