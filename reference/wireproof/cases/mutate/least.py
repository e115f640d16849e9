"""Minimal values: the smallest value of each format. Generation starts from them if there is no corpus."""

from functools import cache, lru_cache
from types import NoneType, UnionType
from typing import Any, Final, Literal, Union, get_args, get_origin, get_type_hints

from attrs import fields

from wireproof.cases.mutate.mended import mended
from wireproof.cases.mutate.mutation_rules import merged, rules_of
from wireproof.formats import Format
from wireproof.wire.options import DEFAULT_OPTIONS, Options
from wireproof.wire.rejection import Rejected
from wireproof.wire.writer import Writer

_NAMED: Final = {"payload": b"p", "key": b"k"}
"""Name of a field to bytes, for fields that must not be empty."""


@cache
def _made() -> dict[Any, Any]:
    """Return class to value, for classes in which zeros are not valid."""
    return merged(lambda rules: rules.least)


@cache
def _named() -> dict[str, bytes]:
    return _NAMED | merged(lambda rules: rules.named)


@lru_cache(maxsize=512)
def least(kind: Any, name: str = "") -> Any:  # noqa: ANN401 - a type, and a value of it
    """Return the minimal value of a type: lists are empty and optional parts are None."""
    if kind in _made():
        return _made()[kind]
    origin, args = get_origin(kind), get_args(kind)
    if origin is Literal:
        return args[0]
    if origin in (Union, UnionType):
        return None if NoneType in args else least(args[0])
    if origin is tuple:
        return () if args[-1] is Ellipsis else tuple(least(arg, "key") for arg in args)
    return _scalar(kind, name) if kind in (int, bool, bytes) else of_class(kind)


def _scalar(kind: Any, name: str) -> Any:  # noqa: ANN401 - as `least`
    return _named().get(name, b"") if kind is bytes else kind(0)


def of_class(kind: type) -> Any:  # noqa: ANN401 - an instance of it
    """Return the minimal instance of a value class."""
    hints = get_type_hints(kind)
    return kind(**{a.name: least(hints[a.name], a.name) for a in fields(kind)})


@lru_cache(maxsize=256)
def seed(row: Format) -> bytes:
    """Return the encoding of the minimal value of a format; lists that must not be empty have one element."""
    value = rules_of(row).for_format(row, least(row.value))
    one = _with_one(row.value, value)
    for candidate in (value, one, mended(one)):
        try:
            return written(row, candidate)
        except Rejected:
            continue
    return b""


def _with_one(kind: type, value: Any) -> Any:  # noqa: ANN401 - an instance of it
    """Return the value with one element in each empty list."""
    hints = get_type_hints(kind)
    parts = {a.name: getattr(value, a.name) for a in fields(kind)}
    for name, part in parts.items():
        if part == () and get_args(hints[name])[-1:] == (Ellipsis,):
            parts[name] = (least(get_args(hints[name])[0], name),)
    return kind(**parts)


def written(row: Format, value: Any, options: Options = DEFAULT_OPTIONS) -> bytes:  # noqa: ANN401 - of the row's class
    """Return the encoding of a value; raise `Rejected` (`invalid-value`) if it cannot be encoded."""
    writer = Writer()
    row.encode(writer, value, options)
    return bytes(writer.data)
