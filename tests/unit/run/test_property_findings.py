"""What fails in the property suite is reported once, small, and with a token that fails alike."""

import pytest
from folders import SUPPORT
from goldens import load

from tests.mutants.registry import spec_of
from wireproof.cases.case import Data
from wireproof.cases.token import from_token
from wireproof.formats import FORMATS
from wireproof.fuzz import property_run
from wireproof.fuzz.property_run import PropertySettings, PropertyTarget, RedrawCounts
from wireproof.run import case_lookup
from wireproof.run.engine import Engine
from wireproof.run.run import Selection, run

MUTANT = spec_of("mutant:iggy-identifier-unchecked")
IDENTIFIER = FORMATS["iggy.identifier/0.0.30"]


def test_a_signature_is_shown_once_and_small_with_a_token_that_fails_alike() -> None:
    with Engine(MUTANT, in_process=True) as engine:
        ask = PropertySettings(60, 1, frozenset((IDENTIFIER.format_id,)))
        loud = [event for event in property_run.run(engine, ask) if event.verdict == "fail"]
        small = [event for event in loud if event.token]
        assert len({event.signature("") for event in small}) == len(small)
        assert {event.signature("") for event in loud} == {event.signature("") for event in small}
        plan = Selection(tuple(from_token(event.token) for event in small), {}, families=False)
        again = list(run(engine, plan))
    assert [event.signature("") for event in again] == [event.signature("") for event in small]
    whole = case_lookup.find_case(load(), small[0].id)
    case = from_token(small[0].token)
    assert whole is not None
    assert isinstance(case.input, Data)
    assert isinstance(whole.input, Data)
    assert len(case.input.data) <= len(whole.input.data)


def test_a_crash_is_made_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(SUPPORT))
    monkeypatch.setattr(property_run, "MAX_CANDIDATES_ALONE", 5)
    row = FORMATS["kafka.batch/v2"]
    with Engine("py:hanging_codecs:Dies") as engine:
        events = list(
            property_run.target_events(
                engine, PropertyTarget(row, "decode"), PropertySettings(8, 1), RedrawCounts()
            )
        )
    (small,) = [event for event in events if event.verdict == "crash" and event.token]
    case = from_token(small.token)
    assert isinstance(case.input, Data)
    assert b"\x7f" in case.input.data
