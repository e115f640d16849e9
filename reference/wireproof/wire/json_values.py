"""The JSON form of values: conversion in both directions, the canonical form, and JSON Schema.

A value is a frozen attrs class of ints, bools, bytes, None, literals, tuples and other values. In JSON every
integer is a decimal string, and bytes and text are lower-case hex. A float is the hex of its IEEE bits, which
a codec stores as bytes. Booleans and null are those of JSON. Field names are camelCase for classes marked
with `@camel`, as in Kafka's documents, and unchanged for all others. A field with a default is computed:
decode sets it, and encode ignores it, so it may be absent from the input of encode. A derived field
(`@derived`) follows from the others and is part of answers only; it is compared where an adapter names it.
adapter-contract.md describes this form for the authors of adapters.
"""

import json
from collections.abc import Callable
from decimal import Decimal
from hashlib import blake2b
from types import NoneType, UnionType
from typing import Any, Final, Literal, TypeAlias, TypeVar, Union, get_args, get_origin, get_type_hints

from attrs import NOTHING, Attribute, fields, has

Json: TypeAlias = "str | bool | int | list[Json] | dict[str, Json] | None"
"""A value in JSON form. Only `at`, `consumed` and `length` are JSON integers; no field of a format is one."""

T = TypeVar("T")

DECIMAL_PATTERN: Final = r"-?(0|[1-9][0-9]*)"
NUMBER_PATTERN: Final = r"-?(0|[1-9][0-9]*)(\.[0-9]*[1-9])?|-?inf|NaN"
"""A number without exponent, or what is no number in IEEE 754."""
HEX_PATTERN: Final = r"([0-9a-f]{2})*"
DIGEST_SIZE: Final = 16
"""Size of a digest in bytes."""
MAX_DIGITS: Final = 64
"""Limit for the digits of an integer: 128 bits need 39, and very long integers take quadratic time."""


def camel_case(cls: type[T]) -> type[T]:
    """Mark a value class whose JSON names are in camelCase."""
    cls.__wire_camel__ = True  # type: ignore[attr-defined] # `json_name` reads it
    return cls


def derived(**kinds: Any) -> Callable[[type[T]], type[T]]:  # noqa: ANN401 - types
    """Mark a value class whose answers have the fields `kinds`, each with its type, besides its own.

    The method `add_derived` of the class adds them to its JSON form; without one, a class that contains it
    does. A field of the class with the same name
    stores the value of a derived field that the other fields do not determine.
    """

    def mark(cls: type[T]) -> type[T]:
        cls.__wire_derived__ = kinds  # type: ignore[attr-defined] # `derived_kinds` reads it
        return cls

    return mark


def derived_kinds(cls: type) -> dict[str, Any]:
    """Return the derived fields of a class by name, with their types."""
    kinds: dict[str, Any] = getattr(cls, "__wire_derived__", {})
    return kinds


def json_name(cls: type, name: str) -> str:
    """Return the JSON name of the field `name` of `cls`."""
    if not getattr(cls, "__wire_camel__", False):
        return name
    head, *tail = name.split("_")
    return head + "".join(word.capitalize() for word in tail)


def to_json(value: Any, *, with_derived: bool = False) -> Json:  # noqa: ANN401 - any value class
    """Return the JSON form of a value, with its derived fields if `with_derived` is true."""
    from wireproof.wire.json_converter import COMPLETING, CONVERTER  # noqa: PLC0415 - it takes long

    tree: Json = _with_lists((COMPLETING if with_derived else CONVERTER).unstructure(value))
    return tree


def json_of(value: Any, *, with_derived: bool = False) -> Json:  # noqa: ANN401 - a value class, or its JSON
    """Return the JSON form of a value class; return JSON unchanged."""
    if has(type(value)):
        return to_json(value, with_derived=with_derived)
    tree: Json = value
    return tree


def _with_lists(tree: Any) -> Any:  # noqa: ANN401 - any output of cattrs
    """Replace tuples by lists, in the new tree that cattrs made; most parts are leaves, and cost no call."""
    if isinstance(tree, dict):
        for key, part in tree.items():
            if type(part) not in _LEAVES:
                tree[key] = _with_lists(part)
        return tree
    if isinstance(tree, list | tuple):
        return [part if type(part) in _LEAVES else _with_lists(part) for part in tree]
    return tree


_LEAVES: Final = frozenset({str, bool, int, NoneType})


def from_json(cls: type[T], tree: Json) -> T:
    """Return the value of class `cls` with the JSON form `tree`.

    Raises:
        Rejected: `invalid-value`, with the path of the first wrong field.
    """
    from wireproof.wire.json_converter import structure  # noqa: PLC0415 - it takes long

    return structure(cls, tree)


def canonical_json(tree: Json) -> bytes:
    """Return the canonical bytes of a JSON value: sorted keys, no spaces."""
    return json.dumps(tree, sort_keys=True, separators=(",", ":")).encode()


def json_digest(tree: Json) -> str:
    """Return the canonical digest of a JSON value in hex: blake2b, 16 bytes. Bulk runs compare digests."""
    return blake2b(canonical_json(tree), digest_size=DIGEST_SIZE).hexdigest()


# --- JSON Schema ---

_SCALARS: Final[dict[object, dict[str, Any]]] = {
    int: {"type": "string", "pattern": f"^{DECIMAL_PATTERN}$", "maxLength": MAX_DIGITS},
    bytes: {"type": "string", "pattern": f"^{HEX_PATTERN}$"},
    bool: {"type": "boolean"},
    NoneType: {"type": "null"},
    Decimal: {"type": "string", "pattern": f"^({NUMBER_PATTERN})$"},
}

DERIVED: Final = "derived"
"""The keyword that marks a derived field in a schema."""


def json_schema(cls: type, title: str) -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of the values of `cls`."""
    definitions: dict[str, Any] = {}
    root = _schema_of(cls, definitions)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": title,
        **root,
        "$defs": definitions,
    }


def _schema_of(kind: Any, definitions: dict[str, Any]) -> dict[str, Any]:  # noqa: ANN401 - a type
    if kind in _SCALARS:
        return _SCALARS[kind]
    origin, args = get_origin(kind), get_args(kind)
    if origin is Literal:
        return {"enum": list(args)}
    if origin in (Union, UnionType):
        return {"anyOf": [_schema_of(arg, definitions) for arg in args]}
    if origin is tuple and args[-1] is Ellipsis:
        return {"type": "array", "items": _schema_of(args[0], definitions)}
    if origin is tuple:
        parts = [_schema_of(arg, definitions) for arg in args]
        return {"type": "array", "prefixItems": parts, "items": False, "minItems": len(parts)}
    if kind.__name__ not in definitions:
        definitions[kind.__name__] = {}
        definitions[kind.__name__] = _schema_of_class(kind, definitions)
    return {"$ref": f"#/$defs/{kind.__name__}"}


def _schema_of_class(cls: type, definitions: dict[str, Any]) -> dict[str, Any]:
    hints = get_type_hints(cls)
    attributes: tuple[Attribute[Any], ...] = fields(cls)
    properties = {json_name(cls, a.name): _schema_of(hints[a.name], definitions) for a in attributes}
    for name, kind in derived_kinds(cls).items():
        properties[json_name(cls, name)] = {**_schema_of(kind, definitions), DERIVED: True}
    return {
        "type": "object",
        "additionalProperties": False,
        "required": [json_name(cls, a.name) for a in attributes if a.default is NOTHING],
        "properties": properties,
    }
