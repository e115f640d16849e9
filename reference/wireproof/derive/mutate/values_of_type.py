"""Values from types: what type each part of a value class has, and values of it.

`part_type` reads an annotation; the rest follows from it: the parts of a value with their types, the smallest
value of a type, a large one with every part present, a random one; and the strategies of
`derive.strategies`. The tables of a family say where the types are not enough (`mutation_rules`).
"""

from collections.abc import Callable, Hashable, Iterator, Mapping
from functools import cache, lru_cache, partial
from random import Random
from types import NoneType, UnionType
from typing import Any, Final, Literal, TypeAlias, Union, cast, get_args, get_origin, get_type_hints

from attrs import evolve, fields, frozen, has

from wireproof.derive.mutate.draws import LONG_LISTS, below, boundary_bytes, boundary_integer, pick
from wireproof.derive.mutate.mutation_rules import common_rules, merged
from wireproof.formats import FORMATS
from wireproof.schema.layout import (
    PROTO_INTEGERS,
    Checksum,
    Layout,
    Number,
    Part,
    ProtoField,
    all_layouts,
    attribute_of,
    bits_of,
    is_signed,
    present,
)
from wireproof.wire.rejection import Rejected

PathStep: TypeAlias = str | int
"""A step of a path into a value: the name of a field, or an index of a tuple."""

MAX_ELEMENTS: Final = 48
"""The most elements that an edit gives a list, but for one in `LONG_ONE_IN`, which makes it long."""

LONG_ONE_IN: Final = 16

FLIPS: Final = (*(1 << bit for bit in range(8)), 0x48, 0x30)
"""The bits to flip in attributes: one bit, or two that belong together or are unusual together."""


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


@lru_cache(maxsize=1024)
def part_type(hint: Any) -> PartType:  # noqa: ANN401 - a type, as annotations have it
    """Return the type of a part from its annotation."""
    if hint in (int, bytes, bool):
        return PartType(hint.__name__, null=False, of=())
    origin, args = get_origin(hint), get_args(hint)
    if origin is Literal:
        return PartType("word", null=False, of=args)
    if origin in (Union, UnionType):
        alternatives = alternatives_of(hint)
        inner = part_type(alternatives[0])
        of = alternatives if inner.holds == "value" else inner.of
        null = len(alternatives) < len(args)
        return PartType(inner.holds, null, of, alternatives if len(alternatives) > 1 else ())
    if origin is tuple:
        is_list = args[-1] is Ellipsis
        return PartType("list" if is_list else "pair", null=False, of=args[:1] if is_list else args)
    return PartType("value", null=False, of=(hint,))


def alternatives_of(hint: Any) -> tuple[Any, ...]:  # noqa: ANN401 - as `part_type`
    """Return the types of a union without None; of any other type, the type itself."""
    is_union = get_origin(hint) in (Union, UnionType)
    return tuple(arg for arg in get_args(hint) if arg is not NoneType) if is_union else (hint,)


@frozen
class EditSite:
    """A part of a value: the path to it, its type, and its current value.

    Attributes:
        owner: the class that has the part, directly or in a tuple.
        name: the field of that class.
    """

    steps: tuple[PathStep, ...]
    kind: PartType
    now: Any
    owner: type
    name: str


@lru_cache(maxsize=256)
def encoded_fields(cls: Hashable) -> tuple[tuple[str, PartType], ...]:
    """Return the fields of a value class that its encoder uses, with their types."""
    assert isinstance(cls, type)
    hints = get_type_hints(cls)
    computed = computed_fields().get(cls, common_rules().computed.get(cls, ()))
    return tuple((a.name, part_type(hints[a.name])) for a in fields(cls) if a.name not in computed)


def edit_sites(value: Any) -> Iterator[EditSite]:  # noqa: ANN401 - a value class
    """Yield every part of a value, outer parts first, without recursion."""
    pending = [EditSite((), PartType("value", null=False, of=()), value, type(value), "")]
    while pending:
        site = pending.pop()
        if site.steps:
            yield site
        now, holds = site.now, site.kind.holds
        if holds in ("list", "pair") and now is not None:
            types = site.kind.of * (len(now) if holds == "list" else 1)
            pending += [
                EditSite((*site.steps, at), part_type(hint), part, site.owner, site.name)
                for at, (hint, part) in enumerate(zip(types, now, strict=True))
            ]
        elif holds == "value" and now is not None:
            for name, declared in encoded_fields(cast("Hashable", type(now))):
                part, kind = getattr(now, name), declared
                if kind.holds == "value" and bytes in kind.of:  # an option says which of the two is encoded
                    kind = part_type(cast("Hashable", type(part)))
                elif kind.holds == "list" and isinstance(part, bytes):  # a block of headers that is no map
                    kind = PartType("bytes", null=False, of=(), others=kind.others)
                pending.append(EditSite((*site.steps, name), kind, part, type(now), name))


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
    assert isinstance(cls, type)
    return tuple(a.name for a in fields(cls) if a.init)


_EMPTY: Final[dict[str, Any]] = {"int": 0, "bool": False, "bytes": b"", "list": ()}
"""Type of a part to its smallest value."""


@cache
def _largest_of_class() -> dict[Any, Any]:
    return merged(lambda rules: rules.full())


@cache
def _elements() -> dict[Any, tuple[Any, ...]]:
    return merged(lambda rules: rules.elements())


@lru_cache(maxsize=512)
def smallest(hint: Any, name: str = "") -> Any:  # noqa: ANN401 - a type, and a value of it
    """Return the smallest value of a type: lists are empty and optional parts are None."""
    rules = common_rules()
    if hint in rules.least:
        return rules.least[hint]
    alternatives, kind = alternatives_of(hint), part_type(hint)
    if alternatives != (hint,):
        return None if kind.null else smallest(alternatives[0])
    match kind.holds:
        case "pair":
            return tuple(smallest(part, "key") for part in kind.of)
        case "value":
            return _instance(hint, smallest)
        case "word":
            return kind.of[0]
    # These bytes must not be empty.
    named = {"payload": b"p", "key": b"k", **rules.named} if kind.holds == "bytes" else {}
    return named.get(name, _EMPTY[kind.holds])


def largest(hint: Any, name: str = "", turn: int = 0) -> Any:  # noqa: ANN401 - as `smallest`
    """Return a value of a type whose lists have an element of each type and whose optional parts are present.

    From a smallest value most deep states of a codec are several edits away, from such a one mostly one. For
    a union, `turn` selects the alternative; of bytes and classes a class, for an option selects the bytes.
    """
    if hint in _largest_of_class():
        return _largest_of_class()[hint]
    alternatives, kind = alternatives_of(hint), part_type(hint)
    if alternatives != (hint,):
        classes = [one for one in alternatives if isinstance(one, type) and has(one)]
        some = classes if bytes in alternatives and classes else alternatives
        return largest(some[turn % len(some)], name, turn)
    match kind.holds:
        case "list":  # an element of each type and a smallest last one, where readers often have bugs
            of = kind.of[0]
            elements = _elements().get(of) or tuple(largest(one, name, turn) for one in alternatives_of(of))
            if of not in _elements() and isinstance(of, type) and has(of):
                last, later = smallest(of), {"payload": b"p", "offset": 2}  # not empty, and in order
                last = evolve(last, **{part: later[part] for part in later if hasattr(last, part)})
                elements = (*elements, last)
            return elements
        case "pair":
            return tuple(largest(part, "key", turn) for part in kind.of)
        case "value":
            return _instance(hint, partial(largest, turn=turn))
    least = smallest(hint, name)
    return least or {"int": 1, "bytes": b"v"}.get(kind.holds, least)


def _instance(cls: type, value_of: Callable[[Any, str], Any]) -> Any:  # noqa: ANN401 - an instance of it
    """Return an instance of a value class with `value_of` the type and name of each field."""
    hints = _hints(cast("Hashable", cls))
    return cls(**{name: value_of(hints[name], name) for name in constructor_fields(cls)})


@lru_cache(maxsize=256)
def _hints(cls: Hashable) -> Mapping[str, Any]:
    return get_type_hints(cls)


def filled(cls: type, parts: Mapping[str, Any]) -> Any:  # noqa: ANN401 - an instance of it
    """Return an instance of a value class with some parts, by the names of their fields.

    For a list of values, the part is a list of the parts of each. Names that the class does not have are
    ignored, so that the parts may be those of several revisions. All other parts are 0, empty or absent.
    """

    def value_of(hint: Any, name: str) -> Any:  # noqa: ANN401 - a type, and a value of it
        part, kind = parts.get(name), part_type(hint)
        match part:
            case list():
                return tuple(filled(kind.of[0], one) for one in part)
            case Mapping():
                return filled(kind.of[0], part)
            case None if not kind.null:
                return _EMPTY[kind.holds]
        return part

    return _instance(cls, value_of)


def replacement_for(site: EditSite, rng: Random, found: tuple[EditSite, ...]) -> Any:  # noqa: ANN401 - a part of a value
    if site.kind.null and (site.now is None or not below(rng, 4)):
        return random_part(site.kind, rng, site.name) if site.now is None else None
    if site.kind.others and not below(rng, 3):  # of a class, a large value or a small one
        drawn = pick(rng, site.kind.others)
        kind = part_type(drawn)
        is_large = kind.holds == "value" and below(rng, 2)
        return largest(drawn, site.name) if is_large else random_part(kind, rng, site.name)
    if site.kind.holds in ("int", "bytes") and not below(rng, 6):
        values = [one.now for one in found if one.kind.holds == site.kind.holds and one.now is not None]
        return pick(rng, values) if values else site.now
    change = _CHANGES.get(site.kind.holds)
    return change(site, rng) if change else site.now


def _integer(site: EditSite, rng: Random) -> int:
    """Return another number that fits the field; for attributes, flip bits."""
    now: int = site.now
    known = common_rules().codes.get((site.owner, site.name))
    if known and not below(rng, 3):
        return pick(rng, known)
    new = now ^ pick(rng, FLIPS) if site.name == "attributes" else boundary_integer(rng, now)
    field = integer_field(site.owner, site.name)
    return new if field is None else field.wrapped(new)


def _list(now: tuple[Any, ...], kind: PartType, rng: Random, name: str) -> tuple[Any, ...]:
    """Return the list with an element added, removed or duplicated, reordered, doubled or truncated."""
    at = below(rng, len(now) + 1)
    match below(rng, 6):
        case 0 if now:
            at %= len(now)
            return now[:at] + now[at + 1 :]
        case 1 if now and len(now) < MAX_ELEMENTS:
            at %= len(now)
            return now[: at + 1] + now[at:]
        case 2 if len(now) > 1:
            return tuple(rng.sample(now, len(now)))
        case 3 if now and len(now) < MAX_ELEMENTS // 2:
            return now * 2
        case _ if len(now) < MAX_ELEMENTS:
            return (*now[:at], random_part(part_type(kind.of[0]), rng, name), *now[at:])
    return now[: below(rng, len(now) + 1)]


def _long_list(site: EditSite, rng: Random) -> tuple[Any, ...]:
    """Return the first element of a list, and so many small ones that a length or a count needs more bytes.

    With large elements it would not fit an input.
    """
    small = smallest(site.kind.of[0], site.name)
    return (*site.now[:1], *(small,) * LONG_LISTS[-1])[: pick(rng, LONG_LISTS)]


def random_part(kind: PartType, rng: Random, name: str) -> Any:  # noqa: ANN401 - a part of a value
    """Return a value for a part that was None or did not exist."""
    if kind.holds == "value":
        value = smallest(pick(rng, kind.of))
        parts = tuple(edit_sites(value))
        site = pick(rng, parts)
        try:
            return replace_part(value, site.steps, replacement_for(site, rng, parts))
        except Rejected:
            return value
    if kind.holds == "pair":
        return tuple(random_part(part_type(hint), rng, name) for hint in kind.of)
    if kind.holds == "list":
        return () if below(rng, 2) else (random_part(part_type(kind.of[0]), rng, name),)
    if kind.holds in ("bool", "word"):
        return pick(rng, kind.of or (False, True))
    return boundary_integer(rng, 0) if kind.holds == "int" else boundary_bytes(rng, b"k")


_CHANGES: Final[dict[str, Callable[[EditSite, Random], Any]]] = {
    "int": _integer,
    "bytes": lambda site, rng: boundary_bytes(rng, site.now),
    "bool": lambda site, _: not site.now,
    "word": lambda site, rng: pick(rng, site.kind.of),
    "list": lambda site, rng: (
        _list(site.now, site.kind, rng, site.name) if below(rng, LONG_ONE_IN) else _long_list(site, rng)
    ),
}
"""Type to a function that returns a replacement; pairs and values change through their parts."""


def is_changeable(site: EditSite) -> bool:
    """Return whether an edit can change a part directly, and not only through its own parts."""
    return site.kind.holds in _CHANGES or site.kind.null or bool(site.kind.others)


@frozen
class IntegerField:
    """The width of an integer on the wire, in bits, and whether it is signed."""

    bits: int
    signed: bool

    @property
    def limits(self) -> tuple[int, int]:
        """Return the least and the greatest number."""
        low = -(1 << self.bits - 1) if self.signed else 0
        return low, low + (1 << self.bits) - 1

    def wrapped(self, value: int) -> int:
        low = value & ((1 << self.bits) - 1)
        return low - (1 << self.bits) if self.signed and low >> self.bits - 1 else low


@cache
def integer_fields() -> Mapping[type, Mapping[str, IntegerField]]:
    """Return the integers that a writer chooses, by value class and attribute; codes are none of them."""
    found: dict[type, dict[str, IntegerField]] = {}
    for value, part in (one for row in FORMATS.values() for one in parts_of_classes(row.layout)):
        numbers, names = found.setdefault(value, {}), {one.name for one in fields(value)}
        match part:
            case Number(const=None, codes=None, known=None) if attribute_of(part.name) in names:
                width = IntegerField(bits_of(part.kind), is_signed(part.kind))
                if part.most is not None:
                    width = IntegerField(part.most.bit_length(), signed=False)
                numbers[attribute_of(part.name)] = width
            case ProtoField(name=name, of=str(kind), codes=None) if kind in PROTO_INTEGERS:
                numbers[name] = IntegerField(*PROTO_INTEGERS[kind])
    return found


@cache
def computed_fields() -> Mapping[type, tuple[str, ...]]:
    """Return the attributes of each value class that its encoder computes."""
    found: dict[type, dict[str, None]] = {}
    for layout in (one for row in FORMATS.values() for one in all_layouts(row.layout)):
        if layout.value is None:
            continue
        names = found.setdefault(layout.value, {})
        names.update(dict.fromkeys(layout.computed))
        for part in map(present, layout.parts):
            match part:
                case Checksum(shown=True) | ProtoField(cover="length"):
                    names[attribute_of(part.name)] = None
    return {value: tuple(names) for value, names in found.items()}


def parts_of_classes(layout: Layout | None) -> Iterator[tuple[type, Part]]:
    """Yield the parts of the layouts with a value class in a layout, each with the class."""
    for one in all_layouts(layout):
        if one.value is not None:
            for part in map(present, one.parts):
                yield one.value, part


def integer_field(owner: type, name: str) -> IntegerField | None:
    """Return the width of the field `name` of `owner`; None if it is not known."""
    bits = common_rules().unsigned_bits.get(owner, {}).get(name)
    return integer_fields().get(owner, {}).get(name) or (bits and IntegerField(bits, signed=False)) or None
