"""The conversion of values to JSON and back, by cattrs; `json_values` describes the form."""

import re
from collections.abc import Callable
from contextlib import suppress
from decimal import Decimal
from functools import wraps
from types import UnionType
from typing import Any, Final, TypeVar, Union, get_args, get_origin

import cattrs
from attrs import field, fields, has, make_class
from cattrs.errors import IterableValidationError, IterableValidationNote
from cattrs.gen import make_dict_structure_fn, make_dict_unstructure_fn, override

from wireproof.wire.json_values import (
    DECIMAL_PATTERN,
    MAX_DIGITS,
    NUMBER_PATTERN,
    Json,
    derived_kinds,
    json_name,
)
from wireproof.wire.rejection import Rejected

T = TypeVar("T")


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
    hooks = {inner: CONVERTER.get_structure_hook(inner) for inner in dict.fromkeys(kinds)}
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
    return CONVERTER.structure(tree, next(arg for arg in get_args(kind) if has(arg)))


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
    kinds = {name: kind for name, kind in derived_kinds(cls).items() if name not in stored}
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
    kinds = derived_kinds(cls)
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


CONVERTER: Final = _converter(with_derived=False)
COMPLETING: Final = _converter(with_derived=True)


def structure(cls: type[T], tree: Json) -> T:
    """Return the value of class `cls` with the JSON form `tree`.

    Raises:
        Rejected: `invalid-value`, with the path of the first wrong field.
    """
    try:
        return CONVERTER.structure(tree, cls)
    except RecursionError:
        raise Rejected("invalid-value", -1, "", "nested too deeply") from None
    except (cattrs.BaseValidationError, AttributeError, LookupError, TypeError, ValueError) as error:
        first = cattrs.transform_error(error, path="")[0]
        text, _, path = first.rpartition(" @ ")
        raise Rejected("invalid-value", -1, json_name(cls, path.lstrip(".")), text or first) from None
