"""The parts of a value, with their types and paths, and functions to replace one."""

from collections.abc import Callable, Hashable, Iterator
from functools import cache, lru_cache
from types import NoneType, UnionType
from typing import Any, Final, Literal, TypeAlias, Union, cast, get_args, get_origin, get_type_hints

from attrs import fields, frozen

from wireproof.cases.mutate.layout_facts import computed_fields
from wireproof.cases.mutate.mutation_rules import merged

PathStep: TypeAlias = str | int
"""A step of a path into a value: the name of a field, or an index of a tuple."""


@frozen
class PartType:
    """The type of a part.

    Attributes:
        holds: the kind of type; for a union, of its first alternative.
        null: whether the part may be None.
        of: the types of the elements, the words of an enumeration, or the alternative classes.
        others: the alternatives of a union, else empty.
    """

    holds: Literal["int", "bytes", "bool", "word", "list", "pair", "value"]
    null: bool
    of: tuple[Any, ...]
    others: tuple[Any, ...] = ()


@frozen
class EditSite:
    """A part of a value.

    Attributes:
        steps: the path to the part.
        kind: its type.
        now: its current value.
        owner: the class that has the part, directly or in a tuple.
        name: the field of that class.
    """

    steps: tuple[PathStep, ...]
    kind: PartType
    now: Any
    owner: type
    name: str


_SCALARS: Final[dict[Any, PartType]] = {
    int: PartType("int", null=False, of=()),
    bytes: PartType("bytes", null=False, of=()),
    bool: PartType("bool", null=False, of=()),
}


@lru_cache(maxsize=1024)
def part_type(hint: Any) -> PartType:  # noqa: ANN401 - a type, as annotations have it
    """Return the type of a part from its annotation."""
    if hint in _SCALARS:
        return _SCALARS[hint]
    origin, args = get_origin(hint), get_args(hint)
    if origin is Literal:
        return PartType("word", null=False, of=args)
    if origin in (Union, UnionType):
        alternatives = [arg for arg in args if arg is not NoneType]
        inner = part_type(alternatives[0])
        of = tuple(alternatives) if inner.holds == "value" else inner.of
        return PartType(
            inner.holds,
            len(alternatives) < len(args),
            of,
            tuple(alternatives) if len(alternatives) > 1 else (),
        )
    if origin is tuple:
        return (
            PartType("list", null=False, of=args[:1])
            if args[-1] is Ellipsis
            else PartType("pair", null=False, of=args)
        )
    return PartType("value", null=False, of=(hint,))


@lru_cache(maxsize=256)
def encoded_fields(cls: Hashable) -> tuple[tuple[str, PartType], ...]:
    """Return the fields of a value class that its encoder uses, with their types."""
    assert isinstance(cls, type)
    hints = get_type_hints(cls)
    computed = computed_fields().get(cls, _computed_fields().get(cls, ()))
    return tuple((a.name, part_type(hints[a.name])) for a in fields(cls) if a.name not in computed)


@cache
def _computed_fields() -> dict[type, tuple[str, ...]]:
    """Return class to fields that the encoder computes, for classes without a layout."""
    return merged(lambda rules: rules.computed)


def edit_sites(value: Any) -> Iterator[EditSite]:  # noqa: ANN401 - a value class
    """Yield every part of a value, outer parts first, without recursion."""
    pending: list[EditSite] = [EditSite((), PartType("value", null=False, of=()), value, type(value), "")]
    while pending:
        site = pending.pop()
        yield site
        if site.kind.holds in _SCALAR_NAMES or site.now is None:
            continue
        pending += _parts(site)


_SCALAR_NAMES: Final = frozenset(("int", "bytes", "bool", "word"))
"""The types without parts."""


def _parts(site: EditSite) -> list[EditSite]:
    steps, now, of = site.steps, site.now, site.kind.of
    match site.kind.holds:
        case "list":
            inner = part_type(of[0])
            return [EditSite((*steps, at), inner, part, site.owner, site.name) for at, part in enumerate(now)]
        case "pair":
            pairs = enumerate(zip(of, now, strict=True))
            return [
                EditSite((*steps, at), part_type(hint), part, site.owner, site.name)
                for at, (hint, part) in pairs
            ]
        case _:
            cls = type(now)
            rows = encoded_fields(cast("Hashable", cls))
            parts = ((name, kind, getattr(now, name)) for name, kind in rows)
            return [
                EditSite((*steps, name), _actual_kind(kind, part), part, cls, name)
                for name, kind, part in parts
            ]


def _actual_kind(kind: PartType, now: object) -> PartType:
    """Return the type of the current value: headers are a list, or bytes if the block is not a map.

    The content of a Heka frame keeps its type: an option says which of the two is encoded.
    """
    if kind.holds == "value" and bytes in kind.of:
        return part_type(cast("Hashable", type(now)))
    is_block = kind.holds == "list" and isinstance(now, bytes)
    return PartType("bytes", null=False, of=(), others=kind.others) if is_block else kind


def replace_part(value: Any, steps: tuple[PathStep, ...], new: Any) -> Any:  # noqa: ANN401 - parts of a value
    """Return the value with the part at `steps` replaced. The validators of its classes may raise."""
    return change_part(value, steps, lambda _: new)


def change_part(value: Any, steps: tuple[PathStep, ...], change: Callable[[Any], Any]) -> Any:  # noqa: ANN401 - as `replace_part`
    """Return the value with the function `change` applied to the part at `steps`."""
    if not steps:
        return change(value)
    first, rest = steps[0], steps[1:]
    if isinstance(first, int):
        return (*value[:first], change_part(value[first], rest, change), *value[first + 1 :])
    parts = {name: getattr(value, name) for name in constructor_fields(cast("Hashable", type(value)))}
    parts[first] = change_part(parts[first], rest, change)
    return type(value)(**parts)


@lru_cache(maxsize=256)
def constructor_fields(cls: Hashable) -> tuple[str, ...]:
    """Return the arguments of the constructor of a value class."""
    assert isinstance(cls, type)
    return tuple(a.name for a in fields(cls) if a.init)
