"""A codec that takes one state of a part of a value for another dies by a golden case."""

import pytest
from goldens import load

from tests.mutants.state_confusions import Confusion, confusions, killer
from wireproof.formats import FORMATS

EQUAL = frozenset(
    {
        ("kafka.log/mixed", "encode", "batches", "none", "null"),  # the log of no entries has no byte
    }
)
"""Confusions that no byte shows."""


@pytest.mark.sweeps
def test_no_confusion_of_states_conforms() -> None:
    suite = load()
    made = list(confusions(suite, FORMATS))
    assert len(made) > 1100
    alive = {_row(each) for each in made if not killer(each, suite)}
    assert alive == EQUAL


def _row(each: Confusion) -> tuple[str, ...]:
    return each.format_id, each.op, ".".join(each.steps), each.state, each.taken_for
