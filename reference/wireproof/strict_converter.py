"""The converter for JSON and TOML that people and other programs write, and its errors.

cattrs alone reads "7" as a number, a string as a list of its characters, and reports a fault as a tree. Here
every value must have its exact type, no field may be unknown, and a fault is one line that names the field.
"""

import re
import reprlib
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Final, Literal, TypeVar, get_args, get_origin

import cattrs
from attrs import fields, fields_dict, has
from cattrs.errors import (
    ClassValidationError,
    ForbiddenExtraKeysError,
    IterableValidationError,
    IterableValidationNote,
)
from cattrs.gen import make_dict_structure_fn, make_dict_unstructure_fn, override

from wireproof.suggestions import suggestion

JSON_NAME: Final = "json"
"""The key of an attribute's metadata with its name in JSON, if that differs from its name in Python."""

FEW_WORDS: Final = 8
"""An error lists at most so many words; of more words it suggests the nearest."""

END_OF_POSITIONS: Final = 1 << 63
"""No input has this many bytes."""

POSITION: Final = re.compile(r"(0|[1-9][0-9]*)(>(0|[1-9][0-9]*))+")
"""A position in decompressed data: the position of the compressed data on the wire, then that in it."""

MAX_DIGITS: Final = 20
"""Limit for the digits of an integer: 64 bits need 20 with their sign."""

T = TypeVar("T")

Hook = Callable[[Any, Any], Any]
"""A function that makes an object from JSON: its arguments are the JSON and the type."""


class FieldError(ValueError):
    """A field is missing, unknown or wrong; the text is one line that names it."""


def shorten_value(value: object) -> str:
    """Describe a wrong value, short enough for one line."""
    text = repr(value[:64]) if isinstance(value, str) else reprlib.repr(value)
    return text if len(text) <= 40 else f"{text[:39]}…"


def wrong(description: str, value: object) -> ValueError:
    """Return the error for a value that is not as described; `structure` puts the field's name before it."""
    return ValueError(f"must be {description}, got {shorten_value(value)}")


def structure(converter: cattrs.Converter, tree: object, kind: type[T], owner: str) -> T:
    """Return the object of class `kind` that `tree` describes.

    Raises:
        FieldError: the tree does not describe one; `owner` is its name in the text.
    """
    try:
        return converter.structure(tree, kind)
    except (cattrs.BaseValidationError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise FieldError(_line(error, "", owner)) from None


def _line(error: BaseException, path: str, owner: str) -> str:
    """Return the first fault of an error at `path`, as one line."""
    match error:
        case IterableValidationError():
            inner, step = error.group_exceptions()[0][0]
            return _line(inner, f"{path}[{step.index!r}]", owner)
        case ClassValidationError():
            noted, unknown = error.group_exceptions()
            if unknown:  # first: a misspelt name explains the missing one
                return _line(unknown[0], path, owner)
            inner, attribute = noted[0]
            name = json_name(error.cl, attribute.name)
            return _line(inner, f"{path}.{name}" if path else name, owner)
        case _:
            return f"{path or owner} {_fault(error)}"


def _fault(error: BaseException) -> str:
    match error:
        case ForbiddenExtraKeysError():
            return f"has no field {shorten_value(min(error.extra_fields))}"
        case KeyError():
            return "is missing"
        case AttributeError():  # raised by cattrs for a mapping: the value has no items
            return "must be an object"
        case _:
            return str(error)


def strict_converter(*, omit_defaults: bool = False) -> cattrs.Converter:
    """Return a converter that changes no type and allows no unknown field.

    With `omit_defaults` it leaves out fields with their default when it makes JSON.
    """
    converter = cattrs.Converter(forbid_extra_keys=True)
    for kind, description in ((int, "a whole number"), (str, "a string"), (bool, "true or false")):
        converter.register_structure_hook(kind, exactly(kind, description))
    converter.register_structure_hook(bytes, octets)
    converter.register_structure_hook_func(_is_literal, one_of)
    converter.register_structure_hook_func(lambda kind: kind == int | str | None, position)
    converter.register_structure_hook_factory(_is_list, lambda kind: _list_hook(kind, converter))
    converter.register_structure_hook_factory(has, lambda cls: object_hook(cls, converter))
    converter.register_unstructure_hook_factory(
        has,
        lambda cls: make_dict_unstructure_fn(
            cls, converter, _cattrs_omit_if_default=omit_defaults, **_overrides(cls)
        ),
    )
    return converter


def exactly(kind: type, description: str) -> Hook:
    """Return the hook of a type without subclasses: JSON's `true` is no number."""

    def hook(value: object, _: object) -> object:
        if type(value) is not kind:
            raise wrong(description, value)
        return value

    return hook


def count(value: object, _: object) -> int:
    """Return `value` if it is a whole number from 0 on."""
    if type(value) is not int or value < 0:
        raise wrong("a whole number from 0 on", value)
    return value


def decimal(value: object, _: object) -> int:
    """Return the integer of a decimal text."""
    if not isinstance(value, str) or len(value) > MAX_DIGITS or not re.fullmatch(r"-?(0|[1-9][0-9]*)", value):
        raise wrong("an integer as a decimal string", value)
    return int(value)


def octets(value: object, _: object) -> bytes:
    """Return the bytes of lower-case hex; `bytes.fromhex` alone allows capitals and blanks too."""
    if isinstance(value, str):
        try:
            data = bytes.fromhex(value)
        except ValueError:
            data = None
        if data is not None and data.hex() == value:
            return data
    raise wrong("bytes in lower-case hex", value)


def one_of(value: object, kind: object) -> object:
    """Return `value` if it is one of the words of a literal type."""
    words = get_args(kind)
    if value in words:
        return value
    if len(words) > FEW_WORDS:
        raise ValueError(f"is unknown: {shorten_value(value)}; {suggestion(str(value), words)}")
    raise wrong(f"one of {', '.join(words)}", value)


def position(value: object, _: object) -> object:
    """Return `value` if it is a position: a number, -1 for none, a path such as `61>12`, or null."""
    if value is None:
        return value
    if type(value) is int and -1 <= value < END_OF_POSITIONS:
        return value
    if isinstance(value, str) and len(value) <= 256 and POSITION.fullmatch(value):
        return value
    raise wrong("a position such as 17 or 61>3", value)


def unchanged(value: object, _: object) -> object:
    """Return `value`: the hook of a field that may have any JSON."""
    return value


def object_hook(cls: type, converter: cattrs.Converter, /, **hooks: Hook | None) -> Hook:
    """Return the hook of an attrs class; `hooks` are those of single fields, None leaves a field out."""
    special = {
        name: override(omit=True) if hook is None else override(struct_hook=hook, rename=json_name(cls, name))
        for name, hook in hooks.items()
    }
    settings = {**_overrides(cls), **special, "_cattrs_forbid_extra_keys": True}
    quick: Hook = make_dict_structure_fn(cls, converter, _cattrs_detailed_validation=False, **settings)

    @cache  # made by the first fault, and not again by each further one
    def slow() -> Hook:
        return make_dict_structure_fn(cls, converter, _cattrs_detailed_validation=True, **settings)

    def hook(tree: object, kind: object) -> object:
        if type(tree) is not dict and not isinstance(tree, Mapping):
            raise wrong("an object", tree)
        try:
            return quick(tree, kind)
        except Exception:  # noqa: BLE001 - it fails again in the slow function, which names the field
            return slow()(tree, kind)

    return hook


def _overrides(cls: type) -> dict[str, Any]:
    return {a.name: override(rename=a.metadata[JSON_NAME]) for a in fields(cls) if JSON_NAME in a.metadata}


def json_name(cls: type, name: str) -> str:
    """Return the name in JSON of the attribute `name` of `cls`."""
    json: str = fields_dict(cls)[name].metadata.get(JSON_NAME, name)
    return json


def _is_literal(kind: Any) -> bool:  # noqa: ANN401 - a type
    return get_origin(kind) is Literal


def _is_list(kind: Any) -> bool:  # noqa: ANN401 - a type
    return get_origin(kind) is tuple and get_args(kind)[-1] is Ellipsis


def _list_hook(kind: object, converter: cattrs.Converter) -> Hook:
    """Return the hook of a tuple type; it ends at the first wrong element."""
    inner = get_args(kind)[0]
    element = converter.get_structure_hook(inner)

    def hook(tree: object, _: object) -> tuple[object, ...]:
        if not isinstance(tree, list | tuple):
            raise wrong("a list", tree)
        parts: list[object] = []
        for index, part in enumerate(tree):
            try:
                parts.append(element(part, inner))
            except Exception as error:  # noqa: BLE001 - as in cattrs: the note adds the index of the error
                error.add_note(IterableValidationNote(f"at {index}", index, inner))
                raise IterableValidationError("a list", [error], tuple) from None
        return tuple(parts)

    return hook
