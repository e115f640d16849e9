"""The types of a Kaitai specification: one for each layout, with an attribute for each of its parts."""

from collections.abc import Container, Iterator
from typing import Final, TypeGuard

from attrs import Factory, define

from wireproof.report.kaitai_scope import SCALARS, Scope, condition_text, ident
from wireproof.report.kaitai_shared import Tree, protobuf_type
from wireproof.report.layout_tables import codes_text
from wireproof.wire.layout import (
    OPAQUE_CONTENT,
    REST,
    VARINTS,
    Checksum,
    Count,
    FixedPart,
    Flag,
    Layout,
    Length,
    Nested,
    Number,
    Octets,
    OneOf,
    Packed,
    Part,
    ProtoField,
    Repeated,
    Tagged,
    When,
    Zero,
    proto_fields,
    width_of,
)

ITEMS: Final = "items"
"""The list in a type that is only the bytes of that list."""

ONE_OF: Final = "one_of"
"""The attribute of one of several layouts that has no name of its own."""

AHEAD: Final = "_ahead"
"""The end of the name of a number that is read before what it is a part of."""

PACKED: Final = "_packed"
"""The end of the name of a region of compressed bytes."""


@define
class Specification:
    """The types of a specification, which grow while its layouts are written."""

    types: dict[str, Tree] = Factory(dict)

    def body(self, scope: Scope, name: str) -> Tree:
        """Return the attributes of a layout; its type is, or would be, called `name`."""
        if proto_fields(Layout("", scope.parts)):
            return self._protobuf(scope, name)
        seq: list[Tree] = []
        instances: Tree = {}
        for part in scope.parts:
            seq += self._attributes(part, scope, name)
            instances |= _flag_instances(part, scope) | _numbers_ahead(part)
        found: Tree = {"seq": seq}
        return found | ({"instances": instances} if instances else {})

    def _type(self, layout: Layout, outer: Scope, *, bounded: bool) -> str:
        """Write the type of a layout, and return its name."""
        name = _unused(ident(layout.name), self.types)
        self.types[name] = {}  # the name is taken before the types inside it are named
        head = {"doc-ref": layout.cites} if layout.cites else {}
        self.types[name] = head | self.body(Scope(layout, bounded, outer), name)
        return name

    def _protobuf(self, scope: Scope, name: str) -> Tree:
        inner = {
            part.number: self._type(part.of, scope, bounded=True)
            for part in scope.parts
            if isinstance(part, ProtoField) and isinstance(part.of, Layout)
        }
        body, types = protobuf_type(name, Layout("", scope.parts), inner)
        self.types |= types
        return body

    # --- attributes ---

    def _attributes(self, part: Part, scope: Scope, name: str) -> list[Tree]:  # noqa: C901, PLR0911 - one arm for each kind
        head = {"id": ident(part.name) or ONE_OF} | ({"doc": text} if (text := doc_text(part)) else {})
        match part:
            case Number() | Length() | Count() | Checksum():
                return [head | _integer(part)]
            case Zero(until=until) if until:
                before = scope.size_of(scope.parts[: scope.parts.index(part)])
                return [head | {"size": f"{until} - {before}"}]
            case Zero(kind=kind, size=size):
                return [head | ({"type": SCALARS[kind]} if kind else {"size": size})]
            case Octets(size=size):
                return [head | ({"size": size} if size else _sized(part.name, scope))]
            case Nested(of=layout):
                size_ = scope.length_of(part.name)
                kind = self._type(layout, scope, bounded=size_ is not None or self._last(part, scope))
                return [head | {"type": kind} | ({"size": size_[0]} if size_ else {})]
            case Repeated():
                return [head | _second(part, scope) | self._list(part, scope, name)]
            case Packed():
                return list(self._packed(part, scope, name))
            case When(number=number, part=Octets(holds=inner)) if number == OPAQUE_CONTENT and inner:
                return self._attributes(inner, scope, name)
            case When(number=number, values=values, part=Packed(codec_of=codec) as region) if (
                number == codec and 0 not in values
            ):
                return [_if(condition_text(part, scope), _compressed(region, scope))]
            case When(part=inner):
                test = condition_text(part, scope)
                return [_if(test, one) for one in self._attributes(inner, scope, name)]
            case OneOf(layouts=layouts):
                sized = _size_ahead(part)
                cases = {code: self._type(one, scope, bounded=bool(sized)) for code, one in layouts.items()}
                return [head | {"type": {"switch-on": _selector(part, scope), "cases": cases}} | sized]
            case Tagged(of=layout):
                count = {"repeat": "expr", "repeat-expr": scope.count_of(part)}
                return [head | {"type": self._type(layout, scope, bounded=False)} | count]
        raise TypeError(f"no attribute for {part}")

    def _last(self, part: Part, scope: Scope) -> bool:
        """Return whether a part ends where the stream ends."""
        return scope.bounded and part is scope.parts[-1]

    def _list(self, part: Repeated, scope: Scope, name: str) -> Tree:
        if count := scope.count_of(part):
            size = _size_of_element(part, scope)
            kind = self._type(part.of, scope, bounded=bool(size))
            return {"type": kind, "repeat": "expr", "repeat-expr": count} | size
        sized = _sized(part.name, scope)
        if "size-eos" in sized:
            return {"type": self._type(part.of, scope, bounded=False), "repeat": "eos"}
        block = Layout(f"{name}_{part.name}", (Repeated(ITEMS, of=part.of),))
        return {"type": self._type(block, scope, bounded=True)} | sized

    def _packed(self, part: Packed, scope: Scope, name: str) -> Iterator[Tree]:
        """Yield what a region contains, and the region as bytes: one of them is there."""
        codec = f"({scope.reference(part.codec_of)} & {part.mask:#x})"
        for one in self._attributes(part.of, scope, name):
            yield _if(f"{codec} == 0", one)
        yield _if(f"{codec} != 0", _compressed(part, scope))


def doc_text(part: Part) -> str:
    """Return the meaning of a part, with the names of its codes."""
    codes = part.codes if isinstance(part, Number) and part.codes else {}
    return "; ".join(filter(None, (part.meaning, codes_text(codes))))


def lowest_bit(mask: int) -> int:
    """Return the number of the lowest bit of a mask."""
    return (mask & -mask).bit_length() - 1


def _table_of(part: Repeated, scope: Scope) -> Repeated | None:
    """Return an earlier list of the same name: the table of the elements of a list."""
    before = scope.parts[: scope.parts.index(part)]
    return next((one for one in before if isinstance(one, Repeated) and one.name == part.name), None)


def _second(part: Repeated, scope: Scope) -> Tree:
    """Return another name for a list whose table has its name."""
    return {"id": f"{ident(part.name)}_2"} if part in scope.parts and _table_of(part, scope) else {}


def _size_of_element(part: Repeated, scope: Scope) -> Tree:
    """Return the size of each element, if its entry in a table has it."""
    table = _table_of(part, scope) if part in scope.parts else None
    if table is None:
        return {}
    names = {one.name for one in part.of.parts}
    lengths = (one.name for one in table.of.parts if isinstance(one, Length) and one.of in names)
    entry = f"{ident(part.name)}[_index]"
    return next(({"size": f"{entry}.{Scope(table.of).reference(name)}"} for name in lengths), {})


def _compressed(part: Packed, scope: Scope) -> Tree:
    """Return the attribute of a compressed region."""
    return {"id": f"{ident(part.name)}{PACKED}", "doc": "compressed"} | _sized(part.name, scope)


def _selector(part: OneOf, scope: Scope) -> str:
    """Return the expression of the number that selects a layout."""
    return scope.reference(part.number) if part.number_at is None else f"{ident(part.number)}{AHEAD}"


def _numbers_ahead(part: Part) -> Tree:
    """Return what is read before one of several layouts, as instances: what selects it, and its length."""
    if not isinstance(part, OneOf) or part.number_at is None:
        return {}
    layout = next(iter(part.layouts.values()))
    numbers = filter(None, (layout.part(part.number), _common_length(part)))
    return {
        f"{ident(number.name)}{AHEAD}": {
            "pos": f"_io.pos + {layout.offset(number.name)}",
            "type": SCALARS[number.kind],
        }
        for number in numbers
        if isinstance(number, FixedPart)
    }


def _common_length(part: OneOf) -> Length | None:
    """Return the length of the rest that all layouts have at the same place, so that it can be read first."""
    found = [
        [(one.kind, layout.position(one.name)) for one in layout.parts if _is_rest_length(one)]
        for layout in part.layouts.values()
    ]
    if part.number_at is None or not found[0] or any(one != found[0] for one in found):
        return None
    return next(one for one in next(iter(part.layouts.values())).parts if _is_rest_length(one))


def _is_rest_length(part: Part) -> TypeGuard[Length]:
    return isinstance(part, Length) and part.of == REST and part.kind not in VARINTS


def _size_ahead(part: OneOf) -> Tree:
    """Return the size of one of several layouts, if it can be read first."""
    length = _common_length(part)
    if length is None:
        return {}
    layout = next(iter(part.layouts.values()))
    before = layout.offset(length.name) + (width_of(length) or 0)
    return {"size": f"{ident(length.name)}{AHEAD} + {before}"}


def _unused(name: str, taken: Container[str]) -> str:
    found, number = name, 2
    while found in taken:
        found, number = f"{name}_{number}", number + 1
    return found


def _integer(part: FixedPart) -> Tree:
    kind = SCALARS.get(part.kind)
    if kind is None:
        return {"size": width_of(part)}
    const = part.const if isinstance(part, Number) else None
    return {"type": kind} | ({"valid": const} if const is not None and part.kind not in VARINTS else {})


def _flag_instances(part: Part, scope: Scope) -> Tree:
    """Return the named bits of a number, each as an instance: a bit is true or false, a code is a number."""
    if not isinstance(part, Number):
        return {}
    number = scope.reference(part.name)
    return {
        ident(f"{part.name}_{flag.name}"): {"value": _flag(number, flag)}
        | ({"doc": codes_text(flag.codes)} if flag.codes else {})
        for flag in part.flags
    }


def _flag(number: str, flag: Flag) -> str:
    masked = f"({number} & {flag.mask:#x})"
    return f"{masked} != 0" if flag.codes is None else f"{masked} >> {lowest_bit(flag.mask)}"


def _sized(name: str, scope: Scope) -> Tree:
    """Return the size of a part: its length if it has one, else the bytes that are left."""
    length = scope.length_of(name)
    if length is None:
        size = scope.left(name)
        return {"size": size} if size else {"size-eos": True}
    number, null = length
    if null is None:
        return {"size": number}
    return {"size": number, "if": f"{number} >= 0" if null < 0 else f"{number} != {null}"}


def _if(test: str, attribute: Tree) -> Tree:
    """Return an attribute that is there only under a condition, besides its own."""
    own = attribute.get("if")
    return attribute | {"if": f"({test}) and ({own})" if own else test}
