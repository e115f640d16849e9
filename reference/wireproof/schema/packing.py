"""How adjacent fields of fixed width are packed, and the numbers at the beginning of a layout."""

from collections.abc import Callable, Iterable, Sequence
from itertools import takewhile
from operator import itemgetter
from struct import Struct
from typing import Any, Final, TypeAlias, cast

from wireproof.schema.layout import FixedPart, Layout, Number, Octets, Part, Zero, attribute_of, width_of
from wireproof.wire.reader import FIXED_WIDTH

RunPart: TypeAlias = FixedPart | Zero | Octets
"""The parts that are packed together: integers, and bytes of a fixed size."""


def packing(parts: Iterable[RunPart]) -> Struct:
    """Return the packing of adjacent fields, for `struct`; an integer of 128 bits is 16 bytes in it.

    Raises:
        ValueError: a field has no packing, or the byte orders differ.
    """
    formats = [_format(part) for part in parts]
    wide = {one[0] for one in formats if one[-1] not in "bBs"}
    if len(wide) > 1:
        raise ValueError("the byte orders of the fields differ")
    return Struct((wide or {">"}).pop() + "".join(one[1:] for one in formats))


def _format(part: RunPart) -> str:
    match part:
        case Zero(size=size) | Octets(size=size) if size:
            return f">{size}s"
        case Octets():
            raise ValueError(f"{part.name} has no fixed size")
        case _ if part.kind == "uint128le":
            return ">16s"
        case _ if part.kind in FIXED_WIDTH:
            return FIXED_WIDTH[part.kind].format
    raise ValueError(f"no packing for {part.kind!r}")


def is_fixed(part: Part) -> bool:
    """Return whether a part is packed together with its neighbours."""
    return isinstance(part, RunPart) and width_of(part) is not None


class Head:
    """The fields of fixed width at the beginning of a layout, for a look at them without a reader."""

    def __init__(self, layout: Layout) -> None:
        """Find the fields."""
        self.parts: Final = tuple(cast("Iterable[RunPart]", takewhile(is_fixed, layout.parts)))
        self.names: Final = tuple(part.name for part in self.parts)
        self.packing: Final = packing(self.parts)
        self.size: Final = self.packing.size

    def peek(self, data: bytes | bytearray, at: int = 0) -> tuple[Any, ...]:
        """Return all of them in the order of the wire; their bytes must be there."""
        return self.packing.unpack_from(data, at)

    def select(self, *names: str) -> Callable[[Sequence[Any]], tuple[Any, ...]]:
        """Return a function that selects at least two of them by name."""
        return itemgetter(*map(self.names.index, names))

    def fields(self, data: bytes | bytearray, at: int = 0) -> dict[str, Any]:
        """Return those that a value has, by its attributes."""
        pairs = zip(self.parts, self.peek(data, at), strict=True)
        return {attribute_of(part.name): number for part, number in pairs if isinstance(part, Number)}
