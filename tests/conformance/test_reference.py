"""The reference behind the adapter contract, in a process of its own, passes every golden case.

`.ci/run` judges the largest ones by `check reference --large`, from the wheel.
"""

from collections import Counter

import pytest
from goldens import by_size, cases_by_size, load

from wireproof.cases.steps import SEQUENCE
from wireproof.formats import FORMATS
from wireproof.run.engine import Engine
from wireproof.run.run import Selection, run


def test_the_reference_keeps_no_state_and_is_asked_no_sequence() -> None:
    """A live server answers these cases: `reference/docs/live-servers.md`."""
    cases = [case for case in load().cases if case.op == SEQUENCE]
    with Engine("reference", in_process=True) as engine:
        events = list(run(engine, Selection.of(engine.hello, cases, load(), families=False)))
    assert {event.label for event in events} == {"unsupported"}


@pytest.mark.parametrize("largest", by_size())
def test_the_reference_passes_every_golden_case(*, largest: bool) -> None:
    cases = [case for case in cases_by_size(largest=largest) if case.op != SEQUENCE]
    with Engine("reference") as engine:
        assert set(engine.hello.revisions) == set(FORMATS)
        plan = Selection.of(engine.hello, cases, load(), families=False)
        events = list(run(engine, plan))
    assert [event.id for event in events] == [case.id for case in cases]
    seen = Counter(event.verdict for event in events)
    loud = [(event.id, event.label, event.got) for event in events if event.verdict not in ("pass", "info")]
    assert loud == []
    assert seen["pass"] > 9 * seen["info"]


def test_every_format_has_golden_cases_but_for_revisions_that_only_rename() -> None:
    assert {case.format_id for case in load().cases} == set(FORMATS)
