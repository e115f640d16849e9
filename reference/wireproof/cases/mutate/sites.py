"""The parts of a value by their types: where a value can be edited, and how it is rebuilt around an edit."""

from collections.abc import Callable, Hashable, Iterator
from functools import lru_cache
from types import NoneType, UnionType
from typing import Any, Final, Literal, TypeAlias, Union, cast, get_args, get_origin, get_type_hints

from attrs import fields, frozen

Step: TypeAlias = str | int
"""A field of a class, or a place in a tuple."""


@frozen
class Kind:
    """A type of a part.

    Attributes:
        holds: what stands there, of several alternatives the first.
        null: whether it may be None.
        of: the type of its elements, or the alternatives.
        others: where it may be of one type or of another, these types.
    """

    holds: Literal["int", "bytes", "bool", "word", "list", "pair", "value"]
    null: bool
    of: tuple[Any, ...]
    others: tuple[Any, ...] = ()


@frozen
class Site:
    """A part of a value: the steps to it, its kind, what stands there, and the field that it is of."""

    steps: tuple[Step, ...]
    kind: Kind
    now: Any
    owner: type
    name: str


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
        return Kind(inner.holds, len(some) < len(args), of, tuple(some) if len(some) > 1 else ())
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
    "Polled70": ("checksum",),
    "Polled90": ("checksum",),
    "Request": ("request_checksum",),
    "Framed": ("checksum", "offset", "timestamp", "origin_timestamp"),
    "Head": ("batch_checksum", "message_count"),
    "Batch": ("batch_checksum",),
    "Stored30": ("checksum",),
}
"""Fields that an encoder computes: to edit them changes nothing."""


def sites(value: Any) -> Iterator[Site]:  # noqa: ANN401 - a value class
    """Every part of a value, the outer before the inner; iterative."""
    todo: list[Site] = [Site((), Kind("value", null=False, of=()), value, type(value), "")]
    while todo:
        site = todo.pop()
        yield site
        if site.kind.holds in _WHOLE or site.now is None:
            continue
        todo += _parts(site)


_WHOLE: Final = frozenset(("int", "bytes", "bool", "word"))
"""What has no parts."""


def _parts(site: Site) -> list[Site]:
    steps, now, of = site.steps, site.now, site.kind.of
    match site.kind.holds:
        case "list":
            inner = kind_of(of[0])
            return [Site((*steps, at), inner, part, site.owner, site.name) for at, part in enumerate(now)]
        case "pair":
            pairs = enumerate(zip(of, now, strict=True))
            return [
                Site((*steps, at), kind_of(hint), part, site.owner, site.name) for at, (hint, part) in pairs
            ]
        case _:
            cls = type(now)
            rows = parts_of(cast("Hashable", cls))
            parts = ((name, kind, getattr(now, name)) for name, kind in rows)
            return [Site((*steps, name), _held(kind, part), part, cls, name) for name, kind, part in parts]


def _held(kind: Kind, now: object) -> Kind:
    """The kind of what stands there: headers are a list, or the bytes of a block that is none."""
    is_block = kind.holds == "list" and isinstance(now, bytes)
    return Kind("bytes", null=False, of=(), others=kind.others) if is_block else kind


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
    parts = {name: getattr(value, name) for name in names_of(cast("Hashable", type(value)))}
    parts[first] = changed(parts[first], rest, change)
    return type(value)(**parts)


@lru_cache(maxsize=256)
def names_of(cls: Hashable) -> tuple[str, ...]:
    """The fields that an instance of a value class is made of."""
    assert isinstance(cls, type)
    return tuple(a.name for a in fields(cls) if a.init)
