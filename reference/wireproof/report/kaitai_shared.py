"""Types of Kaitai specifications that no single format has: varints, and the fields of protobuf messages."""

from collections.abc import Mapping
from typing import Any, Final

from wireproof.wire.layout import VARINTS, Layout, OtherFields, ProtoField, proto_fields
from wireproof.wire.protobuf import FIXED32, FIXED64, LENGTH_DELIMITED, START_GROUP, VARINT

Tree = dict[str, Any]
"""A part of a specification, as the tree of its YAML."""


def _varint_type(bits: int, *, zigzag: bool) -> Tree:
    """Return the type of a varint: groups of seven bits, the lowest first; higher bits are dropped.

    Zig-zag turns 0, 1, 2, 3 into 0, -1, 1, -2.
    """
    parts = (f"(groups.size > {n} ? (groups[{n}] & 0x7f) << {7 * n} : 0)" for n in range(-(-bits // 7)))
    return {
        "seq": [{"id": "groups", "type": "u1", "repeat": "until", "repeat-until": "(_ & 0x80) == 0"}],
        "instances": {
            "raw": {"value": f"({' + '.join(parts)}) & {(1 << bits) - 1:#x}"},
            "value": {"value": "(raw >> 1) ^ -(raw & 1)" if zigzag else "raw"},
        },
    }


_NUMBER: Final = {"number": {"value": "key.value >> 3"}, "wire": {"value": "key.value & 7"}}
"""The parts of the key of a protobuf field."""

_GROUP: Final = {"id": "group", "type": "protobuf_group", "if": f"wire == {START_GROUP}"}


def _field_parts(payload: Tree) -> list[Tree]:
    """Return the parts of a protobuf field; which of them are there depends on the wire type in its key."""
    return [
        {"id": "key", "type": "uvarint", "doc": "number of the field * 8 + wire type"},
        {"id": "varint", "type": "uvarint", "if": f"wire == {VARINT}"},
        {"id": "fixed64", "type": "u8le", "if": f"wire == {FIXED64}"},
        {"id": "fixed32", "type": "u4le", "if": f"wire == {FIXED32}"},
        {"id": "length", "type": "uvarint", "if": f"wire == {LENGTH_DELIMITED}"},
        {"id": "payload", "size": "length.value", "if": f"wire == {LENGTH_DELIMITED}"} | payload,
    ]


SHARED_TYPES: Final[dict[str, Tree]] = {
    **{name: _varint_type(bits, zigzag=signed) for name, (bits, signed) in VARINTS.items()},
    "protobuf_group": {
        "seq": [
            {"id": "fields", "type": "protobuf_field", "repeat": "until", "repeat-until": "_.wire == 4"},
        ]
    },
    "protobuf_field": {"seq": [*_field_parts({}), _GROUP], "instances": _NUMBER},
    "packed_varints": {"seq": [{"id": "values", "type": "uvarint", "repeat": "eos"}]},
    "packed_doubles": {"seq": [{"id": "values", "type": "f8le", "repeat": "eos"}]},
}
"""The types that a specification includes if it uses them."""

FIELDS: Final = "wire_fields"
"""The list of the fields of a protobuf message."""

MORE_FIELDS: Final = "more_fields"
"""The fields behind the length that a message has of bytes after it."""


def protobuf_type(name: str, layout: Layout, inner: Mapping[int, str]) -> tuple[Tree, dict[str, Tree]]:
    """Return the type of a protobuf message, and the type of its fields by name.

    Args:
        name: of the type of the message.
        layout: the layout of the message.
        inner: the names of the types of the messages in its fields, by number.
    """
    field = f"{name}_field"
    body: Tree = {"seq": [{"id": FIELDS, "type": field, "repeat": "eos"}]}
    for part in proto_fields(layout):
        if part.cover == "length":  # it may be in any place, and there is one
            until = {"repeat": "until", "repeat-until": f"_.number == {part.number}"}
            body["seq"] = [body["seq"][0] | until, {"id": MORE_FIELDS, "type": field, "repeat": "eos"}]
            body["instances"] = {part.name: {"value": f"{FIELDS}.last.varint.value"}}
    return body, {field: _field_type(layout, inner)}


def _field_type(layout: Layout, inner: Mapping[int, str]) -> Tree:
    parts = proto_fields(layout)
    packed = {part.number: _packed(part) for part in parts if part.packable}
    cases = {**packed, **inner}
    payload = {"type": {"switch-on": "number", "cases": cases}} if cases else {}
    group = [_GROUP] if any(isinstance(part, OtherFields) for part in layout.parts) else []
    return {
        "seq": _field_parts(payload) + group,
        "instances": _NUMBER | {"tag": {"value": "number", "enum": "tags"}},
        "enums": {"tags": {part.number: _tag(part) for part in parts}},
    }


def _packed(part: ProtoField) -> str:
    return "packed_doubles" if part.of == "double" else "packed_varints"


def _tag(part: ProtoField) -> Tree:
    kind = part.of if isinstance(part.of, str) else part.of.name
    label = "required" if part.required else "repeated" if part.repeated else "optional"
    return {"id": part.name, "doc": f"{label} {kind}" + (f"; {part.meaning}" if part.meaning else "")}
