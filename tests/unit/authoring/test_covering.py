"""Covering arrays: each two states of two parts stand together in a row, and a row that exists counts."""

from itertools import combinations, product

import pytest

from tests.authoring.covering import Row, covering_rows, pairs_of
from tests.authoring.iggy.states import forms

PARTS = {
    "key": ("absent", "empty", "one"),
    "value": ("absent", "empty", "wide"),
    "codec": ("none", "gzip"),
    "op": ("r", "w"),
}


def test_each_two_states_stand_together() -> None:
    rows = covering_rows(PARTS)
    for one, other in combinations(PARTS, 2):
        assert {(row[one], row[other]) for row in rows} == set(product(PARTS[one], PARTS[other]))
    assert len(rows) <= 12  # nine are the least; all combinations would be 36


def test_what_is_not_allowed_stands_in_no_row() -> None:
    def allowed(row: Row) -> bool:
        return not (row.get("op") == "w" and row.get("codec") == "gzip")

    rows = covering_rows(PARTS, allowed)
    assert all(map(allowed, rows))
    assert {(row["op"], row["key"]) for row in rows} == set(product(PARTS["op"], PARTS["key"]))


def test_a_row_that_exists_needs_no_other() -> None:
    rows = covering_rows(PARTS)
    assert covering_rows(PARTS, tested=rows) == []
    left = covering_rows(PARTS, tested=rows[1:])
    assert all(pairs_of(row) - set().union(*map(pairs_of, rows[1:])) for row in left)


def test_pairs_that_no_whole_row_can_have_are_an_error() -> None:
    with pytest.raises(ValueError, match="no row is allowed that has"):
        covering_rows(PARTS, lambda row: len(row) < len(PARTS))


def test_the_messages_of_each_form_have_every_pair_of_payload_and_id() -> None:
    for form in forms():
        pairs = {(row["id"], row["payload"]) for row in form.pairs()}
        assert len(pairs) == len({one for one, _ in pairs}) * len({other for _, other in pairs})
