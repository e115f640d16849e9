"""Descriptions of protobuf messages that contradict themselves: schema/protobuf.py."""

from typing import Any

import pytest
from each import each

from wireproof.schema.layout import Number, ProtoField
from wireproof.schema.struct import DescriptionError, Struct


def message(name: str, *parts: Any) -> Struct:
    return Struct(name, *parts, revisions=("1",), cites="here")


@each(
    "field, text",
    [
        (ProtoField("id", 2, "bytes"), "Toy.id: two fields of this name"),
        (ProtoField("other", 1, "bytes"), "Toy.other: two fields of number 1"),
        (ProtoField("order", 2, "bytes"), "Toy.order: rules know something else by this name"),
        (ProtoField("other", 2, "float"), "Toy.other: no type is called float"),
        (ProtoField("other", 2, "double"), "Toy.other: there is no codec for one double"),
        (Number("other", "uint8"), "Toy.other: a message has only fields of protobuf"),
    ],
)
def test_a_mistake_in_a_description_is_an_error_when_it_is_defined(field: Any, text: str) -> None:
    with pytest.raises(DescriptionError, match=text):
        message("Toy", ProtoField("id", 1, "bytes"), field)


def test_a_rule_of_no_field_is_an_error() -> None:
    with pytest.raises(DescriptionError, match="guards no field"):
        message("Toy", ProtoField("id", 1, "bytes")).rule("name", "toy.name")(lambda: None)
