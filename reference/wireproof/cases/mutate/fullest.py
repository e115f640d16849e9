"""Maximal values: for each format, values in which every part is present. They replace useless parents.

From a minimal value most deep states of a codec are several edits away, from a maximal value mostly one.
"""

from functools import cache, lru_cache
from itertools import count
from types import NoneType, UnionType
from typing import Any, Final, Union, get_args, get_origin, get_type_hints

from attrs import evolve, fields, has

from wireproof.cases.mutate.least import least, seed, written
from wireproof.cases.mutate.mended import mended
from wireproof.cases.mutate.mutation_rules import merged, rules_of
from wireproof.formats import Format
from wireproof.wire.rejection import Rejected


@cache
def _made() -> dict[Any, Any]:
    """Return class to value, for classes whose parts depend on one another."""
    return merged(lambda rules: rules.full())


@cache
def _elements() -> dict[Any, tuple[Any, ...]]:
    """Return class to the elements of a list, for classes whose instances have different types."""
    return merged(lambda rules: rules.elements())


def full(kind: Any, name: str = "", turn: int = 0) -> Any:  # noqa: ANN401 - a type, and a value of it
    """Return a value of a type whose lists have an element of each type and whose optional parts are present.

    For a union, `turn` selects the alternative.
    """
    if kind in _made():
        return _made()[kind]
    origin, args = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        some = _alternatives(args)
        return full(some[turn % len(some)], name, turn)
    if origin is tuple and args[-1] is Ellipsis:
        return _listed(args[0], name, turn)
    if origin is tuple:
        return tuple(full(arg, "key", turn) for arg in args)
    if isinstance(kind, type) and has(kind):
        hints = get_type_hints(kind)
        return kind(**{a.name: full(hints[a.name], a.name, turn) for a in fields(kind) if a.init})
    return least(kind, name) or {int: 1, bytes: b"v"}.get(kind, least(kind, name))


def _alternatives(args: tuple[Any, ...]) -> list[Any]:
    """Return the types of a union; of bytes and a class only the class, for an option selects the bytes."""
    classes = [arg for arg in args if isinstance(arg, type) and has(arg)]
    return classes if bytes in args and classes else [arg for arg in args if arg is not NoneType]


_LATER: Final[dict[str, Any]] = {"payload": b"p", "offset": 2}


def _behind(kind: type) -> Any:  # noqa: ANN401 - as `full`
    """Return a minimal value that may follow another one: not empty, and in order."""
    value = least(kind)
    return evolve(value, **{name: given for name, given in _LATER.items() if hasattr(value, name)})


def _listed(kind: Any, name: str, turn: int) -> tuple[Any, ...]:  # noqa: ANN401 - as `full`
    """Return a list with an element of each type and a minimal last one, where readers often have bugs."""
    if kind in _elements():
        return _elements()[kind]
    sorts = get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)
    found = tuple(full(sort, name, turn) for sort in sorts)
    return (*found, _behind(kind)) if isinstance(kind, type) and has(kind) else found


@lru_cache(maxsize=256)
def samples(row: Format) -> tuple[bytes, ...]:
    """Return the distinct encodings of the maximal values of a format, one for each turn."""
    found: dict[bytes, None] = {}
    for turn in count():
        data = sample(row, turn)
        if data in found:
            break
        found[data] = None
    return tuple(found)


@lru_cache(maxsize=256)
def sample(row: Format, turn: int = 0) -> bytes:
    """Return the encoding of a maximal value of a format; if it cannot be encoded, of a minimal one."""
    value = rules_of(row).for_format(row, full(row.value, turn=turn))
    try:
        return written(row, mended(value))
    except Rejected:
        return seed(row)
