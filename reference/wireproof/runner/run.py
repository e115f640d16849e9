"""One run: the selected cases and their families on one adapter, judged, as events in the order of the plan.

Golden cases run first, after their twins; then derived ones; then the large golden ones, which take most of
the time. A case is derived only from one that the adapter accepts, so that one bug is reported once and not a
thousand times. See architecture.md#cases.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from attrs import evolve, frozen

from wireproof.adapters.contract import Hello
from wireproof.cases.case import Case, Reject
from wireproof.cases.fixtures import Suite
from wireproof.cases.made_case import is_large
from wireproof.cases.outcome import Outcome, Refused, Unsupported
from wireproof.cases.token import to_token
from wireproof.formats import FORMATS
from wireproof.runner.engine import Engine
from wireproof.runner.events import CaseEvent, case_event
from wireproof.runner.families import Families
from wireproof.runner.judge import awaits_twin, judge
from wireproof.runner.requests import NO_DIGESTS, DerivedSample, prepare_case
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
        """Return the same plan with the large cases at its end."""
        large = [case for case in self.golden if is_large(case)]
        return evolve(self, golden=[case for case in self.golden if not is_large(case)], large=large)


def concerns(hello: Hello, case: Case) -> bool:
    """Return whether a case is of a format that the adapter claims, or of one whose stream it claims."""
    if not hello.revisions or case.format_id in hello.revisions:
        return True
    row = FORMATS.get(case.format_id)
    wrapped_by = row.wrapped_by if row else None
    return wrapped_by is not None and f"{wrapped_by[0]}/{wrapped_by[1]}" in hello.revisions


def run(engine: Engine, plan: Selection, families: Families | None = None) -> Iterator[CaseEvent]:
    """Yield the events of a run in the order of the plan; the engine must have been entered.

    Args:
        engine: runs the adapter.
        plan: the cases.
        families: derives the families; a store shares them with the other adapters of a run.
    """
    verdicts: dict[str, Verdict] = {}
    seq = -1
    for event in _golden(engine, plan, plan.golden, verdicts, 0):
        seq = event.seq
        yield event
    if plan.families:
        for event in _families(engine, plan, verdicts, families or Families()):
            seq = event.seq
            yield event
    yield from _golden(engine, plan, plan.large, verdicts, seq + 1)
    left_out = sum(verdict.text == NO_DIGESTS for verdict in verdicts.values())
    if left_out:
        engine.notes.append(f"{left_out} cases of larger values were not asked: the adapter {NO_DIGESTS}")


# --- golden cases ---


@frozen
class _GoldenResult:
    """A golden case as it was sent, with its verdict; a rejection waits for the verdict on its twin.

    Attributes:
        case: as it was sent: wrapped as a stream if needed.
        outcome: of a refusing answer whose twin has no verdict yet; else None.
    """

    case: Case
    verdict: Verdict | None
    ns: int
    outcome: Outcome | None = None


def _golden(
    engine: Engine, plan: Selection, cases: Sequence[Case], verdicts: dict[str, Verdict], first: int
) -> Iterator[CaseEvent]:
    """Judge each answer as it arrives, and yield the events in order as soon as that is possible.

    The first case has the place `first` in the plan.
    """

    def keep(case: Case, outcome: Outcome, ns: int) -> _GoldenResult:
        twin = verdicts.get(case.twin or "")
        held = isinstance(outcome, Refused) or awaits_twin(case, outcome)
        if case.twin and twin is None and held:
            return _GoldenResult(case, None, ns, outcome)
        verdicts[case.id] = verdict = judge(case, outcome, hello=engine.hello, twin=twin)
        return _GoldenResult(case, verdict, ns)

    places = {case.id: place for place, case in enumerate(cases)}
    waiting: dict[int, CaseEvent] = {}
    next_place = 0
    for result in engine.run_with(_twins_first(cases, plan.by_id, verdicts), keep, GOLDEN_BLOCK):
        case = result.case
        if result.outcome is not None:
            twin = verdicts.get(case.twin or "")
            verdicts[case.id] = judge(case, result.outcome, hello=engine.hello, twin=twin)
        if case.id in places:
            place = places[case.id]
            waiting[place] = _golden_event(
                first + place, cases[place], plan, case, verdicts[case.id], result.ns
            )
        while next_place in waiting:
            yield waiting.pop(next_place)
            next_place += 1


def _golden_event(
    seq: int, golden: Case, plan: Selection, sent: Case, verdict: Verdict, ns: int
) -> CaseEvent:
    """Make the event of a golden case under the format of its fixture, even if it was wrapped as a stream."""
    case = evolve(sent, format=golden.format, revision=golden.revision)
    return case_event(seq, case, verdict, ns, "" if case.id in plan.by_id else _token(golden, verdict))


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


# --- families ---


def _families(
    engine: Engine, plan: Selection, verdicts: Mapping[str, Verdict], families: Families
) -> Iterator[CaseEvent]:
    def keep(case: Case, outcome: Outcome, ns: int) -> tuple[Case, Verdict, int]:
        verdict = judge(case, outcome, hello=engine.hello, twin=verdicts.get(case.parent or ""))
        return case, verdict, ns

    accepted = [
        case for case in plan.golden if verdicts[case.id].accepts and not isinstance(case.expect, Reject)
    ]
    members = families.of_all(accepted, engine.hello)
    asked = (case for case in members if plan.keep(case) and _is_within_claims(engine.hello, case))
    sample = DerivedSample()
    wanted = sample.of(asked) if engine.hello.cost == "slow" else asked
    for seq, (case, verdict, ns) in enumerate(engine.run_with(wanted, keep), len(plan.golden)):
        yield case_event(seq, _under_fixture_format(case), verdict, ns, _token(case, verdict))
    if sample.seen > sample.kept:
        engine.notes.append(f"a slow adapter: {sample.kept} of {sample.seen} derived cases were run")


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
