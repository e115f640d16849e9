"""What a compiled function could not read or write, found when a description becomes a format.

`Struct` itself refuses what contradicts itself: names that occur twice, lengths of what is not behind them.
"""

from collections.abc import Iterable, Iterator
from keyword import iskeyword
from typing import Final

from wireproof.schema.layout import (
    REST,
    WHOLE,
    Checksum,
    Count,
    Length,
    Nested,
    Number,
    Octets,
    OneOf,
    Packed,
    Part,
    Repeated,
    Tagged,
    When,
    all_layouts,
    attribute_of,
    proto_fields,
    width_of,
)
from wireproof.schema.rules import COMPUTED
from wireproof.schema.struct import (
    DescriptionError,
    Ranged,
    Struct,
    StructLayout,
)

LOCALS: Final = frozenset(("reader", "writer", "item", "fault", "first", "computed", "read", "write"))
"""The names of a compiled function that no field may take."""


def layout_of(struct: Struct, revision: str) -> StructLayout:
    """Return the layout of a format in a revision.

    Raises:
        DescriptionError: it cannot be read or written; the message names the structure and the field.
    """
    for name, part in _names(struct):
        word = attribute_of(part)
        if not word.isidentifier() or iskeyword(word) or word in LOCALS or word.startswith("_"):
            raise DescriptionError(f"{name}.{part}: a function has no variable of this name; choose another")
    try:
        layout = struct.at(revision)
    except RecursionError:
        raise DescriptionError(f"{struct.name}: it contains itself") from None
    check(layout)
    return layout


def _names(struct: Struct) -> Iterator[tuple[str, str]]:
    """Yield the names of the fields of a structure and of those in it, each behind that of its structure."""
    for one in struct.fields:
        part = one.part if isinstance(one, Ranged) else one
        assert not isinstance(part, Ranged)
        yield struct.name, part.name
        inside = part.part if isinstance(part, When) else part
        match inside:
            case Nested(of=of) | Repeated(of=of):
                structs: Iterable[object] = (of,)
            case OneOf(layouts=layouts):
                structs = layouts.values()
            case _:
                structs = ()
        for each in structs:
            yield from _names(each) if isinstance(each, Struct) else ()


def check(layout: StructLayout) -> None:
    """Refuse what cannot be read or written; the fields of protobuf messages come in any order.

    Raises:
        DescriptionError: the message names the structure and the field.
    """
    for one in all_layouts(layout):
        if isinstance(one, StructLayout) and not proto_fields(one):
            for fault in _faults(one):
                raise DescriptionError(f"{one.name}{fault}")


def _faults(layout: StructLayout) -> Iterator[str]:
    """Yield what is wrong: `.`, the name of the field, and the reason."""
    parts, counted = layout.parts, {part.of for part in layout.parts if isinstance(part, Length | Count)}
    if not parts:
        yield ": it has no field"
    attributes: dict[str, str] = {}
    for index, part in enumerate(parts):
        name = attribute_of(part.name)
        if (other := attributes.setdefault(name, part.name)) != part.name:
            yield f".{part.name}: {other} has the same attribute, {name}"
        takes_all = (type(part) is Octets and not part.size) or (isinstance(part, Repeated) and not part.like)
        if takes_all and part.name not in counted and index + 1 < len(parts):
            text = f"without a length or a count before it, it takes the bytes of {parts[index + 1].name}"
            yield f".{part.name}: {text}"
        yield from (f".{part.name}: {text}" for text in _of_part(layout, part))


def _of_part(layout: StructLayout, part: Part) -> Iterator[str]:
    before = {one.name for one in layout.parts[: layout.parts.index(part)]}
    rules = [rule for rule in layout.rules if rule.guards == part.name]
    octets = [one.name for one in layout.parts if isinstance(one, Octets)]
    match part:
        case Number(const=int(const)) if not rules and not layout.framed:  # a look at its size sees it
            yield f"no rule refuses another number than {const}"
        case Checksum(over=over, shown=shown) if over not in (REST, WHOLE, *octets) and (
            not shown or any(COMPUTED in rule.needs for rule in rules)
        ):
            yield f"there are no bytes {over} that it could cover"
        case Length(of=of) if of in (REST, WHOLE) and width_of(part) is None:
            yield f"a length of {of} has a fixed width"
        case When(part=Nested(), number=number) | OneOf(number=number) if number not in before:
            yield f"no field {number} before it"
        case Packed(read=None):
            yield "it needs functions that read and write it"
        case Tagged() | When(part=Octets() | Number() | Repeated()):
            yield f"a structure has no {type(part).__name__}; write functions for it, as of a Block"
