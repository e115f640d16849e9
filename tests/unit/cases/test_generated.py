"""Generated cases: recipes, the cases that they make, and the places that read an input."""

import pytest
from attrs import evolve
from each import each
from goldens import load

from wireproof.cases.case import Accept, Case, Data, Generated, Reject, Value
from wireproof.cases.case_json import case_from_json
from wireproof.cases.fixture_writer import case_json, input_digest
from wireproof.cases.generated_bytes import (
    Recipe,
)
from wireproof.cases.made_case import (
    GenerateError,
    made_case,
    made_input,
)
from wireproof.cases.wrap_as_stream import wrap_case
from wireproof.derive.derived import derived_cases
from wireproof.derive.examples import capabilities_of_case
from wireproof.formats import FORMATS
from wireproof.wire.json_values import Json, json_digest

ONE = "kafka.batch/v2/size/zstd-value-65537"
WRITTEN = "kafka.batch/v2/size-encode/none-value-65537"


def case(name: str) -> Case:
    return load().by_id[name]


# --- recipes ---


@each("wrong", [{"records": 0}, {"records": 1 << 20}, {"value": 1 << 30}, {"block": -1}])
def test_a_recipe_has_limits(wrong: dict[str, int]) -> None:
    with pytest.raises(ValueError, match=r"must be|together"):
        Recipe("kafka.batch/v2", **wrong)


@each(
    "change, said",
    [
        ({"input": {"generate": {"kind": "kafka.batch/v9"}, "size": 1, "sha256": "00"}}, "nothing generates"),
        (
            {"input": {"generate": {"kind": "kafka.batch/v1"}, "size": 1, "sha256": "00"}},
            "not kafka.batch/v2",
        ),
        ({"op": "encode"}, "an encode neither digest nor value"),
        ({"op": "scan"}, "a decode, or an accepted encode"),
        ({"op": "encode", "expect": {"reject": {"class": "other"}}}, "a decode, or an accepted encode"),
        ({"expect": {"accept": {"consumed": 1}}}, "expects a digest"),
    ],
)
def test_a_case_that_its_recipe_does_not_fit_is_not_read(change: dict[str, Json], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        case_from_json({**case_json(case(ONE)), **change}, "kafka.batch", "v2", None)


# --- made cases ---


def test_a_made_case_that_is_refused_has_its_bytes_and_keeps_its_expectation() -> None:
    refused = evolve(case(ONE), expect=Reject("limit-exceeded"))
    made = made_case(refused)
    assert isinstance(made.input, Data)
    assert made.expect == Reject("limit-exceeded")


def test_a_made_case_has_its_bytes_and_its_value() -> None:
    made = made_case(case(ONE))
    assert isinstance(made.input, Data)
    assert isinstance(made.expect, Accept)
    assert isinstance(case(ONE).expect, Accept)
    assert json_digest(made.expect.value) == case(ONE).expect.digest
    assert len(made.input.data) == made.expect.consumed == case(ONE).input.size


def test_a_case_to_encode_has_a_value() -> None:
    assert isinstance(made_input(case(WRITTEN)), Value)


def test_other_bytes_than_stated_are_an_error() -> None:
    source = case(ONE).input
    assert isinstance(source, Generated)
    with pytest.raises(GenerateError, match="sha256"):
        made_input(evolve(case(ONE), input=evolve(source, sha256="0" * 64)))
    with pytest.raises(GenerateError, match="digest"):
        made_case(evolve(case(ONE), expect=Accept(digest="0" * 32)))


def test_in_a_stream_the_value_is_an_element() -> None:
    wrapped = wrap_case(case(ONE), FORMATS["kafka.batch/v2"])
    made = made_case(wrapped)
    assert wrapped.format_id == "kafka.log/mixed"
    assert isinstance(made.expect, Accept)
    assert isinstance(whole := made_case(case(ONE)).expect, Accept)
    assert made.expect.value == {"batches": [whole.value], "nextOffset": "1"}


# --- places that read an input ---


def test_the_digest_is_of_the_bytes_and_not_of_the_recipe() -> None:
    source = case(ONE).input
    assert isinstance(source, Generated)
    other = evolve(source, recipe=evolve(source.recipe, block=128 * 1024))
    assert input_digest(other) == input_digest(source)
    assert input_digest(evolve(source, sha256="00")) != input_digest(source)


def test_a_generated_case_has_no_derived_cases_and_states_its_own_needs() -> None:
    assert list(derived_cases(case(ONE))) == []
    assert capabilities_of_case(case(ONE)) == ()
