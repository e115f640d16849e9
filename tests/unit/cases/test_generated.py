"""Generated cases: recipes, the bytes and values that they make, and the places that read an input."""

import ast
import json
from itertools import product
from pathlib import Path

import pytest
import zstandard
from attrs import evolve
from each import each
from goldens import load

from wireproof.cases import generated_bytes as compressed
from wireproof.cases.case import Accept, Case, Data, Generated, Reject, Value
from wireproof.cases.case_json import case_from_json
from wireproof.cases.fixture_writer import case_json, input_digest
from wireproof.cases.generated_bytes import (
    MAX_ASKED,
    PAGE,
    Recipe,
    joined,
    noise,
    size_of,
    value_pieces,
)
from wireproof.cases.made_case import (
    GenerateError,
    generators,
    made_case,
    made_input,
    needs_digest,
)
from wireproof.cases.token import from_token, to_token
from wireproof.cases.wrap_as_stream import wrap_case
from wireproof.derive.derived import derived_cases
from wireproof.derive.examples import capabilities_of_case
from wireproof.formats import FAMILIES, FORMATS
from wireproof.kafka.suite import generators as made_entries
from wireproof.strict_parsing import to_tree
from wireproof.wire.json_values import Json, json_digest

ONE = "kafka.batch/v2/size/zstd-value-65537"
LARGE = "kafka.batch/v2/size/zstd-value-40m"
WRITTEN = "kafka.batch/v2/size-encode/none-value-65537"

SIZES = (0, 1, 63, 64, 65, 259, PAGE - 1, PAGE, PAGE + 1, 3 * PAGE + 17)


def case(name: str) -> Case:
    return load().by_id[name]


def generated() -> list[Case]:
    return [one for one in load().cases if isinstance(one.input, Generated)]


# --- the bytes of values ---


@each("fill, size", product(["noise", "text", "runs"], SIZES))
def test_a_value_has_its_size(fill: str, size: int) -> None:
    pieces = value_pieces(fill, size)  # type: ignore[arg-type] # a word of the parameters above
    assert size_of(pieces) == len(joined(pieces)) == size


def test_noise_is_not_that_of_another_record_and_does_not_compress() -> None:
    assert noise(100, 0) != noise(100, 1)
    assert noise(100, 1) == noise(200, 1)[:100]
    assert len(zstandard.compress(noise(1 << 16))) > 1 << 16


def test_each_page_of_runs_is_another_one() -> None:
    data = joined(value_pieces("runs", 3 * PAGE))
    assert data == b"\0" * PAGE + b"\1" * PAGE + b"\2" * PAGE


def test_text_is_text() -> None:
    assert joined(value_pieces("text", 999)).decode("ascii").isalnum()


# --- compressed forms ---


def test_an_lz4_frame_has_independent_blocks() -> None:
    assert compressed.lz4([noise(70_000)])[4] & 0x20


def test_runs_compress_a_thousand_times() -> None:
    pieces = value_pieces("runs", MAX_ASKED)
    assert len(compressed.gzip(pieces)) * 700 < MAX_ASKED
    assert len(compressed.zstd(pieces)) * 1000 < MAX_ASKED


# --- entries ---


def test_forms_of_compressed_bytes_use_neither_a_reference_codec_nor_a_compressor() -> None:
    names = set()
    for module in (compressed, made_entries):
        for node in ast.walk(ast.parse(Path(str(module.__file__)).read_text("utf-8"))):
            match node:
                case ast.ImportFrom(module=str(name)):
                    names.add(name)
                case ast.Import(names=imported):
                    names |= {one.name for one in imported}
    ours = {name for name in names if name.startswith("wireproof.") and ".cases.generated_bytes" not in name}
    assert ours == {"wireproof.cases.made_case", "wireproof.wire.json_values"}
    assert not names & {"cramjam", "zstandard", "gzip", "lz4"}


# --- recipes ---


def test_every_generator_has_a_case() -> None:
    known = {kind for family in FAMILIES for kind in generators(family)}
    assert {one.format_id for one in generated()} == known


@each("wrong", [{"records": 0}, {"records": 1 << 20}, {"value": 1 << 30}, {"block": -1}])
def test_a_recipe_has_limits(wrong: dict[str, int]) -> None:
    with pytest.raises(ValueError, match=r"must be|together"):
        Recipe("kafka.batch/v2", **wrong)


def test_a_recipe_without_defaults_is_short() -> None:
    assert to_tree(Recipe("kafka.batch/v2", value=5), without_defaults=True) == {
        "kind": "kafka.batch/v2",
        "value": 5,
    }


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


def test_a_case_that_is_not_generated_stays_as_it_is() -> None:
    plain = case("kafka.batch/v2/batch/one-record")
    assert made_case(plain) is plain
    assert not needs_digest(plain)


def test_only_values_over_a_mebibyte_and_a_half_are_large() -> None:
    assert needs_digest(case(LARGE))
    assert not needs_digest(case("kafka.batch/v2/size/zstd-value-1536k"))


def test_in_a_stream_the_value_is_an_element() -> None:
    wrapped = wrap_case(case(ONE), FORMATS["kafka.batch/v2"])
    made = made_case(wrapped)
    assert wrapped.format_id == "kafka.log/mixed"
    assert isinstance(made.expect, Accept)
    assert isinstance(whole := made_case(case(ONE)).expect, Accept)
    assert made.expect.value == {"batches": [whole.value], "nextOffset": "1"}


# --- places that read an input ---


def test_a_token_names_the_recipe() -> None:
    token = to_token(case(LARGE))
    assert len(token) < 1500
    again = from_token(token)
    assert again.input == case(LARGE).input
    assert made_input(from_token(to_token(case(ONE)))) == made_input(case(ONE))


def test_the_digest_is_of_the_bytes_and_not_of_the_recipe() -> None:
    source = case(ONE).input
    assert isinstance(source, Generated)
    other = evolve(source, recipe=evolve(source.recipe, block=128 * 1024))
    assert input_digest(other) == input_digest(source)
    assert input_digest(evolve(source, sha256="00")) != input_digest(source)


def test_a_generated_case_has_no_derived_cases_and_states_its_own_needs() -> None:
    assert list(derived_cases(case(ONE))) == []
    assert capabilities_of_case(case(ONE)) == ()


def test_every_case_is_small_in_its_file() -> None:
    assert max(len(json.dumps(case_json(one))) for one in generated()) < 2000
