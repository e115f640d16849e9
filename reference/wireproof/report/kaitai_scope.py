"""The expressions of a Kaitai specification: numbers, lengths, counts and sizes of the parts of a layout."""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from attrs import field, frozen

from wireproof.wire.layout import (
    OPTION,
    REST,
    VARINTS,
    WHOLE,
    Count,
    FixedPart,
    Layout,
    Length,
    Nested,
    Packed,
    Part,
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
            return f"({condition_text(part, self)} ? {size} : 0)" if size else ""
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


def condition_text(part: When, scope: Scope) -> str:
    """Return the condition under which an optional part is there."""
    number = scope.reference(part.number)
    masked = number if part.mask == -1 else f"({number} & {part.mask:#x})"
    return " or ".join(f"{masked} == {value}" for value in part.values)


def ident(name: str) -> str:
    """Convert a name to Kaitai's form: `baseOffset` becomes `base_offset`."""
    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
    return re.sub(r"[^a-z0-9]+", "_", snake).strip("_")
