"""One run: the selected cases and their families on one adapter, judged, as events in plan order.

Design, sections 3 and 5. Golden cases go first, twins with them; a family is derived only from a case
that the adapter accepts as it may, so that one fault is told once and not a thousand times.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from attrs import evolve, frozen

from wireproof.adapters.contract import Hello
from wireproof.cases.case import Case, Reject
from wireproof.cases.fixtures import Suite
from wireproof.cases.outcome import Outcome, Refused, Unsupported
from wireproof.cases.token import dump
from wireproof.formats import FORMATS
from wireproof.trial.engine import Engine
from wireproof.trial.events import CaseEvent, case_event
from wireproof.trial.families import Families
from wireproof.trial.judge import judge
from wireproof.trial.plan import Sample, planned
from wireproof.trial.verdicts import ROWS, SILENT, Verdict

GOLDEN_BLOCK: Final = 64
"""Golden cases that are shuffled among themselves: few, so that a run broken off early keeps verdicts."""


@frozen
class Plan:
    """What one adapter is asked.

    Attributes:
        golden: the selected fixtures, in order.
        by_id: every fixture, for the twins that a selection leaves out.
        families: whether their derived cases are run too.
        keep: which derived cases are wanted; all of them unless a token of one is replayed.
    """

    golden: Sequence[Case]
    by_id: Mapping[str, Case]
    families: bool = True
    keep: Callable[[Case], bool] = lambda _: True

    @classmethod
    def of(cls, hello: Hello, cases: Sequence[Case], suite: Suite, *, families: bool = True) -> "Plan":
        """The plan for one adapter: cases of formats that it says nothing of are none of its business."""
        mine = [case for case in cases if _concerns(hello, case)]
        return cls(mine, suite.by_id, families)


def _concerns(hello: Hello, case: Case) -> bool:
    if not hello.revisions or case.joined in hello.revisions:
        return True
    row = FORMATS.get(case.joined)
    lifts_to = row.lifts_to if row else None
    return lifts_to is not None and f"{lifts_to[0]}/{lifts_to[1]}" in hello.revisions


def run(engine: Engine, plan: Plan, families: Families | None = None) -> Iterator[CaseEvent]:
    """Yield the events of a run in plan order; the engine must have been entered.

    Args:
        engine: asks the adapter.
        plan: what is asked.
        families: derives the families; a store shares them with the other adapters of a run.
    """
    verdicts: dict[str, Verdict] = {}
    yield from _golden(engine, plan, verdicts)
    if plan.families:
        yield from _families(engine, plan, verdicts, families or Families())


# --- golden cases ---


@frozen
class _Settled:
    """A golden case as it was asked, with its verdict; a refusal waits for the verdict on its twin.

    Attributes:
        case: as it was asked: lifted where that was needed.
        outcome: of a refusal whose twin has no verdict yet; else None.
    """

    case: Case
    verdict: Verdict | None
    ns: int
    outcome: Refused | None = None


def _golden(engine: Engine, plan: Plan, verdicts: dict[str, Verdict]) -> Iterator[CaseEvent]:
    """Judge each answer as it arrives, and yield the events in plan order as soon as that is possible."""

    def keep(case: Case, outcome: Outcome, ns: int) -> _Settled:
        twin = verdicts.get(case.twin or "")
        if case.twin and twin is None and isinstance(outcome, Refused):
            return _Settled(case, None, ns, outcome)
        verdicts[case.id] = verdict = judge(case, outcome, hello=engine.hello, twin=twin)
        return _Settled(case, verdict, ns)

    places = {case.id: place for place, case in enumerate(plan.golden)}
    waiting: dict[int, CaseEvent] = {}
    following = 0
    for settled in engine.settled(_twins_first(plan), keep, GOLDEN_BLOCK):
        case = settled.case
        if settled.outcome is not None:
            twin = verdicts.get(case.twin or "")
            verdicts[case.id] = judge(case, settled.outcome, hello=engine.hello, twin=twin)
        if case.id in places:
            place = places[case.id]
            waiting[place] = _golden_event(place, plan, case, verdicts[case.id], settled.ns)
        while following in waiting:
            yield waiting.pop(following)
            following += 1


def _golden_event(place: int, plan: Plan, asked: Case, verdict: Verdict, ns: int) -> CaseEvent:
    """Make the event of a golden case, as its fixture has it: lifting is between engine and adapter."""
    golden = plan.golden[place]
    case = evolve(asked, format=golden.format, revision=golden.revision)
    return case_event(place, case, verdict, ns, "" if case.id in plan.by_id else _token(golden, verdict))


def _twins_first(plan: Plan) -> Iterator[Case]:
    """Yield each golden case behind its twin, which a refusal leans on, be the twin selected or not."""
    selected = {case.id: case for case in plan.golden}
    asked: set[str] = set()
    for case in plan.golden:
        twin = selected.get(case.twin or "") or plan.by_id.get(case.twin or "")
        for one in (twin, case):
            if one is not None and one.id not in asked:
                asked.add(one.id)
                yield one


# --- families ---


def _families(
    engine: Engine, plan: Plan, verdicts: Mapping[str, Verdict], families: Families
) -> Iterator[CaseEvent]:
    def keep(case: Case, outcome: Outcome, ns: int) -> tuple[Case, Verdict, int]:
        verdict = judge(case, outcome, hello=engine.hello, twin=verdicts.get(case.parent or ""))
        return case, verdict, ns

    grown = [
        case for case in plan.golden if verdicts[case.id].accepts and not isinstance(case.expect, Reject)
    ]
    members = families.of_all(grown, engine.hello)
    asked = (case for case in members if plan.keep(case) and _asks_no_more(engine.hello, case))
    sample = Sample()
    wanted = sample.of(asked) if engine.hello.cost == "slow" else asked
    for seq, (case, verdict, ns) in enumerate(engine.settled(wanted, keep), len(plan.golden)):
        yield case_event(seq, _named(case), verdict, ns, _token(case, verdict))
    if sample.seen > sample.kept:
        engine.notes.append(f"a slow adapter: {sample.kept} of {sample.seen} derived cases were asked")


def _asks_no_more(hello: Hello, case: Case) -> bool:
    """Whether a derived case may be asked: a scan of a decode's bytes is for adapters that scan."""
    return case.op == "decode" or not isinstance(planned(case, hello), Unsupported)


def _named(case: Case) -> Case:
    """A derived case under the format of its fixture, whatever it was lifted to."""
    form, revision, *_ = case.id.split("/")
    here = (form, revision) == (case.format, case.revision)
    return case if here else evolve(case, format=form, revision=revision)


def _token(case: Case, verdict: Verdict) -> str:
    """What is worth replaying carries itself, if it is short; its id makes a longer one again."""
    word = "" if ROWS[verdict.name].gate in SILENT else dump(case)
    return "" if word.startswith("@") else word
