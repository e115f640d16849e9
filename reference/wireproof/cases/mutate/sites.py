"""The parts of a value by their types: where a value can be edited, and how it is rebuilt around an edit."""

from collections.abc import Callable, Hashable, Iterator
from functools import lru_cache
from types import NoneType, UnionType
from typing import Any, Final, Literal, TypeAlias, Union, cast, get_args, get_origin, get_type_hints

from attrs import fields, frozen, has

Step: TypeAlias = str | int
"""A field of a class, or a place in a tuple."""


@frozen
class Kind:
    """A type of a part: what it holds, `null` if it may be None, the type of its elements or alternatives."""

    holds: Literal["int", "bytes", "bool", "word", "list", "pair", "value"]
    null: bool
    of: tuple[Any, ...]


@frozen
class Site:
    """A part of a value: the steps to it, its kind, and what stands there."""

    steps: tuple[Step, ...]
    kind: Kind
    now: Any

    @property
    def name(self) -> str:
        """The last field on the way to it."""
        return next((step for step in reversed(self.steps) if isinstance(step, str)), "")


_SCALARS: Final[dict[Any, Kind]] = {
    int: Kind("int", null=False, of=()),
    bytes: Kind("bytes", null=False, of=()),
    bool: Kind("bool", null=False, of=()),
}


@lru_cache(maxsize=1024)
def kind_of(hint: Any) -> Kind:  # noqa: ANN401 - a type, as annotations have it
    """The kind of an annotation."""
    if hint in _SCALARS:
        return _SCALARS[hint]
    origin, args = get_origin(hint), get_args(hint)
    if origin is Literal:
        return Kind("word", null=False, of=args)
    if origin in (Union, UnionType):
        some = [arg for arg in args if arg is not NoneType]
        inner = kind_of(some[0])
        of = tuple(some) if inner.holds == "value" else inner.of
        return Kind(inner.holds, len(some) < len(args), of)
    if origin is tuple:
        return (
            Kind("list", null=False, of=args[:1])
            if args[-1] is Ellipsis
            else Kind("pair", null=False, of=args)
        )
    return Kind("value", null=False, of=(hint,))


@lru_cache(maxsize=256)
def parts_of(cls: Hashable) -> tuple[tuple[str, Kind], ...]:
    """The fields of a value class that its encoder looks at, with their kinds."""
    assert isinstance(cls, type)
    hints, computed = get_type_hints(cls), COMPUTED.get(cls.__name__, ())
    return tuple((a.name, kind_of(hints[a.name])) for a in fields(cls) if a.name not in computed)


COMPUTED: Final[dict[str, tuple[str, ...]]] = {
    "Record": ("offset", "timestamp", "control"),
    "Header": ("message_length",),
    "Frame": ("signer",),
    "Polled40": ("checksum",),
    "Stored30": ("checksum",),
}
"""Fields that an encoder computes: to edit them changes nothing."""


def sites(value: Any) -> Iterator[Site]:  # noqa: ANN401 - a value class
    """Every part of a value, the outer before the inner; iterative."""
    todo: list[Site] = [Site((), Kind("value", null=False, of=(type(value),)), value)]
    while todo:
        site = todo.pop()
        yield site
        match site.now:
            case None | int() | bytes() | str():
                pass
            case tuple() if site.kind.holds == "list":
                inner = kind_of(site.kind.of[0])
                todo += [Site((*site.steps, at), inner, part) for at, part in enumerate(site.now)]
            case tuple():
                pairs = enumerate(zip(site.kind.of, site.now, strict=True))
                todo += [Site((*site.steps, at), kind_of(hint), part) for at, (hint, part) in pairs]
            case part if has(type(part)):
                rows = parts_of(cast("Hashable", type(part)))
                todo += [Site((*site.steps, name), kind, getattr(part, name)) for name, kind in rows]


def put(value: Any, steps: tuple[Step, ...], new: Any) -> Any:  # noqa: ANN401 - parts of a value
    """The value with the part that `steps` lead to replaced; raises what its classes' validators raise."""
    return changed(value, steps, lambda _: new)


def changed(value: Any, steps: tuple[Step, ...], change: Callable[[Any], Any]) -> Any:  # noqa: ANN401 - as `put`
    """The value with the part that `steps` lead to changed."""
    if not steps:
        return change(value)
    first, rest = steps[0], steps[1:]
    if isinstance(first, int):
        return (*value[:first], changed(value[first], rest, change), *value[first + 1 :])
    parts = {a.name: getattr(value, a.name) for a in fields(type(value)) if a.init}
    parts[first] = changed(parts[first], rest, change)
    return type(value)(**parts)
