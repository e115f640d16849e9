"""The functions that `wireproof` exports."""

import pytest

from wireproof import Options, UnknownFormat, check, decode, encode, explain, scan, to_json
from wireproof.adapters import Rejected
from wireproof.adapters.errors import UnknownAdapter
from wireproof.cases.id_patterns import PatternError
from wireproof.strategies import value_classes

IDENTIFIER = "iggy.identifier/0.0.30"
SEVEN = bytes.fromhex("010407000000")


def test_what_was_encoded_is_decoded() -> None:
    decoded = decode(IDENTIFIER, SEVEN + b"more")
    assert (decoded.value, decoded.consumed, decoded.remarks) == (
        {"kind": "numeric", "value": "07000000"},
        6,
        (),
    )
    assert encode(IDENTIFIER, decoded.value) == SEVEN


def test_a_drawn_value_is_encoded_by_its_json_form() -> None:
    identifier = value_classes("iggy.identifier", "0.0.30")["Identifier"]
    value = identifier(kind="numeric", value=bytes.fromhex("07000000"))
    assert encode(IDENTIFIER, to_json(value), Options(profile="produce")) == SEVEN


def test_bytes_that_are_refused_are_explained_up_to_the_fault() -> None:
    explained = explain(IDENTIFIER, SEVEN[:4])
    assert [field.path for field in explained.fields] == ["kind", "length"]
    assert isinstance(explained.refusal, Rejected)
    assert (explained.value, explained.refusal.cls) == (None, "truncated")
    with pytest.raises(Rejected, match="truncated at 2, value"):
        decode(IDENTIFIER, SEVEN[:4])


def test_a_stream_is_divided_into_items() -> None:
    entry = bytes.fromhex("00000000000000000000000ea7ec68030000ffffffffffffffff")
    items = scan("kafka.log/mixed", [b"x", entry[:9], entry[9:], entry[:5]])
    assert [(item["kind"], item["at"]) for item in items] == [("garbage", 0), ("frame", 1), ("tail", 27)]  # type: ignore[index,call-overload]


@pytest.mark.parametrize(
    "call", [decode, explain, lambda name, _: [*scan(name, [])], lambda name, _: encode(name, {})]
)
def test_an_unknown_format_is_named_with_the_nearest_one(call: object) -> None:
    with pytest.raises(UnknownFormat, match=r"kafka.batch/v3: .*kafka.batch/v2"):
        call("kafka.batch/v3", b"")  # type: ignore[operator]


def test_an_adapter_is_judged_case_by_case() -> None:
    verdicts = {
        event.verdict for event in check("reference", ["iggy.identifier/0.0.30/identifier/*"], derived=False)
    }
    assert verdicts == {"pass"}
    derived = [event.id for event in check("reference", ["iggy.identifier/0.0.30/identifier/string"])]
    assert any("~truncate:" in name for name in derived)


def test_what_cannot_be_judged_is_an_error_of_one_line() -> None:
    with pytest.raises(UnknownAdapter, match="nosuch"):
        next(check("nosuch", ["iggy.identifier/**"]))
    with pytest.raises(PatternError, match="no case matches nosuch"):
        next(check("reference", ["nosuch/**"]))
