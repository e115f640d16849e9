"""A codec that takes one state of a part of a value for another dies by a golden case."""

import pytest
from goldens import load

from tests.mutants.number_halves import killer
from tests.mutants.state_confusions import Confusion, confusions
from wireproof.formats import FORMATS
from wireproof.wire.json_values import Json

KEY = ("records", "[]", "key")

EQUAL = frozenset(
    {
        ("kafka.log/mixed", "encode", "batches", "none", "null"),  # the log of no entries has no byte
    }
)
"""Confusions that no byte shows."""


def _confused(state: str, taken_for: str, value: Json, *steps: str) -> Json:
    return Confusion("a.b/1", "decode", steps or KEY, state, taken_for).of_value(value)


def test_only_the_named_state_of_the_named_part_is_taken_for_another() -> None:
    value: Json = {"records": [{"key": "", "value": ""}, {"key": "6b", "value": None}, {"key": None}]}
    assert _confused("empty", "null", value) == {
        "records": [{"key": None, "value": ""}, {"key": "6b", "value": None}, {"key": None}]
    }
    assert _confused("null", "absent", value) == {
        "records": [{"key": "", "value": ""}, {"key": "6b", "value": None}, {}]
    }


def test_an_absent_part_is_given_the_other_state() -> None:
    assert _confused("absent", "zero", {"id": "7"}, "count") == {"id": "7", "count": "0"}
    assert _confused("absent", "zero", {"id": "7", "count": "1"}, "count") == {"id": "7", "count": "1"}


def test_the_places_of_a_list_in_a_list_are_told_apart() -> None:
    value: Json = {"headers": [["", ""], ["68", None]]}
    assert _confused("empty", "null", value, "headers", "[]", "1") == {"headers": [["", None], ["68", None]]}


def test_states_are_found_in_each_text_of_a_record() -> None:
    found = {
        (each.op, each.steps[-1], each.state, each.taken_for)
        for each in confusions(load(), ["kafka.batch/v2"])
    }
    for op in ("decode", "encode"):
        for part in ("key", "value", "1"):
            assert {(op, part, "null", "empty"), (op, part, "empty", "null")} <= found
        assert {(op, "0", "empty", "null"), (op, "headers", "none", "null")} <= found


@pytest.mark.sweeps
def test_no_confusion_of_states_conforms() -> None:
    suite = load()
    made = list(confusions(suite, FORMATS))
    assert len(made) > 1100
    alive = {_row(each) for each in made if not killer(each, suite)}
    assert alive == EQUAL


def _row(each: Confusion) -> tuple[str, ...]:
    return each.format_id, each.op, ".".join(each.steps), each.state, each.taken_for
