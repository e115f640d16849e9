"""Decode and encode of adjacent fields of fixed width, derived from their layout.

The bytes are unpacked at once, which is faster than a call for each field. A reader or writer with a trace,
bytes that end too early, and a number that does not fit take the slow way, one primitive for each field, so
that spans, covers, paths and positions are those of the primitives.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from itertools import accumulate
from operator import attrgetter, itemgetter
from struct import Struct, error
from typing import Any, Literal, TypeAlias

from attrs import frozen

from wireproof.wire.layout import (
    REST,
    Checksum,
    Count,
    FixedPart,
    Layout,
    Length,
    Number,
    Octets,
    Part,
    Zero,
    attribute_of,
    width_of,
)
from wireproof.wire.reader import FIXED_WIDTH, Reader
from wireproof.wire.trace import CoverKind
from wireproof.wire.writer import TracingWriter, Writer

RunPart: TypeAlias = FixedPart | Zero | Octets
"""The parts that a run may have: integers, and bytes of a fixed size."""

Check = Callable[[Reader, Any, Any, int], Any]
"""Returns the value of a field, or remarks or refuses it: reader, part, number or bytes, and position."""


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
    """Return whether a part may be in a run."""
    return isinstance(part, RunPart) and width_of(part) is not None


@frozen(eq=False)
class _Step:
    """A field of a run: its index, its position in the run, and how it is read.

    Attributes:
        kind: the primitive; empty for bytes.
        size: of bytes; 0 for integers.
        cover: of what it is the length, the count or the checksum to the end of the layout; else empty.
        most: the largest number, if it is not that of the primitive.
        limited: whether not every number is valid.
    """

    index: int
    at: int
    part: RunPart
    name: str
    kind: str
    size: int
    cover: CoverKind | Literal[""]
    most: int | None
    known: frozenset[int] | None
    limited: bool

    def fault_of(self, number: Any) -> str:  # noqa: ANN401 - an integer or bytes
        """Return why a number is not valid for the field; empty if it is."""
        if self.most is not None and number > self.most:
            return f"{number}, at most {self.most}"
        return f"code {number}" if self.known is not None and number not in self.known else ""


def _step(layout: Layout, index: int, at: int, part: RunPart, *, alone: bool) -> _Step:
    kind = "" if isinstance(part, Octets) else part.kind
    size = part.size if isinstance(part, Zero | Octets) else 0
    cover = _cover_of_rest(layout, part) if alone else ""
    most, known = (part.most, part.known) if isinstance(part, Number) else (None, None)
    return _Step(index, at, part, part.name, kind, size, cover, most, known, _is_limited(part))


def _is_limited(part: RunPart) -> bool:
    match part:
        case Number(codes=codes, most=most, known=known):
            return any(limit is not None for limit in (codes, most, known))
        case Zero(nonzero=nonzero):
            return nonzero != "accept"
    return False


@frozen(eq=False)
class FixedRun:
    """Adjacent fields of fixed width, of which a reader or a writer gets a tuple in the order of the wire.

    Attributes:
        layout: the layout that has them.
        parts: in the order of the wire.
        check: looks at the fields in which not every number is valid; None if all are taken as they are.
        alone: whether the window of the reader has this layout alone. Then a length, a count or a checksum of
            the rest is traced as such at once; else the codec calls `cover`.
    """

    layout: Layout
    parts: tuple[RunPart, ...]
    check: Check | None = None
    alone: bool = True

    @cached_property
    def packing(self) -> Struct:
        """Return the packing of all fields."""
        return packing(self.parts)

    @cached_property
    def _steps(self) -> tuple[_Step, ...]:
        starts = accumulate((width_of(part) or 0 for part in self.parts), initial=0)
        rows = enumerate(zip(starts, self.parts, strict=False))
        return tuple(_step(self.layout, index, at, part, alone=self.alone) for index, (at, part) in rows)

    @cached_property
    def _wide(self) -> tuple[int, ...]:
        return tuple(step.index for step in self._steps if step.kind == "uint128le")

    @cached_property
    def _limited(self) -> tuple[_Step, ...]:
        return tuple(step for step in self._steps if step.limited)

    @cached_property
    def _named(self) -> tuple[tuple[str, ...], Callable[[Sequence[Any]], tuple[Any, ...]]]:
        """Return the names of the fields that carry information, and the function that selects them."""
        kept = [step for step in self._steps if not isinstance(step.part, Zero)]
        return tuple(step.name for step in kept), _selector([step.index for step in kept])

    @cached_property
    def _numbers(self) -> Callable[[Any, Sequence[int]], tuple[Any, ...]]:
        return self.numbers()

    @cached_property
    def _computed(self) -> tuple[str, ...]:
        return tuple(step.name for step in self._steps if not isinstance(step.part, Number | Zero))

    @cached_property
    def _coded(self) -> tuple[tuple[int, Number], ...]:
        parts = enumerate(self.parts)
        return tuple((index, part) for index, part in parts if isinstance(part, Number) and part.codes)

    @cached_property
    def offsets(self) -> Mapping[str, int]:
        """Return the positions of the fields in the run."""
        return {step.name: step.at for step in self._steps}

    def read(self, reader: Reader) -> tuple[Any, ...]:
        """Read the fields.

        Raises:
            Rejected: the window ends inside one of them, or `check` refuses one.
        """
        pos, stop = reader.pos, reader.pos + self.packing.size
        if type(reader) is not Reader or stop > reader.end:
            return tuple(self._read_each(reader))
        reader.pos = stop
        found = self.packing.unpack_from(reader.data, pos)
        if not self._wide and self.check is None:
            return found
        return tuple(self._checked(reader, list(found), pos))

    def _checked(self, reader: Reader, found: list[Any], pos: int) -> list[Any]:
        """Return the fields after `check`; `found` has integers of 128 bits as bytes."""
        for index in self._wide:
            found[index] = int.from_bytes(found[index], "little")
        if self.check is not None:
            for step in self._limited:
                found[step.index] = self.check(reader, step.part, found[step.index], pos + step.at)
        return found

    def _read_each(self, reader: Reader) -> Iterator[Any]:
        start = reader.pos
        for step in self._steps:
            name = step.name
            number = reader.take(name, step.size) if step.size else getattr(reader, step.kind)(name)
            if step.cover:
                reader.cover(name, step.cover, reader.pos, reader.end)
            if step.limited and self.check is not None:
                number = self.check(reader, step.part, number, start + step.at)
            yield number

    def peek(self, data: bytes | bytearray, pos: int) -> tuple[int, ...]:
        """Return the integers at `pos`; all their bytes must be there."""
        return self.packing.unpack_from(data, pos)

    def write(self, writer: Writer, numbers: Sequence[Any]) -> None:
        """Write the fields.

        Raises:
            Rejected: `invalid-value` at the path of an integer that does not fit its field.
        """
        if not isinstance(writer, TracingWriter):
            try:
                plain = numbers if not self._wide and self.check is None else self._packed(numbers)
                writer.data += self.packing.pack(*plain)
            except (error, OverflowError):
                pass  # the field that does not fit is named below
            else:
                writer.pos = len(writer.data)
                return
        for step, number in zip(self._steps, numbers, strict=True):
            if fault := step.fault_of(number):
                raise writer.invalid(step.name, fault)
            getattr(writer, step.kind or "put")(step.name, number)

    def select(self, *names: str) -> Callable[[Sequence[Any]], tuple[Any, ...]]:
        """Return a function that selects from these fields those with the given names."""
        known = [part.name for part in self.parts]
        return _selector([known.index(name) for name in names])

    def _packed(self, numbers: Sequence[Any]) -> list[Any]:
        """Return the fields as `packing` has them.

        Raises:
            OverflowError: one does not fit.
        """
        packed = list(numbers)
        if any(step.fault_of(packed[step.index]) for step in self._limited):
            raise OverflowError
        for index in self._wide:
            packed[index] = packed[index].to_bytes(16, "little")
        return packed

    def read_fields(self, reader: Reader) -> dict[str, Any]:
        """Read the fields as `read` does, and return them by name, without those that are always 0."""
        names, select = self._named
        return dict(zip(names, select(self.read(reader)), strict=True))

    def write_fields(self, writer: Writer, value: Any, **computed: int) -> None:  # noqa: ANN401 - of any class
        """Write the fields of a value, which has names for codes; computed fields not given are 0."""
        numbers = self._numbers(value, [computed.get(name, 0) for name in self._computed])
        if self._coded:
            row = list(numbers)
            for index, part in self._coded:
                row[index] = part.code(row[index])
            numbers = tuple(row)
        self.write(writer, numbers)

    def stored(self) -> Callable[[Sequence[Any]], tuple[Any, ...]]:
        """Return a function that selects from these fields the numbers that a value has."""
        return _selector([step.index for step in self._steps if isinstance(step.part, Number)])

    def numbers(self) -> Callable[[Any, Sequence[int]], tuple[Any, ...]]:
        """Return a function that makes these fields from a value and the computed ones, in their order."""
        stored = [step.name for step in self._steps if isinstance(step.part, Number)]
        zeros = [step for step in self._steps if isinstance(step.part, Zero)]
        fixed = tuple(bytes(step.size) if step.size else 0 for step in zeros)
        computed = [step.name for step in self._steps if not isinstance(step.part, Number | Zero)]
        values = _getter([attribute_of(name) for name in stored])
        names = (*stored, *(step.name for step in zeros), *computed)
        order = _selector([names.index(part.name) for part in self.parts])
        return lambda value, known: order((*values(value), *fixed, *known))


def _selector(indexes: Sequence[int]) -> Callable[[Sequence[Any]], tuple[Any, ...]]:
    """Return a function that selects elements, also if there is one or none."""
    if len(indexes) > 1:
        return itemgetter(*indexes)
    return lambda row: tuple(row[index] for index in indexes)


def _getter(names: Sequence[str]) -> Callable[[Any], tuple[Any, ...]]:
    """Return a function that gets attributes, also if there is one or none."""
    if len(names) > 1:
        return attrgetter(*names)
    return lambda value: tuple(getattr(value, name) for name in names)


def _cover_of_rest(layout: Layout, part: RunPart) -> CoverKind | Literal[""]:
    """Return the kind of a cover from the end of a part to the end of its layout; "" if it has none."""
    match part:
        case Length(of=of) if of == REST:
            return "length"
        case Checksum(over=over, algorithm=algorithm) if over == REST:
            return algorithm.label
        case Count(of=of) if of == layout.parts[-1].name:
            return "count"
    return ""


def segments(
    layout: Layout, *ends: str, check: Check | None = None, alone: bool = True
) -> tuple[FixedRun | Part, ...]:
    """Return the parts of a layout, with adjacent ones of fixed width as runs, cut after each in `ends`."""
    found: list[FixedRun | Part] = []
    adjacent: list[RunPart] = []
    for part in (*layout.parts, None):
        if isinstance(part, RunPart) and is_fixed(part):
            adjacent.append(part)
        if adjacent and (part is None or part.name in ends or part is not adjacent[-1]):
            found.append(FixedRun(layout, tuple(adjacent), check, alone))
            adjacent = []
        if part is not None and not is_fixed(part):
            found.append(part)
    return tuple(found)


def runs(layout: Layout, *ends: str, check: Check | None = None, alone: bool = True) -> Sequence[FixedRun]:
    """Return the runs at the beginning of a layout, cut after each part in `ends`."""
    found: list[FixedRun] = []
    for part in segments(layout, *ends, check=check, alone=alone):
        if not isinstance(part, FixedRun):
            break
        found.append(part)
    return found


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
