"""One run: the selected cases and their families on one adapter, judged, as events in plan order.

Design, sections 3 and 5. Golden cases go first, twins with them; a family is derived only from a case
that the adapter accepts as it may, so that one fault is told once and not a thousand times.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence

from attrs import evolve, frozen

from wireproof.adapters.contract import Hello
from wireproof.cases.case import Case, Reject
from wireproof.cases.derived import derived
from wireproof.cases.fixtures import Suite
from wireproof.cases.outcome import Unsupported
from wireproof.cases.token import dump
from wireproof.formats import FORMATS
from wireproof.trial.engine import Engine, Ran
from wireproof.trial.events import CaseEvent, case_event
from wireproof.trial.judge import judge
from wireproof.trial.plan import Sample, planned
from wireproof.trial.verdicts import ROWS, Verdict


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

    def with_twins(self) -> list[Case]:
        """The golden cases, and the twins without which their refusals say nothing."""
        selected = {case.id: case for case in self.golden}
        twins = [case.twin for case in self.golden if case.twin and case.twin not in selected]
        return [*self.golden, *(self.by_id[twin] for twin in dict.fromkeys(twins) if twin in self.by_id)]


def _concerns(hello: Hello, case: Case) -> bool:
    if not hello.revisions or case.joined in hello.revisions:
        return True
    row = FORMATS.get(case.joined)
    lifts_to = row.lifts_to if row else None
    return lifts_to is not None and f"{lifts_to[0]}/{lifts_to[1]}" in hello.revisions


def run(engine: Engine, plan: Plan) -> Iterator[CaseEvent]:
    """The events of a run; the engine must have been entered."""
    cases = plan.with_twins()
    verdicts = _golden(engine, cases)
    for seq, case in enumerate(plan.golden):
        verdict, ran = verdicts[case.id]
        token = "" if case.id in plan.by_id else _token(case, verdict)
        yield case_event(seq, _asked(case, ran), verdict, ran.ns, token)
    if plan.families:
        yield from _families(engine, plan, {name: verdict for name, (verdict, _) in verdicts.items()})


def _asked(case: Case, ran: Ran) -> Case:
    """The case as its fixture has it: lifting is between the engine and the adapter."""
    return evolve(ran.case, format=case.format, revision=case.revision)


def _golden(engine: Engine, cases: Sequence[Case]) -> dict[str, tuple[Verdict, Ran]]:
    """Every verdict by id. Refusals come last, for they lean on the verdict of their twin."""
    found: dict[str, tuple[Verdict, Ran]] = {}
    rans = list(engine.run(cases))
    for ran in sorted(rans, key=lambda ran: ran.case.twin is not None):
        twin = found.get(ran.case.twin or "")
        verdict = judge(ran.case, ran.outcome, hello=engine.hello, twin=twin[0] if twin else None)
        found[ran.case.id] = (verdict, ran)
    return found


def _families(engine: Engine, plan: Plan, verdicts: Mapping[str, Verdict]) -> Iterator[CaseEvent]:
    grown = (case for case in _grown(plan, verdicts) if _asks_no_more(engine.hello, case))
    sample = Sample()
    wanted = sample.of(grown) if engine.hello.cost == "slow" else grown
    for seq, ran in enumerate(engine.run(wanted), len(plan.golden)):
        twin = verdicts.get(ran.case.parent or "")
        verdict = judge(ran.case, ran.outcome, hello=engine.hello, twin=twin)
        yield case_event(seq, _named(ran.case), verdict, ran.ns, _token(ran.case, verdict))
    if sample.seen > sample.kept:
        engine.notes.append(f"a slow adapter: {sample.kept} of {sample.seen} derived cases were asked")


def _grown(plan: Plan, verdicts: Mapping[str, Verdict]) -> Iterator[Case]:
    for case in plan.golden:
        if verdicts[case.id].accepts and not isinstance(case.expect, Reject):
            yield from filter(plan.keep, derived(case))


def _asks_no_more(hello: Hello, case: Case) -> bool:
    """A scan of a decode's bytes is for adapters that scan; for others it is not even unsupported."""
    return case.op == "decode" or not isinstance(planned(case, hello), Unsupported)


def _named(case: Case) -> Case:
    """A derived case under the format of its fixture, whatever it was lifted to."""
    form, revision, *_ = case.id.split("/")
    here = (form, revision) == (case.format, case.revision)
    return case if here else evolve(case, format=form, revision=revision)


def _token(case: Case, verdict: Verdict) -> str:
    """What is worth replaying carries itself, if it is short; its id makes a longer one again."""
    word = "" if ROWS[verdict.name].gate == "never" else dump(case)
    return "" if word.startswith("@") else word
