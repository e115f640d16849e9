"""Layouts as Kaitai Struct specifications: a type for each layout, an attribute for each of its parts.

Compressed data, and what bytes such as the key of a control record contain, stay bytes: checksums, codecs and
rules are no part of a Kaitai layout. Protobuf messages are lists of fields, because these come in any order.
"""

import json
import re
from collections.abc import Container, Iterable, Iterator, Mapping
from typing import Any, Final, TypeGuard

from attrs import Factory, define, field, frozen

from wireproof.formats import FORMATS, Format
from wireproof.report.kaitai_shared import SHARED_TYPES, protobuf_type
from wireproof.report.layout_tables import codes_text
from wireproof.wire.layout import (
    OPAQUE_CONTENT,
    OPTION,
    REST,
    VARINTS,
    WHOLE,
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

SCALARS: Final = {
    "int8": "s1", "int16": "s2be", "int32": "s4be", "int64": "s8be",
    "uint8": "u1", "uint16": "u2be", "uint32": "u4be", "uint64": "u8be",
    "uint16le": "u2le", "uint32le": "u4le", "uint64le": "u8le",
    "varint": "varint", "varlong": "varlong", "uvarint": "uvarint",
}  # fmt: skip
"""Kaitai's name for each integer; a wider one is bytes."""

Tree = dict[str, Any]
"""A part of a specification, as the tree of its YAML."""


@frozen
class Scope:
    """The layout whose parts are written, with the layouts around it.

    Attributes:
        layout: the layout.
        bounded: whether its stream ends where the layout ends.
        outer: the scope of the layout that contains it.
    """

    layout: Layout
    bounded: bool = True
    outer: "Scope | None" = None
    parts: tuple[Part, ...] = field(init=False)

    @parts.default
    def _parts(self) -> tuple[Part, ...]:
        return tuple(_flat(self.layout))

    def reference(self, name: str) -> str:
        """Return the expression of a number: of this scope, of a part in it, or of a scope around it.

        Raises:
            KeyError: no scope has it.
        """
        head, _, rest = name.partition(".")
        for part in self.parts:
            if isinstance(part, FixedPart) and part.name == name:
                return ident(name) + (".value" if part.kind in VARINTS else "")
            if isinstance(part, Nested) and part.name == head and rest:
                return f"{ident(head)}.{Scope(part.of).reference(rest)}"
        if self.outer is None:
            raise KeyError(name)
        return f"_parent.{self.outer.reference(name)}"

    def length_of(self, name: str) -> tuple[str, int | None] | None:
        """Return the expression of the length of a part, and the number that means that it is absent."""
        for part in self.parts:
            match part:
                case Length(of=of, null=null) if of == name:
                    return self.reference(part.name), null
                case Nested(of=layout):
                    for inner in proto_fields(layout):
                        if inner.cover == "length" and inner.over == name:
                            return f"{ident(part.name)}.{ident(inner.name)}", None
        return None

    def count_of(self, part: Repeated | Tagged) -> str:
        """Return the expression of the number of elements of a part; empty if there is none."""
        like = part.like if isinstance(part, Repeated) else ""
        counts = (one for one in self.parts if isinstance(one, Count) and one.of == (like or part.name))
        return next((self.reference(count.name) for count in counts if not count.advisory), "")

    def left(self, name: str) -> str:
        """Return the number of bytes from a part to the end of the layout; empty if the stream ends there.

        Raises:
            ValueError: no length tells it.
        """
        names = [part.name for part in self.parts]
        for at, part in enumerate(self.parts):
            if isinstance(part, Length) and part.of in (REST, WHOLE):
                first = 0 if part.of == WHOLE else at + 1
                before = self.size_of(self.parts[first : names.index(name)])
                if before:
                    return f"{self.reference(part.name)} - {before}"
        if not self.bounded:
            raise ValueError(f"{self.layout.name}.{name}: no length of it")
        return ""

    def size_of(self, parts: Iterable[Part]) -> str:
        """Return the size of adjacent parts; empty if no number tells it."""
        fixed, sizes = 0, list[str]()
        for part in parts:
            if isinstance(part, Zero) and part.until:  # only parts from the beginning of the layout have one
                fixed, sizes = part.until, []
                continue
            width = _whole_width(part)
            size = self._variable_size(part) if width is None else ""
            if width is None and not size:
                return ""
            fixed += width or 0
            sizes += [size] if size else []
        text = " + ".join([*([str(fixed)] if fixed or not sizes else []), *sizes])
        return f"({text})" if sizes and (fixed or len(sizes) > 1) else text

    def _variable_size(self, part: Part) -> str:
        """Return the size of a part whose size varies; empty if no number tells it."""
        if isinstance(part, When):
            size = self.size_of([part.part])
            return f"({_when(part, self)} ? {size} : 0)" if size else ""
        length = self.length_of(part.name)
        if length is None:
            return ""
        return length[0] if length[1] is None else f"({length[0]} > 0 ? {length[0]} : 0)"


def _whole_width(part: Part) -> int | None:
    """Return the size of a part that always has the same, also of a layout of such parts."""
    if isinstance(part, Nested):
        widths = [_whole_width(one) for one in part.of.parts]
        return None if None in widths else sum(width or 0 for width in widths)
    return width_of(part)


def _flat(layout: Layout) -> Iterator[Part]:
    """Yield the parts of a layout, with those of layouts that have no name of their own in it."""
    for part in layout.parts:
        match part:
            case Nested(name=name, of=inner, inline=inline) if inline or not name:
                yield from _flat(inner)
            case Packed(codec_of=codec, of=Nested(name="", of=inner)) if codec == OPTION:
                yield from _flat(inner)
            case _:
                yield part


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
                return [_if(_when(part, scope), _compressed(region, scope))]
            case When(part=inner):
                test = _when(part, scope)
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


ITEMS: Final = "items"
"""The list in a type that is only the bytes of that list."""

ONE_OF: Final = "one_of"
"""The attribute of one of several layouts that has no name of its own."""

AHEAD: Final = "_ahead"
"""The end of the name of a number that is read before what it is a part of."""

PACKED: Final = "_packed"
"""The end of the name of a region of compressed bytes."""


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


def _when(part: When, scope: Scope) -> str:
    number = scope.reference(part.number)
    masked = number if part.mask == -1 else f"({number} & {part.mask:#x})"
    return " or ".join(f"{masked} == {value}" for value in part.values)


def _if(test: str, attribute: Tree) -> Tree:
    """Return an attribute that is there only under a condition, besides its own."""
    own = attribute.get("if")
    return attribute | {"if": f"({test}) and ({own})" if own else test}


# --- specifications ---


def ident(name: str) -> str:
    """Convert a name to Kaitai's form: `baseOffset` becomes `base_offset`."""
    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
    return re.sub(r"[^a-z0-9]+", "_", snake).strip("_")


def spec(row: Format) -> Tree:
    """Return the specification of a format as the tree of its YAML."""
    assert row.layout is not None, row.format_id
    made = Specification()
    name = ident(row.format_id)
    meta = {"id": name, "title": row.format_id}
    head = {"meta": meta} | ({"doc-ref": row.layout.cites} if row.layout.cites else {})
    body = made.body(Scope(row.layout), name)
    types = made.types | _shared([body, made.types])
    return head | body | ({"types": types} if types else {})


_TYPE_NAME: Final = re.compile(r'"(?:type|\d+)": "(\w+)"')


def _shared(trees: Any) -> dict[str, Tree]:  # noqa: ANN401 - the tree of some YAML
    """Return the shared types that trees name, and those that these name."""
    found: dict[str, Tree] = {}
    while more := set(_TYPE_NAME.findall(json.dumps([trees, found]))) & SHARED_TYPES.keys() - found.keys():
        found |= {name: SHARED_TYPES[name] for name in sorted(more)}
    return found


def yaml(tree: Mapping[str, Any]) -> str:
    """Return the text of a specification."""
    return "\n".join(_lines(tree, 0)) + "\n"


def _lines(tree: Any, depth: int) -> Iterator[str]:  # noqa: ANN401 - the tree of some YAML
    pad = "  " * depth
    for key, part in tree.items():
        match part:
            case Mapping():
                yield f"{pad}{key}:"
                yield from _lines(part, depth + 1)
            case list():
                yield f"{pad}{key}:"
                for item in part:
                    first, *rest = _lines(item, depth + 2)
                    yield f"{pad}  - {first.strip()}"
                    yield from rest
            case _:
                yield f"{pad}{key}: {json.dumps(part, ensure_ascii=False)}"


def specified() -> tuple[Format, ...]:
    """Return the formats that have a layout."""
    return tuple(row for row in FORMATS.values() if row.layout is not None)


def specifications(chosen: Container[str]) -> Iterator[tuple[str, str]]:
    """Yield the name and the text of the specification of each selected format that has a layout."""
    for row in specified():
        if row.format_id in chosen:
            made = spec(row)
            yield made["meta"]["id"], yaml(made)
