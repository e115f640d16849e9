"""The words for fuzzers: short, each once, and those that the fixtures of a format are made of."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from attrs import evolve
from each import each
from goldens import load
from one_of_a_kind import each_format

from wireproof.cases.case import Accept, Data
from wireproof.derive.mutate import dictionary
from wireproof.formats import FORMATS, Format

ROWS = list(FORMATS.values())
JSON = [row for row in ROWS if row.is_json]


def _inputs(row: Format) -> Iterator[bytes]:
    for case in load().cases:
        if (
            case.format_id == row.format_id
            and isinstance(case.input, Data)
            and isinstance(case.expect, Accept)
        ):
            yield case.input.data


@pytest.mark.parametrize("row", each_format(ROWS, lambda row: row.format_id))
def test_every_word_can_stand_in_a_dictionary_of_libfuzzer_and_is_there_once(row: Format) -> None:
    words = dictionary(row)
    assert len(words) == len(set(words)) > 40
    assert all(1 <= len(word) <= 64 for word in words)
    assert dictionary(row) == words


@pytest.mark.parametrize("row", each_format(ROWS, lambda row: row.format_id))
def test_the_fixtures_hold_many_words_of_their_format(row: Format) -> None:
    """Those of all its revisions: one that only narrows another has a handful of its own."""
    data = b"\n".join(data for one in ROWS if one.name == row.name for data in _inputs(one))
    held = [word for word in dictionary(row) if word in data]
    assert len(held) * 5 > len(dictionary(row)), sorted(set(dictionary(row)) - set(held))


def _members(tree: Any) -> Iterator[str]:
    """The names of members but for those of header maps, whose keys are the user's."""
    if isinstance(tree, dict):
        for key, part in tree.items():
            yield key
            yield from _members(list(part.values()) if key == "headers" and isinstance(part, dict) else part)
    elif isinstance(tree, list):
        for part in tree:
            yield from _members(part)


@each("row", JSON, ids=lambda row: row.format_id)
def test_every_member_that_an_accepted_body_needs_is_a_word(row: Format) -> None:
    words = dictionary(row)
    seen = [set(_members(json.loads(data))) for data in _inputs(row) if data]
    least = 3 if row.name == "iggy.json.error" else 5
    for name in set.intersection(*(names for names in seen if len(names) >= least)):
        assert f'"{name}":'.encode() in words


def test_the_words_bear_the_byte_order_of_their_system() -> None:
    assert (1 << 31).to_bytes(4, "big") in dictionary(FORMATS["kafka.log/mixed"])
    assert (1 << 31).to_bytes(4, "little") in dictionary(FORMATS["iggy.log/0.0.40"])
    assert b"\xff" * 9 + b"\x01" in dictionary(FORMATS["heka.stream/0.10"])


@each("magic", ["1f8b08", "82534e41", "04224d18", "28b52ffd"])
def test_the_magic_of_every_codec_is_a_word_of_a_record_batch(magic: str) -> None:
    assert any(word.startswith(bytes.fromhex(magic)) for word in dictionary(FORMATS["kafka.batch/v2"]))


@pytest.mark.parametrize("is_json", [False, True])
def test_a_family_without_a_dictionary_has_the_common_words_and_those_of_no_other_family(
    is_json: bool,
) -> None:
    """A new family once got the dictionary of Heka."""
    fmt = evolve(ROWS[0], name="other.frame", is_json=is_json)
    words = dictionary(fmt)
    assert b"test_1" not in words
    assert (b"\x7f\xff" in words, b"\xff\x7f" in words) == (not is_json, not is_json)
    assert (b'"offset":' in words, b"null" in words) == (is_json, is_json)
