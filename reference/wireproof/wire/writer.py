"""Writers of the primitives of all formats: the counterpart of `Reader`, with the same paths and trace.

A value that does not fit its field is rejected as `invalid-value` at the path of the field.
"""

from collections.abc import Callable
from struct import Struct, error
from typing import Any, Final

from attrs import evolve

from wireproof.wire.reader import FIXED_WIDTH
from wireproof.wire.rejection import Rejected
from wireproof.wire.trace import Cover, CoverKind, Cursor, FieldSpan, Scope

MASK64: Final = 0xFFFF_FFFF_FFFF_FFFF


def encode_uvarint(value: int) -> bytes:
    """Return `value`, which must not be negative, in base 128."""
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def zigzag(value: int) -> int:
    """Return the zigzag encoding of a signed integer: 0, -1, 1, -2 become 0, 1, 2, 3."""
    return value << 1 if value >= 0 else (-value << 1) - 1


class Writer(Cursor):
    """Appends fields to `data`."""

    __slots__ = ("data",)

    def __init__(self, *, space: str = "", scope: Scope = None) -> None:
        """Create a writer without data."""
        super().__init__(0, space, scope)
        self.data = bytearray()

    def invalid(self, name: str, text: str) -> Rejected:
        """Return a rejection of the value of the field `name`, for the caller to raise."""
        return Rejected("invalid-value", -1, self.path(name), text)

    def put(self, name: str, data: bytes) -> None:  # noqa: ARG002 - the trace needs the name
        """Append `data`."""
        self.data += data
        self.pos = len(self.data)

    def pack(self, pack: Callable[..., bytes], *fields: Any) -> None:  # noqa: ANN401 - integers and bytes
        """Append adjacent fields at once; raise what `pack` raises if one does not fit."""
        self.data += pack(*fields)
        self.pos = len(self.data)

    def varint(self, name: str, value: int, bits: int = 32) -> None:
        """Append Kafka's zigzag varint."""
        if not -(1 << bits - 1) <= value < 1 << bits - 1:
            raise self.invalid(name, f"{value} does not fit {bits} bits")
        Writer.put(self, name, encode_uvarint(zigzag(value)))

    def varlong(self, name: str, value: int) -> None:
        """Append Kafka's zigzag varlong of 64 bits."""
        Writer.varint(self, name, value, 64)

    def uvarint(self, name: str, value: int) -> None:
        """Append an unsigned varint of 64 bits; of a negative value its two's complement, as in protobuf."""
        if not -(1 << 63) <= value <= MASK64:
            raise self.invalid(name, f"{value} does not fit 64 bits")
        Writer.put(self, name, encode_uvarint(value & MASK64))

    def uint128le(self, name: str, value: int) -> None:
        """Append an unsigned integer of 128 bits, little-endian."""
        if not 0 <= value < 1 << 128:
            raise self.invalid(name, f"{value} does not fit 128 bits")
        Writer.put(self, name, value.to_bytes(16, "little"))

    def patch(self, name: str, kind: str, pos: int, value: int) -> None:
        """Overwrite the fixed-width integer `kind` at `pos`, when the length or checksum is known."""
        try:
            FIXED_WIDTH[kind].pack_into(self.data, pos, value)
        except error:
            raise self.invalid(name, f"{value} does not fit {kind}") from None

    def cover(self, name: str, kind: CoverKind, start: int, end: int, bias: int = 0) -> None:
        """Record that the field `name` is the `kind` of the bytes `start` to `end`."""

    int8: Callable[[str, int], None]
    int16: Callable[[str, int], None]
    int32: Callable[[str, int], None]
    int64: Callable[[str, int], None]
    uint8: Callable[[str, int], None]
    uint16: Callable[[str, int], None]
    uint32: Callable[[str, int], None]
    uint64: Callable[[str, int], None]
    int16le: Callable[[str, int], None]
    int32le: Callable[[str, int], None]
    int64le: Callable[[str, int], None]
    uint16le: Callable[[str, int], None]
    uint32le: Callable[[str, int], None]
    uint64le: Callable[[str, int], None]


def _fixed(kind: str, packing: Struct) -> Callable[[Writer, str, int], None]:
    def write(self: Writer, name: str, value: int) -> None:
        try:
            self.data += packing.pack(value)
        except error:
            raise self.invalid(name, f"{value} does not fit {kind}") from None
        self.pos = len(self.data)

    return write


for _name, _packing in FIXED_WIDTH.items():
    setattr(Writer, _name, _fixed(_name, _packing))


class TracingWriter(Writer):
    """A writer that records a `FieldSpan` of every field."""

    __slots__ = ("spans",)

    def __init__(self, *, space: str = "", scope: Scope = None) -> None:
        """Create a writer without data and with an empty trace."""
        super().__init__(space=space, scope=scope)
        self.spans: list[FieldSpan] = []

    def pack(self, pack: Callable[..., bytes], *fields: Any) -> None:  # noqa: ANN401 - as there
        """Append nothing and raise `OverflowError`: each field has a span of its own."""
        del pack, fields
        raise OverflowError

    def patch(self, name: str, kind: str, pos: int, value: int) -> None:
        """Overwrite the bytes, and the value of the span that begins at `pos`, which is not empty."""
        super().patch(name, kind, pos, value)
        self.spans = [
            evolve(span, value=value) if span.start == pos < span.end else span for span in self.spans
        ]

    def cover(self, name: str, kind: CoverKind, start: int, end: int, bias: int = 0) -> None:
        """Add a `Cover` to the last span of the field `name`."""
        path = self.path(name)
        for index in range(len(self.spans) - 1, -1, -1):
            if self.spans[index].path == path:
                self.spans[index] = self.spans[index].with_cover(Cover(kind, start, end, bias))
                return


def _traced(kind: str) -> Callable[..., None]:
    plain = getattr(Writer, kind)
    label = {"put": "bytes"}.get(kind, kind)

    def write(self: TracingWriter, name: str, value: Any) -> None:  # noqa: ANN401 - wraps every primitive
        start = self.pos
        plain(self, name, value)
        self.spans.append(FieldSpan(self.path(name), self.space, start, self.pos, label, value))

    return write


for _name in (*FIXED_WIDTH, "uint128le", "put", "varint", "varlong", "uvarint"):
    setattr(TracingWriter, _name, _traced(_name))
