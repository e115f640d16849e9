"""The property suite asks a codec only for what it claims, compression above all."""

from typing import Any

import pytest

from wireproof import formats
from wireproof.cases.case import Accept, Case, Value
from wireproof.derive.examples import capabilities_of
from wireproof.derive.seeded_examples import property_examples
from wireproof.formats import FORMATS
from wireproof.kafka.batch import CODECS


def test_the_codec_in_the_attribute_bits_of_a_value_is_a_claim_too() -> None:
    """An empty batch names a codec with which nothing is packed."""
    row = FORMATS["kafka.batch/v2"]
    cases = [
        case
        for case in property_examples(row.format_id, 3).cases("encode", 0, 200)
        if isinstance(case.input, Value)
    ]
    named = [(case, int(_attributes(case)) & 7) for case in cases if _attributes(case)]
    assert {number for _, number in named} > {0, 1, 2}
    for case, number in named:
        if number and number in CODECS:
            assert f"codec:{CODECS[number]}" in case.needs


@pytest.mark.parametrize("name", ["iggy.json.send/0.8", "iggy.send/0.9"])
def test_an_edited_value_needs_what_its_own_bytes_need(name: str) -> None:
    """A codec without headers is not asked to encode a value that an edit gave headers."""
    row = FORMATS[name]
    accepted = [
        case
        for case in property_examples(row.format_id, 1).cases("encode", 0, 60)
        if isinstance(case.expect, Accept)
    ]
    assert accepted
    for case in accepted:
        assert isinstance(case.input, Value)
        encoded = formats.encode(row, case.input.value, case.options)
        assert {*capabilities_of(row, encoded, case.options)} <= {*case.needs}


def _attributes(case: Case) -> str:
    assert isinstance(case.input, Value)
    value: Any = case.input.value
    return str(value.get("attributes", "")) if str(value.get("attributes", "")).isdecimal() else ""
