"""The size of a value at a position, which its lengths give without a look at the rest of its bytes."""

from collections.abc import Iterator
from functools import cached_property
from struct import Struct

from attrs import frozen

from wireproof.wire.layout import REST, WHOLE, Layout, Length, Nested, Part, Zero, width_of
from wireproof.wire.reader import FIXED_WIDTH


@frozen
class _SizeStep:
    """Bytes of fixed size, then a length or a part that has one.

    Attributes:
        fixed: the size of the fields up to the end of the length, or up to the beginning of the part.
        of: what the length counts, or the name of the part.
        packing: of the length; None for a part.
    """

    fixed: int
    of: str
    packing: Struct | None


def _width_of(part: Part) -> int | None:
    """Return the number of bytes that a part always has, also if it is another layout; else None."""
    if not isinstance(part, Nested):
        return width_of(part)
    widths = [_width_of(one) for one in part.of.parts]
    return None if None in widths else sum(width or 0 for width in widths)


@frozen(eq=False)
class Extent:
    """The size of a value of a layout whose parts have a fixed size or a length before them."""

    layout: Layout

    @cached_property
    def _steps(self) -> tuple[_SizeStep, ...]:
        return tuple(self._walk())

    def _walk(self) -> Iterator[_SizeStep]:
        fixed, counted = 0, set[str]()
        for part in self.layout.parts:
            width = _width_of(part)
            fixed += width or 0
            if isinstance(part, Length) and width is not None:
                yield _SizeStep(fixed, part.of, FIXED_WIDTH[part.kind])
                counted.add(part.of)
            elif width is None and (part.name in counted or not counted & {REST, WHOLE}):
                yield _SizeStep(fixed, part.name, None)
            else:
                continue
            fixed = 0
        yield _SizeStep(fixed, "", None)

    @cached_property
    def unknown(self) -> str:
        """Return the first part whose size neither its type nor a length gives; empty if there is none."""
        counted = {""}
        for step in self._steps:
            if step.packing is None and step.of not in counted:
                return step.of
            counted.add(step.of)
        return ""

    @cached_property
    def least(self) -> int:
        """Return a size that no value falls below, in bytes."""
        until = (part.until for part in self.layout.parts if isinstance(part, Zero))
        return max(self.layout.fixed_size, *until, 0)

    def at(self, data: bytes | bytearray, pos: int = 0) -> tuple[int, bool]:
        """Return the size of the value at `pos` and True.

        If `data` ends before a length, or a part has no length, return a lower bound and False. A length of
        the whole that is smaller than every value is invalid; then the size is that of the smallest one.
        """
        size, counted = 0, {"": 0}
        for step in self._steps:
            size += step.fixed
            if step.packing is None:
                if step.of not in counted:
                    return size, False
                size += counted[step.of]
                continue
            start = pos + size - step.packing.size
            if pos + size > len(data):
                return size, False
            number: int = step.packing.unpack_from(data, start)[0]
            if step.of in (REST, WHOLE):
                return max(self.least, number + (size if step.of == REST else 0)), True
            counted[step.of] = max(number, 0)  # null, or refused
        return size, True
