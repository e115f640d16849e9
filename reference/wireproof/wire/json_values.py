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
import re
from collections.abc import Callable
from contextlib import suppress
from decimal import Decimal
from functools import wraps
from hashlib import blake2b
from types import NoneType, UnionType
from typing import Any, Final, Literal, TypeAlias, TypeVar, Union, get_args, get_origin, get_type_hints

import cattrs
from attrs import NOTHING, Attribute, field, fields, has, make_class
from cattrs.errors import IterableValidationError, IterableValidationNote
from cattrs.gen import make_dict_structure_fn, make_dict_unstructure_fn, override

from wireproof.wire.rejection import Rejected

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
        cls.__wire_derived__ = kinds  # type: ignore[attr-defined] # `_derived_kinds` reads it
        return cls

    return mark


def _derived_kinds(cls: type) -> dict[str, Any]:
    """Return the derived fields of a class by name, with their types."""
    kinds: dict[str, Any] = getattr(cls, "__wire_derived__", {})
    return kinds


def json_name(cls: type, name: str) -> str:
    """Return the JSON name of the field `name` of `cls`."""
    if not getattr(cls, "__wire_camel__", False):
        return name
    head, *tail = name.split("_")
    return head + "".join(word.capitalize() for word in tail)


def _integer(text: object, _: type) -> int:
    if not isinstance(text, str) or len(text) > MAX_DIGITS or not re.fullmatch(DECIMAL_PATTERN, text):
        raise ValueError("expected an integer as a decimal string")
    return int(text)


def _octets(text: object, _: type) -> bytes:
    if isinstance(text, str):
        with suppress(ValueError):
            data = bytes.fromhex(text)
            if data.hex() == text:  # `fromhex` allows capitals and blanks; a pattern is slow
                return data
    raise ValueError("expected bytes as lower-case hex")


def _boolean(value: object, _: type) -> bool:
    if not isinstance(value, bool):
        raise ValueError("expected true or false")  # noqa: TRY004 - cattrs collects ValueErrors
    return value


def _is_tuple(kind: Any) -> bool:  # noqa: ANN401 - a type
    return get_origin(kind) is tuple


def _tuple(tree: object, kind: Any) -> tuple[Any, ...]:  # noqa: ANN401 - a type
    """Convert a list up to its first wrong element: cattrs would go on, and would accept a text as a list."""
    if not isinstance(tree, list | tuple):
        raise ValueError("expected a list")  # noqa: TRY004 - cattrs collects ValueErrors
    kinds = get_args(kind)
    if kinds[-1] is Ellipsis:
        kinds = kinds[:1] * len(tree)
    if len(kinds) != len(tree):
        raise ValueError(f"expected {len(kinds)} values, got {len(tree)}")
    hooks = {inner: _CONVERTER.get_structure_hook(inner) for inner in dict.fromkeys(kinds)}
    parts: list[Any] = []
    for index, (part, inner) in enumerate(zip(tree, kinds, strict=True)):
        try:
            parts.append(hooks[inner](part, inner))
        except Exception as error:  # noqa: BLE001 - as in cattrs: the note adds the position of the error
            error.add_note(IterableValidationNote(f"at {index}", index, inner))
            raise IterableValidationError("a list", [error], kind) from None
    return tuple(parts)


def _bytes_or_value(kind: Any) -> bool:  # noqa: ANN401 - a type
    """Return True for a union of bytes and a value class: in JSON a string and an object differ."""
    args = get_args(kind)
    return get_origin(kind) in (Union, UnionType) and len(args) == 2 and bytes in args and any(map(has, args))


def _octets_or_value(tree: object, kind: Any) -> Any:  # noqa: ANN401 - a type, and a value of it
    if isinstance(tree, str):
        return _octets(tree, bytes)
    return _CONVERTER.structure(tree, next(arg for arg in get_args(kind) if has(arg)))


def _bytes_or_list(kind: Any) -> bool:  # noqa: ANN401 - a type
    """Return True for a union of bytes and a tuple: in JSON a string and an array differ."""
    args = get_args(kind)
    union = get_origin(kind) in (Union, UnionType)
    return union and bytes in args and any(get_origin(arg) is tuple for arg in args)


def _octets_or_list(tree: object, kind: Any) -> Any:  # noqa: ANN401 - a type, and a value of it
    if isinstance(tree, str):
        return _octets(tree, bytes)
    return _tuple(tree, next(arg for arg in get_args(kind) if get_origin(arg) is tuple))


def _decimal_or_boolean(value: object, _: object) -> Decimal | bool | None:
    if value is None or isinstance(value, bool):
        return value
    if not isinstance(value, str) or not re.fullmatch(NUMBER_PATTERN, value):
        raise ValueError("expected a number as a decimal string, true, false or null")
    return Decimal(value)


def _names(cls: type) -> dict[str, Any]:
    return {a.name: override(rename=json_name(cls, a.name)) for a in fields(cls)}


def _structure_hook(cls: type, converter: cattrs.Converter) -> Callable[[Any, Any], Any]:
    """Return the conversion from JSON; it checks derived fields, and drops those that are not stored."""
    structure: Callable[[Any, Any], Any] = make_dict_structure_fn(
        cls, converter, _cattrs_forbid_extra_keys=True, **_names(cls)
    )
    stored = {a.name for a in fields(cls)}
    kinds = {name: kind for name, kind in _derived_kinds(cls).items() if name not in stored}
    if not kinds:
        return structure
    optional = make_class(f"Derived{cls.__name__}", {name: _optional(kind) for name, kind in kinds.items()})
    rename: dict[str, Any] = {name: override(rename=json_name(cls, name)) for name in kinds}
    names = frozenset(json_name(cls, name) for name in kinds)
    check: Callable[[Any, Any], Any] = make_dict_structure_fn(optional, converter, **rename)

    @wraps(structure)  # with its names of the fields, which select the class in a union
    def without_derived(tree: Any, kind: Any) -> Any:  # noqa: ANN401 - JSON, and a type
        if isinstance(tree, dict) and not names.isdisjoint(tree):
            check({name: tree[name] for name in tree if name in names}, optional)
            tree = {name: part for name, part in tree.items() if name not in names}
        return structure(tree, kind)

    return without_derived


def _optional(kind: Any) -> Any:  # noqa: ANN401 - a type, and a field of it
    return field(default=None, type=kind)


def _unstructure_hook(cls: type, converter: cattrs.Converter, *, with_derived: bool) -> Callable[[Any], Any]:
    """Return the conversion to JSON, without or with derived fields."""
    kinds = _derived_kinds(cls)
    stored = {a.name: override(omit=True) for a in fields(cls) if a.name in kinds}
    unstructure: Callable[[Any], Any] = make_dict_unstructure_fn(cls, converter, **_names(cls) | stored)
    if not (with_derived and hasattr(cls, "add_derived")):
        return unstructure

    def completed(value: Any) -> dict[str, Any]:  # noqa: ANN401 - an instance of the class
        tree: dict[str, Any] = unstructure(value)
        value.add_derived(tree)
        return tree

    return completed


def _converter(*, with_derived: bool) -> cattrs.Converter:
    converter = cattrs.Converter(forbid_extra_keys=True)
    converter.register_structure_hook(int, _integer)
    converter.register_structure_hook(bytes, _octets)
    converter.register_structure_hook(bool, _boolean)
    converter.register_structure_hook(Decimal | bool | None, _decimal_or_boolean)
    converter.register_structure_hook_func(_is_tuple, _tuple)
    converter.register_structure_hook_func(_bytes_or_list, _octets_or_list)
    converter.register_structure_hook_func(_bytes_or_value, _octets_or_value)
    converter.register_unstructure_hook(int, str)
    converter.register_unstructure_hook(bool, lambda value: value)
    converter.register_unstructure_hook(bytes, bytes.hex)
    converter.register_unstructure_hook(tuple, lambda value: [converter.unstructure(part) for part in value])
    converter.register_structure_hook_factory(has, lambda cls: _structure_hook(cls, converter))
    converter.register_unstructure_hook_factory(
        has, lambda cls: _unstructure_hook(cls, converter, with_derived=with_derived)
    )
    return converter


_CONVERTER: Final = _converter(with_derived=False)
_COMPLETING: Final = _converter(with_derived=True)


def to_json(value: Any, *, with_derived: bool = False) -> Json:  # noqa: ANN401 - any value class
    """Return the JSON form of a value, with its derived fields if `with_derived` is true."""
    tree: Json = _with_lists((_COMPLETING if with_derived else _CONVERTER).unstructure(value))
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
    try:
        return _CONVERTER.structure(tree, cls)
    except RecursionError:
        raise Rejected("invalid-value", -1, "", "nested too deeply") from None
    except (cattrs.BaseValidationError, AttributeError, LookupError, TypeError, ValueError) as error:
        first = cattrs.transform_error(error, path="")[0]
        text, _, path = first.rpartition(" @ ")
        raise Rejected("invalid-value", -1, path.lstrip("."), text or first) from None


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
    for name, kind in _derived_kinds(cls).items():
        properties[json_name(cls, name)] = {**_schema_of(kind, definitions), DERIVED: True}
    return {
        "type": "object",
        "additionalProperties": False,
        "required": [json_name(cls, a.name) for a in attributes if a.default is NOTHING],
        "properties": properties,
    }
