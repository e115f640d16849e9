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
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from functools import cache, partial
from itertools import repeat
from types import NoneType, UnionType
from typing import (
    TYPE_CHECKING,
    Any,
    Final,
    Literal,
    TypeAlias,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from attrs import NOTHING, fields, has

from wireproof.wire.rejection import Rejected

if TYPE_CHECKING:  # what a caller may give; a list of dictionaries would be no `list[Json]`
    Json: TypeAlias = "str | bool | int | Sequence[Json] | Mapping[str, Json] | None"
else:  # what is read, by the types that the reader of fixtures and answers resolves
    Json = "str | bool | int | list[Json] | dict[str, Json] | None"
"""A value in JSON form. Only `at`, `consumed` and `length` are JSON integers; no field of a format is one."""

T = TypeVar("T")

DECIMAL_PATTERN: Final = r"-?(0|[1-9][0-9]*)"
NUMBER_PATTERN: Final = r"-?(0|[1-9][0-9]*)(\.[0-9]*[1-9])?|-?inf|NaN"
"""A number without exponent, or what is no number in IEEE 754."""
HEX_PATTERN: Final = r"([0-9a-f]{2})*"
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
    tree: Json = _COMPLETE(value) if with_derived else _PLAIN(value)
    return tree


def json_of(value: Any, *, with_derived: bool = False) -> Json:  # noqa: ANN401 - a value class, or its JSON
    """Return the JSON form of a value class; return JSON unchanged."""
    if has(type(value)):
        return to_json(value, with_derived=with_derived)
    tree: Json = value
    return tree


def from_json(cls: type[T], tree: Json) -> T:
    """Return the value of class `cls` with the JSON form `tree`.

    Raises:
        Rejected: `invalid-value`, with the path of the first wrong field.
    """
    try:
        value: T = _reader(cls)(tree)
    except _PartError as wrong:
        raise Rejected("invalid-value", -1, wrong.path.lstrip("."), wrong.text) from None
    except RecursionError:
        raise Rejected("invalid-value", -1, "", "nested too deeply") from None
    return value


def canonical_json(tree: Json) -> bytes:
    """Return the canonical bytes of a JSON value: sorted keys, no spaces."""
    return json.dumps(tree, sort_keys=True, separators=(",", ":")).encode()


def json_digest(tree: Json) -> str:
    """Return the canonical digest of a JSON value in hex: blake2b, 16 bytes. Bulk runs compare digests."""
    from hashlib import blake2b  # noqa: PLC0415 - it loads OpenSSL, which only bulk runs need

    return blake2b(canonical_json(tree), digest_size=16).hexdigest()


# --- values to JSON ---


def _writer(*, with_derived: bool) -> Callable[[Any], Any]:
    """Return the function of a value that returns its JSON form."""

    def write(value: Any) -> Any:  # noqa: ANN401 - a value or a part of one, and JSON
        kind = type(value)
        if kind not in writers:
            writers[kind] = _object_writer(kind, write, with_derived=with_derived)
        return writers[kind](value)

    def write_all(values: Iterable[Any]) -> list[Any]:
        return [write(value) for value in values]

    writers: dict[type, Callable[[Any], Any]] = {
        int: str, float: repr, bytes: bytes.hex, bool: _same, str: _same, NoneType: _same,
        tuple: write_all, list: write_all,
    }  # fmt: skip
    return write


def _same(value: Any) -> Any:  # noqa: ANN401 - a leaf whose JSON it is itself
    return value


def _object_writer(cls: type, write: Callable[[Any], Any], *, with_derived: bool) -> Callable[[Any], Any]:
    """Return the function of an object of `cls`, compiled from its fields as attrs compiles `__init__`."""
    kinds, hints = derived_kinds(cls), get_type_hints(cls)
    parts = [
        f"{json_name(cls, one.name)!r}: {_expression(hints[one.name], f'value.{one.name}')}"
        for one in fields(cls)
        if one.name not in kinds
    ]
    lines = ["def write_object(value):", f"    tree = {{{', '.join(parts)}}}"]
    if with_derived and hasattr(cls, "add_derived"):
        lines.append("    value.add_derived(tree)")
    names: dict[str, Any] = {"write": write}
    exec("\n".join([*lines, "    return tree"]), names)  # noqa: S102 - the names of a class of ours
    made: Callable[[Any], Any] = names["write_object"]
    return made


def _expression(kind: Any, value: str) -> str:  # noqa: ANN401 - a type
    """Return the expression of the JSON form of `value`, which has the type `kind`."""
    if kind is int:
        return f"str({value})"
    if kind is bytes:
        return f"{value}.hex()"
    if kind is bool or get_origin(kind) is Literal:
        return value
    return f"write({value})"


_PLAIN: Final = _writer(with_derived=False)
_COMPLETE: Final = _writer(with_derived=True)


# --- JSON to values ---


class _PartError(ValueError):
    """A part is no value of its type; `path` grows from the inside."""

    def __init__(self, text: str, path: str = "") -> None:
        self.text = text
        self.path = path


PartReader: TypeAlias = Callable[[Any], Any]
"""A function that makes a part of a value from JSON; it raises `_PartError`."""


def _integer(text: object) -> int:
    if not isinstance(text, str) or len(text) > MAX_DIGITS or not re.fullmatch(DECIMAL_PATTERN, text):
        raise _PartError("expected an integer as a decimal string")
    return int(text)


def _octets(text: object) -> bytes:
    if isinstance(text, str):
        with suppress(ValueError):
            data = bytes.fromhex(text)
            if data.hex() == text:  # `fromhex` allows capitals and blanks; a pattern is slow
                return data
    raise _PartError("expected bytes as lower-case hex")


def _boolean(value: object) -> bool:
    if not isinstance(value, bool):
        raise _PartError("expected true or false")
    return value


def _number(value: object) -> Decimal:
    if not isinstance(value, str) or not re.fullmatch(NUMBER_PATTERN, value):
        raise _PartError("expected a number as a decimal string")
    return Decimal(value)


_READERS: Final[dict[Any, PartReader]] = {
    int: _integer, bytes: _octets, bool: _boolean, Decimal: _number,
}  # fmt: skip


def _reader(kind: Any) -> PartReader:  # noqa: ANN401 - a type
    """Return the function that makes a value of a type, or a part of one."""
    if kind not in _READERS:
        origin, args = get_origin(kind), get_args(kind)
        if origin is Literal:
            _READERS[kind] = partial(_word, args)
        elif origin is tuple:
            _READERS[kind] = partial(_parts, args)
        elif origin in (Union, UnionType):
            _READERS[kind] = _union_reader(args)
        else:
            _READERS[kind] = _object_reader(kind)
    return _READERS[kind]


def _word(words: tuple[object, ...], value: object) -> object:
    if value not in words:
        raise _PartError(f"expected one of {', '.join(map(str, words))}")
    return value


def _parts(kinds: tuple[Any, ...], tree: object) -> tuple[Any, ...]:
    if not isinstance(tree, list | tuple):
        raise _PartError("expected a list")
    if kinds[-1] is not Ellipsis and len(kinds) != len(tree):
        raise _PartError(f"expected {len(kinds)} values, got {len(tree)}")
    own = map(_reader, kinds) if kinds[-1] is not Ellipsis else repeat(_reader(kinds[0]))
    parts: list[Any] = []
    try:
        parts += (read_part(part) for read_part, part in zip(own, tree, strict=False))
    except _PartError as wrong:
        wrong.path = f"[{len(parts)}]{wrong.path}"
        raise
    return tuple(parts)


def _union_reader(kinds: tuple[Any, ...]) -> PartReader:
    """Return the reader of several types, of which the JSON itself tells one: by its kind, or its fields."""
    classes = [kind for kind in kinds if has(kind)]
    lists = [kind for kind in kinds if get_origin(kind) is tuple]
    leaves = [kind for kind in kinds if kind not in (*classes, *lists, NoneType, bool)]

    def read(tree: object) -> Any:  # noqa: ANN401 - a part of a value
        if (tree is None and NoneType in kinds) or (isinstance(tree, bool) and bool in kinds):
            return tree
        if classes and (isinstance(tree, dict) or not (leaves or lists)):
            return _reader(_class_of(tree, classes))(tree)
        if lists and (isinstance(tree, list | tuple) or not leaves):
            return _reader(lists[0])(tree)
        return _reader(leaves[0])(tree)

    return read


def _class_of(tree: object, classes: Sequence[type]) -> type:
    """Return the class that has a field of `tree` which no other class has, or else the one without any."""
    if len(classes) == 1 or not isinstance(tree, dict):
        return classes[0]
    names = Counter(name for cls in classes for name in _names(cls))
    own = {cls: {name for name in _names(cls) if names[name] == 1} for cls in classes}
    found = [cls for cls in classes if own[cls] & tree.keys()] or [cls for cls in classes if not own[cls]]
    if not found:
        raise _PartError(f"expected the fields of one of {', '.join(cls.__name__ for cls in classes)}")
    return found[0]


@cache
def _names(cls: type) -> frozenset[str]:
    """Return the names in JSON of the fields of a class, derived ones too."""
    names = [*(one.name for one in fields(cls)), *derived_kinds(cls)]
    return frozenset(json_name(cls, name) for name in names)


@cache
def _rows(cls: type) -> list[tuple[str, str, PartReader, bool]]:
    """Return name in JSON, name, reader and whether it must be there, of each field and derived field."""
    hints = get_type_hints(cls)
    kinds = {name: (kind, False) for name, kind in derived_kinds(cls).items()}
    kinds |= {one.name: (hints[one.name], one.default is NOTHING) for one in fields(cls)}
    return [(json_name(cls, name), name, _reader(kind), needed) for name, (kind, needed) in kinds.items()]


def _object_reader(cls: type) -> PartReader:
    """Return the reader of an object, which checks derived fields and drops those that are not stored."""
    dropped = derived_kinds(cls).keys() - {one.name for one in fields(cls)}
    names = _names(cls)

    def read(tree: object) -> object:
        if not isinstance(tree, dict):
            raise _PartError("expected an object")
        values = {}
        key = ""
        try:
            for key, name, read_part, needed in _rows(cls):
                if key in tree:
                    values[name] = read_part(tree[key])
                elif needed:
                    raise _PartError("is missing")  # noqa: TRY301 - its path is added below
        except _PartError as wrong:
            wrong.path = f".{key}{wrong.path}"
            raise
        if unknown := sorted(tree.keys() - names):
            raise _PartError(f"has no field {unknown[0]}")
        for name in dropped:
            values.pop(name, None)
        try:
            return cls(**values)
        except Rejected as rejected:  # by the class itself
            raise _PartError(rejected.text) from None

    return read


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
        definitions[kind.__name__] = {}  # it may contain itself
        hints, attributes = get_type_hints(kind), fields(kind)
        properties = {json_name(kind, a.name): _schema_of(hints[a.name], definitions) for a in attributes}
        for name, own in derived_kinds(kind).items():
            properties[json_name(kind, name)] = {**_schema_of(own, definitions), DERIVED: True}
        definitions[kind.__name__] = {
            "type": "object",
            "additionalProperties": False,
            "required": [json_name(kind, a.name) for a in attributes if a.default is NOTHING],
            "properties": properties,
        }
    return {"$ref": f"#/$defs/{kind.__name__}"}
