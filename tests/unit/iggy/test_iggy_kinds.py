"""Typed header values: iggy.md §2.3."""

import struct
from typing import Any

import pytest
from each import each
from iggy_bytes import WORKED, decode

from wireproof.iggy.header_kinds import HeaderValue
from wireproof.wire.json_values import json_of
from wireproof.wire.rejection import Rejected

W3: dict[str, Any] = {
    "raw": b"\x00\xff", "string": "é", "bool": False, "int8": -1, "int16": -2, "int32": -3, "int64": -4,
    "int128": -5, "uint8": 255, "uint16": 258, "uint32": 0x01020304, "uint64": 0x0102030405060708,
    "uint128": 0x0102030405060708090A0B0C0D0E0F10, "float32": 1.5, "float64": 123.45,
}  # fmt: skip
"""Kind to value, as the table of W3 has them."""


def _w3() -> dict[str, HeaderValue]:
    value = decode("iggy.headers/0.0.30", WORKED["W3"][2]).value
    return {held.kind: held for _, held in value.headers}


@each("kind", W3)
def test_a_value_is_built_with_the_bytes_of_w3(kind: Any) -> None:
    assert HeaderValue.of(kind, W3[kind]) == _w3()[kind]


@each(
    "kind, native",
    [
        ("uint8", 256),
        ("uint8", -1),
        ("int8", 128),
        ("int8", -129),
        ("uint128", 1 << 128),
        ("float32", 1e39),
        ("bool", 1),
        ("uint8", True),
        ("string", ""),
        ("string", "é" * 128),
        ("string", "\ud800"),
        ("raw", b""),
        ("raw", b"v" * 256),
        ("raw", "text"),
        ("decimal", 1),
    ],
)
def test_a_value_that_no_reader_takes_is_refused_when_it_is_built(kind: Any, native: Any) -> None:
    with pytest.raises(Rejected) as caught:
        HeaderValue.of(kind, native)
    assert caught.value.cls == "invalid-value"


def test_the_validators_refuse_an_unknown_kind_and_a_length_outside_1_to_255() -> None:
    bad: list[tuple[Any, bytes]] = [("decimal", b"v"), ("raw", b""), ("raw", b"v" * 256)]
    for kind, data in bad:
        with pytest.raises(Rejected) as caught:
            HeaderValue(kind, data)
        assert caught.value.cls == "invalid-value"


@each(
    "held, typed",
    [
        *((_w3()[kind], str(native)) for kind, native in W3.items() if type(native) is int),
        (_w3()["float32"], "1.5"),
        (_w3()["bool"], False),
        (_w3()["raw"], None),
        (_w3()["string"], None),
        (HeaderValue("bool", b"\x02"), None),
        (HeaderValue("uint16", b"\x01"), None),
        (HeaderValue("float32", struct.pack("<I", 0x7F800001)), "NaN"),
    ],
)
def test_the_typed_value_is_that_of_the_kind_and_none_of_a_value_with_a_fault(
    held: HeaderValue, typed: str | bool | None
) -> None:
    tree = json_of(held, with_derived=True)
    assert isinstance(tree, dict)
    assert tree["typed"] == typed
    assert tree["value"] == held.value.hex()
