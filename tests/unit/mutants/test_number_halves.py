"""A codec that keeps half of a number dies by a golden case."""

import pytest
from each import each
from goldens import load

from tests.mutants.number_halves import Half, halves, killer


@each(
    "keeps, signed, number, kept",
    [
        ("lower", True, 0x01020304, 0x0304),
        ("upper", True, 0x01020304, 0x01020000),
        ("upper", True, -1, -65536),
        ("lower", True, -1, 0xFFFF),
        ("upper", False, 0xFFFFFFFF, 0xFFFF0000),
    ],
)
def test_a_half_keeps_its_bits_and_no_others(keeps: str, signed: bool, number: int, kept: int) -> None:
    assert Half("a.b/1", "decode", "n", 32, signed, keeps).of(number) == kept


def test_the_numbers_of_lists_are_cut_too() -> None:
    half = Half("a.b/1", "decode", "rows[].n", 32, signed=True, keeps="lower")
    assert half.of_value({"rows": [{"n": "65537"}, {"n": "2"}]}) == {"rows": [{"n": "1"}, {"n": "2"}]}


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
