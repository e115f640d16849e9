"""Readers of the primitives of all formats. They know the path of each field that they read.

`Reader` records nothing. `TracingReader` wraps every primitive of `Reader` and records a span for each
field, so that a decode without a trace does not pay for it. Big-endian integers have plain names (`int32`),
the names of little-endian ones end in `le`. Every primitive raises `Rejected` with the reader's `short`
class if not enough bytes are left, and never reads outside its window.
"""

from collections.abc import Callable, Collection, Mapping
from struct import Struct
from typing import Any, ClassVar, Final, Self

from wireproof.wire.options import MAX_OUTPUT
from wireproof.wire.rejection import OtherAnswer, Position, RejectClass, Remark
from wireproof.wire.remark_classes import REMARK_CLASSES
from wireproof.wire.trace import Cover, CoverKind, Cursor, FieldSpan, Scope


class Budget:
    """The number of bytes that decompression may still return, shared by all readers of one decode."""

    __slots__ = ("left",)

    def __init__(self, left: int = MAX_OUTPUT) -> None:
        """Allow `left` bytes."""
        self.left = left


class Reader(Cursor):
    """Reads the window from `pos` to `end` of `data`.

    Attributes:
        data: all bytes of this space.
        end: position after the last byte of the window.
        short: reject class of a read past `end`: `truncated` on the wire, `length-past-end` in a window.
        remarks: the remarks so far, shared with the readers of inner regions.
        budget: the budget for decompression, shared with the readers of inner regions.
        noted: the classes of which a remark is there already, where one of each is enough; else None. A
            batch may have millions of records, and a remark costs more than a record.
    """

    __slots__ = ("budget", "data", "end", "noted", "remarks", "short")

    tracing: ClassVar[bool] = False
    """True if spans are recorded; a hot loop checks it before it calls `cover` or `region`."""

    def __init__(  # noqa: PLR0913 - a window is these bounds and what it shares with its parent
        self,
        data: bytes,
        *,
        pos: int = 0,
        end: int | None = None,
        space: str = "",
        scope: Scope = None,
        short: RejectClass = "truncated",
        remarks: list[Remark] | None = None,
        budget: Budget | None = None,
    ) -> None:
        """Open a window of `data`; without bounds, open all of `data` as the wire."""
        super().__init__(pos, space, scope)
        self.data = data
        self.end = len(data) if end is None else end
        self.short: RejectClass = short
        self.remarks: list[Remark] = [] if remarks is None else remarks
        self.budget = Budget() if budget is None else budget
        self.noted: set[str] | None = None

    # --- windows and spaces ---

    @property
    def left(self) -> int:
        """Return the number of bytes left in the window."""
        return self.end - self.pos

    def window(self, name: str, length: int, short: RejectClass = "length-past-end") -> Self:
        """Return a reader of the next `length` bytes, and move this reader past them."""
        start = self.pos
        self.skip(name, length)
        return self._child(self.data, start, start + length, self.space, short)

    def inner_reader(self, data: bytes, start: int) -> Self:
        """Return a reader of `data`, decompressed from the region that begins at `start` of this space."""
        return self._child(data, 0, len(data), f"{self.space}{start}>", "length-past-end")

    def _child(self, data: bytes, pos: int, end: int, space: str, short: RejectClass) -> Self:
        child = type(self)(
            data,
            pos=pos,
            end=end,
            space=space,
            scope=self.scope,
            short=short,
            remarks=self.remarks,
            budget=self.budget,
        )
        child.noted = self.noted
        return child

    # --- remarks and layout ---

    def remark(
        self, cls: str, name: str, *, at: int | None = None, others: tuple[OtherAnswer, ...] = ()
    ) -> None:
        """Add the remark `cls`, a key of `REMARK_CLASSES`: the format leaves the answer for `name` open."""
        position: Position = self.at(self.pos if at is None else at)
        self.remarks.append(Remark(cls, position, self.path(name), REMARK_CLASSES[cls].rejectable, others))

    def remark_once(
        self, cls: str, name: str, *, at: int | None = None, others: tuple[OtherAnswer, ...] = ()
    ) -> None:
        """Add the remark `cls` unless it is one of `noted`."""
        if self.noted is not None:
            if cls in self.noted:
                return
            self.noted.add(cls)
        self.remark(cls, name, at=at, others=others)

    def other(self, kind: str, name: str, value: Any) -> OtherAnswer:  # noqa: ANN401 - a JSON value
        """Return another allowed answer for `remark`: `value`, in JSON form, of the field `name`."""
        return OtherAnswer(kind, self.path(name), value)

    def cover(self, name: str, kind: CoverKind, start: int, end: int, bias: int = 0) -> None:
        """Record that the field `name`, already read, is the `kind` of the bytes `start` to `end`."""

    def cover_next(self, name: str, length: int, bias: int = 0) -> None:
        """Record that the field `name`, already read, is the length of the next bytes, if they are there."""

    def region(self, name: str, kind: str, start: int, end: int, value: Any = None) -> None:  # noqa: ANN401
        """Record a span that contains other spans, or that the codec read without a primitive."""

    # --- primitives ---

    def out_of_bytes(self, name: str, wanted: int) -> Exception:
        """Return the rejection of a read of `wanted` bytes, more than are left in the window."""
        return self.reject(self.short, name, f"needs {wanted} bytes, {self.left} left")

    def skip(self, name: str, length: int) -> None:
        """Skip `length` bytes."""
        if length < 0:
            raise self.reject("negative-length", name, f"length {length}")
        if length > self.end - self.pos:
            raise self.out_of_bytes(name, length)
        self.pos += length

    def take(self, name: str, length: int) -> bytes:
        """Read `length` bytes."""
        pos = self.pos
        if 0 <= length <= self.end - pos:
            self.pos = stop = pos + length
            return self.data[pos:stop]
        if length < 0:
            raise self.reject("negative-length", name, f"length {length}")
        raise self.out_of_bytes(name, length)

    def rest(self, name: str) -> bytes:
        """Read all bytes that are left."""
        return self.take(name, self.end - self.pos)

    def varint(self, name: str, bits: int = 32) -> int:
        """Read Kafka's zigzag varint of at most 5 bytes, or 10 for 64 bits: kafka.md, section 4."""
        pos = self.pos
        if pos < self.end:
            byte = self.data[pos]
            if byte < 0x80:
                self.pos = pos + 1
                return (byte >> 1) ^ -(byte & 1)
            if pos + 1 < self.end and 0 < (high := self.data[pos + 1]) < 0x80:  # two bytes, and not overlong
                self.pos = pos + 2
                return (high << 6 | (byte & 0x7F) >> 1) ^ -(byte & 1)
        raw, size = self.base128(name, 5 if bits == 32 else 10)
        low = raw & ((1 << bits) - 1)
        value = (low >> 1) ^ -(low & 1)
        if low != raw:  # Kafka's reader drops the high bits: T04, T05, T13, T14
            wide = (raw >> 1) ^ -(raw & 1)
            others = (self.other("kept-bits", name, str(wide)),)
            self.remark("varint-dropped-bits", name, at=pos, others=others)
        elif size > 1 and raw >> 7 * (size - 1) == 0:
            self.remark("varint-overlong", name, at=pos)
        return value

    def varlong(self, name: str) -> int:
        """Read Kafka's zigzag varlong of 64 bits, at most 10 bytes: kafka.md, section 4."""
        return Reader.varint(self, name, 64)  # the reader of a trace records one field

    def uvarint(self, name: str, bits: int = 64) -> int:
        """Read an unsigned varint of at most 10 bytes, or 5 for 32 bits: heka.md and kafka.md, section 4."""
        start = self.pos
        raw, size = self.base128(name, 5 if bits == 32 else 10)
        value = raw & ((1 << bits) - 1)
        if value != raw:
            self.remark("varint-dropped-bits", name, at=start)
        elif size > 1 and raw >> 7 * (size - 1) == 0:
            self.remark("varint-overlong", name, at=start)
        return value

    def base128(self, name: str, max_bytes: int, detail: str = "VARINT_TOO_LONG") -> tuple[int, int]:
        """Read a base-128 integer of at most `max_bytes` bytes; return it and its size in bytes.

        It is not traced, and bits above the width of the caller's type are not dropped.

        Raises:
            Rejected: `bad-varint`, with `detail`, for more than `max_bytes` bytes.
        """
        data, pos, raw = self.data, self.pos, 0
        for size in range(min(max_bytes, self.end - pos)):
            byte = data[pos + size]
            raw |= (byte & 0x7F) << (7 * size)
            if byte < 0x80:
                self.pos = pos + size + 1
                return raw, size + 1
        if self.end - pos < max_bytes:
            raise self.out_of_bytes(name, self.end - pos + 1)
        raise self.reject("bad-varint", name, f"more than {max_bytes} bytes", detail=detail)

    int8: Callable[[str], int]
    int16: Callable[[str], int]
    int32: Callable[[str], int]
    int64: Callable[[str], int]
    uint8: Callable[[str], int]
    uint16: Callable[[str], int]
    uint32: Callable[[str], int]
    uint64: Callable[[str], int]
    int16le: Callable[[str], int]
    int32le: Callable[[str], int]
    int64le: Callable[[str], int]
    uint16le: Callable[[str], int]
    uint32le: Callable[[str], int]
    uint64le: Callable[[str], int]

    def uint128le(self, name: str) -> int:
        """Read an unsigned integer of 128 bits."""
        return int.from_bytes(self.take(name, 16), "little")


_CODES: Final = {
    "int8": "b", "int16": "h", "int32": "i", "int64": "q",
    "uint8": "B", "uint16": "H", "uint32": "I", "uint64": "Q",
}  # fmt: skip

FIXED_WIDTH: Final[dict[str, Struct]] = {
    **{name: Struct(f">{code}") for name, code in _CODES.items()},
    **{f"{name}le": Struct(f"<{code}") for name, code in _CODES.items() if code not in "bB"},
}
"""The fixed-width integers by name."""


def _fixed(packing: Struct) -> Callable[[Reader, str], int]:
    unpack, size = packing.unpack_from, packing.size

    def read(self: Reader, name: str) -> int:
        pos = self.pos
        if self.end - pos < size:
            raise self.out_of_bytes(name, size)
        self.pos = pos + size
        value: int = unpack(self.data, pos)[0]
        return value

    return read


for _name, _packing in FIXED_WIDTH.items():
    setattr(Reader, _name, _fixed(_packing))


class TracingReader(Reader):
    """A reader that records a `FieldSpan` of every field; readers of inner regions share its list.

    Attributes:
        spans: the spans so far, shared with the readers of inner regions.
        lengths: the names of the lengths of each part, by its name, as the layout of the format has them.
    """

    __slots__ = ("_last_index", "lengths", "spans")

    tracing: ClassVar[bool] = True

    def __init__(self, data: bytes, *, spans: list[FieldSpan] | None = None, **window: Any) -> None:  # noqa: ANN401
        """Open a window as `Reader` does; `spans` is the list to which spans are added."""
        super().__init__(data, **window)
        self.spans: list[FieldSpan] = [] if spans is None else spans
        self.lengths: Mapping[str, Collection[str]] = {}
        self._last_index = {(span.space, span.path): index for index, span in enumerate(self.spans)}

    def _record(self, span: FieldSpan) -> None:
        """Add a span, and note its index: `cover` needs the last span of a path without a search."""
        self._last_index[span.space, span.path] = len(self.spans)
        self.spans.append(span)

    def _child(self, data: bytes, pos: int, end: int, space: str, short: RejectClass) -> Self:
        child = super()._child(data, pos, end, space, short)
        child.spans, child._last_index = self.spans, self._last_index  # noqa: SLF001 - of the same class
        child.lengths = self.lengths
        return child

    def cover(self, name: str, kind: CoverKind, start: int, end: int, bias: int = 0) -> None:
        """Add a `Cover` to the last span of the field `name`."""
        index = self._last_index.get((self.space, self.path(name)))
        if index is not None:
            self.spans[index] = self.spans[index].with_cover(Cover(kind, start, end, bias))

    def cover_next(self, name: str, length: int, bias: int = 0) -> None:
        """Add a `Cover` of the next `length` bytes to the field `name`; none if the window ends before."""
        if 0 <= length <= self.left:
            self.cover(name, "length", self.pos, self.pos + length, bias)

    def region(self, name: str, kind: str, start: int, end: int, value: Any = None) -> None:  # noqa: ANN401
        """Record a span that the codec describes itself."""
        self._record(FieldSpan(self.path(name), self.space, start, end, kind, value))

    def cover_declared_length(self, name: str, start: int) -> None:
        """Add a `Cover` to the field before the bytes of `name` just read, if it is declared as their length.

        A number that is not their size is no cover: some lengths count one more, and codecs report these.
        """
        declared = self.lengths.get(name)
        if declared is None or len(self.spans) < 2:
            return
        length, data = self.spans[-2:]
        if length.cover is not None or length.value != data.end - start or length.space != data.space:
            return
        scope = data.path[: len(data.path) - len(name)]
        if length.path.startswith(scope) and length.path[len(scope) :] in declared:
            self.spans[-2] = length.with_cover(Cover("length", start, data.end))


def _traced(kind: str) -> Callable[..., Any]:
    plain = getattr(Reader, kind)
    label = {"take": "bytes", "rest": "bytes"}.get(kind, kind)

    def read(self: TracingReader, name: str, *args: Any) -> Any:  # noqa: ANN401 - wraps every primitive
        start = self.pos
        value = plain(self, name, *args)
        self._record(FieldSpan(self.path(name), self.space, start, self.pos, label, value))
        if kind == "take":
            self.cover_declared_length(name, start)
        return value

    return read


for _name in (*FIXED_WIDTH, "uint128le", "take", "varint", "varlong", "uvarint"):
    setattr(TracingReader, _name, _traced(_name))
