"""A codec that keeps half of a number dies by a golden case, wherever one has bytes that all differ."""

import pytest
from goldens import load

from tests.mutants.number_halves import Half, halves, killer
from wireproof.cases.states import Cell, state_table


@pytest.mark.parametrize(
    ("keeps", "signed", "number", "kept"),
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


@pytest.mark.sweeps
def test_half_a_number_is_seen_where_a_case_has_bytes_that_all_differ() -> None:
    suite = load()
    filled = state_table(suite).filled
    directions = {"decode": "read", "encode": "write"}
    known = [
        half
        for half in halves(suite)
        if filled.get(Cell(half.format_id, directions[half.op], half.path, "distinct"))
    ]
    assert len(known) > 200
    assert [half for half in known if not killer(half, suite, (half.path,))] == []
