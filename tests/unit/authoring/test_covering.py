"""Covering arrays of strength two, and the pairs of Iggy's messages that are made of them."""

from itertools import combinations, product
from typing import Any

from tests.authoring.covering import covering
from tests.authoring.iggy.states import forms


def test_any_two_values_of_two_factors_share_a_row() -> None:
    factors: dict[str, list[Any]] = {
        "key": [None, b"", b"k"],
        "value": [b"", b"v"],
        "headers": [0, 1, 2, 3],
        "codec": ["a", "b"],
    }
    rows = covering(factors)
    for one, other in combinations(factors, 2):
        assert {(row[one], row[other]) for row in rows} == set(product(factors[one], factors[other]))
    assert len(rows) < 3 * 2 * 4 * 2 / 2


def test_the_messages_of_each_form_have_every_pair_of_payload_and_id() -> None:
    for form in forms():
        pairs = {(row["id"], row["payload"]) for row in form.pairs()}
        assert len(pairs) == len({one for one, _ in pairs}) * len({other for _, other in pairs})
