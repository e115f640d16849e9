"""Decode and encode of adjacent integers of fixed width, derived from their layout.

The bytes are unpacked at once, which is faster than a call for each field. A reader or writer with a trace,
bytes that end too early, and a number that does not fit take the slow way, one primitive for each field, so
that spans, covers, paths and positions are those of the primitives.
"""

from collections.abc import Callable, Iterable, Sequence
from operator import itemgetter
from struct import Struct, error
from typing import Final

from attrs import field, frozen

from wireproof.wire.layout import REST, Checksum, Count, FixedPart, Layout, Length, Number
from wireproof.wire.reader import FIXED_WIDTH, Reader
from wireproof.wire.writer import TracingWriter, Writer

_ORDERS: Final = "<>"


def packing(parts: Iterable[FixedPart]) -> Struct:
    """Return the packing of adjacent integers, for `struct`.

    Raises:
        ValueError: an integer has no packing, or the byte orders differ.
    """
    try:
        formats = [FIXED_WIDTH[part.kind].format for part in parts]
    except KeyError as error:
        raise ValueError(f"no packing for {error}") from None
    wide = {one[0] for one in formats if one[1] not in "bB"}
    if len(wide) > 1:
        raise ValueError("the byte orders of the fields differ")
    return Struct((wide or {">"}).pop() + "".join(one[1] for one in formats))


@frozen
class FixedRun:
    """Adjacent integers of fixed width, of which a reader or a writer gets a tuple in the order of the wire.

    Attributes:
        layout: the layout that has them.
        parts: in the order of the wire.
        packing: of all of them.
    """

    layout: Layout
    parts: tuple[FixedPart, ...]
    packing: Struct = field(init=False)

    @packing.default
    def _packing(self) -> Struct:
        return packing(self.parts)

    def read(self, reader: Reader) -> tuple[int, ...]:
        """Read the integers.

        Raises:
            Rejected: the window ends inside one of them.
        """
        pos, stop = reader.pos, reader.pos + self.packing.size
        if reader.tracing or stop > reader.end:
            return tuple(_read(reader, self.layout, part) for part in self.parts)
        reader.pos = stop
        return self.packing.unpack_from(reader.data, pos)

    def peek(self, data: bytes | bytearray, pos: int) -> tuple[int, ...]:
        """Return the integers at `pos`; all their bytes must be there."""
        return self.packing.unpack_from(data, pos)

    def write(self, writer: Writer, numbers: Sequence[int]) -> None:
        """Write the integers.

        Raises:
            Rejected: `invalid-value` at the path of an integer that does not fit its field.
        """
        if not isinstance(writer, TracingWriter):
            try:
                writer.data += self.packing.pack(*numbers)
            except error:
                pass  # the field that does not fit is named below
            else:
                writer.pos = len(writer.data)
                return
        for part, number in zip(self.parts, numbers, strict=True):
            getattr(writer, part.kind)(part.name, number)

    def stored(self) -> Callable[[tuple[int, ...]], tuple[int, ...]]:
        """Return a function that selects from these integers those that a value has."""
        return itemgetter(*(at for at, part in enumerate(self.parts) if isinstance(part, Number)))


def _read(reader: Reader, layout: Layout, part: FixedPart) -> int:
    number: int = getattr(reader, part.kind)(part.name)
    match part:
        case Length(of=of) if of == REST:
            reader.cover(part.name, "length", reader.pos, reader.end)
        case Checksum(over=over) if over == REST:
            reader.cover(part.name, part.algorithm.label, reader.pos, reader.end)
        case Count(of=of) if of == layout.parts[-1].name:
            reader.cover(part.name, "count", reader.pos, reader.end)
    return number


def runs(layout: Layout, *ends: str) -> Sequence[FixedRun]:
    """Return the integers at the beginning of a layout, cut after each part in `ends`."""
    found: list[FixedRun] = []
    parts: list[FixedPart] = []
    for part in layout.parts:
        if not isinstance(part, FixedPart) or part.kind not in FIXED_WIDTH:
            break
        parts.append(part)
        if part.name in ends:
            found.append(FixedRun(layout, tuple(parts)))
            parts = []
    return (*found, FixedRun(layout, tuple(parts))) if parts else tuple(found)


def patch_computed(writer: Writer, layout: Layout, start: int) -> None:
    """Write lengths, then checksums, over the rest of a layout that begins at `start` and ends here."""
    end = len(writer.data)
    for part in layout.parts:
        if isinstance(part, Length) and part.of == REST:
            at = start + layout.offset(part.name)
            first = at + FIXED_WIDTH[part.kind].size
            writer.patch(part.name, part.kind, at, end - first)
            writer.cover(part.name, "length", first, end)
    for part in layout.parts:
        if isinstance(part, Checksum) and part.over == REST:
            at = start + layout.offset(part.name)
            first = at + FIXED_WIDTH[part.kind].size
            writer.patch(part.name, part.kind, at, part.algorithm.of(bytes(writer.data[first:])))
            writer.cover(part.name, part.algorithm.label, first, end)
