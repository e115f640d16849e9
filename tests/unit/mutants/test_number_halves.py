"""A codec that keeps half of a number dies by a golden case."""

import pytest
from goldens import load

from tests.mutants.number_halves import halves, killer

EQUAL = {
    # a CRC-32 has four bytes, and the upper four of its field are 0 in every record that is accepted
    ("iggy.log/0.7", "decode", "messages[].checksum", "lower"),
}
"""Halves that no accepted input tells from the number."""


@pytest.mark.sweeps
def test_no_half_of_a_number_conforms() -> None:
    suite = load()
    made = list(halves(suite))
    assert len(made) > 1100
    alive = {
        (half.format_id, half.op, half.path, half.keeps)
        for half in made
        if not killer(half, suite, (half.path,))
    }
    assert alive == EQUAL
