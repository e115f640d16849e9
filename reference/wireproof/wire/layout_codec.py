"""Decode and encode of adjacent integers of fixed width, derived from their layout.

The bytes are unpacked at once, which is faster than a call for each field. A reader or writer with a trace,
bytes that end too early, and a number that does not fit take the slow way, one primitive for each field, so
that spans, covers, paths and positions are those of the primitives.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from operator import attrgetter, itemgetter
from struct import Struct, error
from typing import Any, Literal

from attrs import field, frozen

from wireproof.wire.layout import REST, Checksum, Count, FixedPart, Layout, Length, Number, attribute_of
from wireproof.wire.reader import FIXED_WIDTH, Reader
from wireproof.wire.trace import CoverKind
from wireproof.wire.writer import TracingWriter, Writer


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


@frozen(eq=False)
class FixedRun:
    """Adjacent integers of fixed width, of which a reader or a writer gets a tuple in the order of the wire.

    Attributes:
        layout: the layout that has them.
        parts: in the order of the wire.
        packing: of all of them.
        steps: primitive, name and kind of cover ("" for none) of each, for the trace.
    """

    layout: Layout
    parts: tuple[FixedPart, ...]
    packing: Struct = field(init=False)
    steps: tuple[tuple[str, str, CoverKind | Literal[""]], ...] = field(init=False)

    @packing.default
    def _packing(self) -> Struct:
        return packing(self.parts)

    @steps.default
    def _steps(self) -> tuple[tuple[str, str, CoverKind | Literal[""]], ...]:
        return tuple((part.kind, part.name, _cover_of_rest(self.layout, part)) for part in self.parts)

    def read(self, reader: Reader) -> tuple[int, ...]:
        """Read the integers.

        Raises:
            Rejected: the window ends inside one of them.
        """
        pos, stop = reader.pos, reader.pos + self.packing.size
        if reader.tracing or stop > reader.end:
            return tuple(self._read_each(reader))
        reader.pos = stop
        return self.packing.unpack_from(reader.data, pos)

    def _read_each(self, reader: Reader) -> Iterator[int]:
        for kind, name, cover in self.steps:
            yield getattr(reader, kind)(name)
            if cover:
                reader.cover(name, cover, reader.pos, reader.end)

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
        for (kind, name, _), number in zip(self.steps, numbers, strict=True):
            getattr(writer, kind)(name, number)

    def select(self, *names: str) -> Callable[[tuple[int, ...]], tuple[int, ...]]:
        """Return a function that selects from these integers those with the given names, two or more."""
        known = [part.name for part in self.parts]
        return itemgetter(*map(known.index, names))

    def stored(self) -> Callable[[tuple[int, ...]], tuple[int, ...]]:
        """Return a function that selects from these integers those that a value has."""
        return itemgetter(*(at for at, part in enumerate(self.parts) if isinstance(part, Number)))

    def numbers(self) -> Callable[[Any, Sequence[int]], tuple[int, ...]]:
        """Return a function that makes these integers from a value and the computed ones, in their order."""
        stored = [part.name for part in self.parts if isinstance(part, Number)]
        computed = [part.name for part in self.parts if not isinstance(part, Number)]
        values = attrgetter(*map(attribute_of, stored))
        order = itemgetter(*((*stored, *computed).index(part.name) for part in self.parts))
        return lambda value, known: order((*values(value), *known))


def _cover_of_rest(layout: Layout, part: FixedPart) -> CoverKind | Literal[""]:
    """Return the kind of a cover from the end of a part to the end of its layout; "" if it has none."""
    match part:
        case Length(of=of) if of == REST:
            return "length"
        case Checksum(over=over, algorithm=algorithm) if over == REST:
            return algorithm.label
        case Count(of=of) if of == layout.parts[-1].name:
            return "count"
    return ""


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


@frozen
class _Patch:
    """A field that is written last: its position, the first byte after it, and its function of the rest."""

    name: str
    kind: str
    at: int
    first: int
    label: CoverKind
    of: Callable[[bytes], int] | None


@cache
def _patches(layout: Layout) -> tuple[_Patch, ...]:
    """Return the fields that are written last, the lengths before the checksums, which may cover them."""
    lengths = [part for part in layout.parts if isinstance(part, Length) and part.of == REST]
    sums = [part for part in layout.parts if isinstance(part, Checksum) and part.over == REST]
    return (*(_patch(layout, part, "length", None) for part in lengths),
            *(_patch(layout, part, part.algorithm.label, part.algorithm.of) for part in sums))  # fmt: skip


def _patch(
    layout: Layout, part: Length | Checksum, label: CoverKind, of: Callable[[bytes], int] | None
) -> _Patch:
    at = layout.offset(part.name)
    return _Patch(part.name, part.kind, at, at + FIXED_WIDTH[part.kind].size, label, of)


def patch_computed(writer: Writer, layout: Layout, start: int) -> None:
    """Write lengths, then checksums, over the rest of a layout that begins at `start` and ends here."""
    end = len(writer.data)
    for patch in _patches(layout):
        first = start + patch.first
        number = end - first if patch.of is None else patch.of(bytes(writer.data[first:]))
        writer.patch(patch.name, patch.kind, start + patch.at, number)
        writer.cover(patch.name, patch.label, first, end)
