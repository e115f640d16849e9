"""Every mutant after a tracker's bug answers its trigger otherwise than the reference."""

import inspect
from typing import Any, Final

from each import each

from tests.mutants import (
    tracker_heka,
    tracker_iggy,
    tracker_kafka,
    tracker_kafka_logs,
    tracker_kafka_messages,
)
from tests.mutants.base import ReferenceCodec
from tests.mutants.tracker_base import FromTracker
from tests.mutants.tracker_triggers import REFERENCE, TRIGGERS
from wireproof.adapters.contract import Request
from wireproof.cases.outcome import Accepted, Refused

MODULES: Final = (tracker_kafka, tracker_kafka_messages, tracker_kafka_logs, tracker_iggy, tracker_heka)

MUTANTS: Final = {name: made for module in MODULES for name, made in module.MUTANTS.items()}


def _answer(codec: ReferenceCodec, request: Request) -> tuple[Any, ...]:
    """Return what a caller sees of an answer, without texts and positions."""
    match getattr(codec, request.op)(request):
        case Accepted(value=value, consumed=consumed, data=data):
            return (value, consumed, data)
        case Refused(cls=cls, before=before):
            return (cls, before)
        case other:
            raise AssertionError(other)


@each("name", MUTANTS)
def test_the_trigger_shows_the_bug(name: str) -> None:
    """Run the trigger of a mutant through it and the reference."""
    assert _answer(MUTANTS[name](), TRIGGERS[name]) != _answer(REFERENCE, TRIGGERS[name])


def test_every_trigger_is_of_a_mutant() -> None:
    """Compare the names."""
    assert set(TRIGGERS) == set(MUTANTS)


def test_every_mutant_names_its_thread_and_trigger() -> None:
    """Look for a link of its own and a sentence on the trigger."""
    made = [one for one in MUTANTS.values() if issubclass(one, FromTracker)]
    assert len(made) == len(MUTANTS) == len({one.link for one in made if one.link.startswith("https://")})
    assert all("Trigger: " in (inspect.getdoc(one) or "") for one in made)
