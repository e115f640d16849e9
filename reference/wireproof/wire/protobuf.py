"""Protobuf wire fields, without any schema: keys, payload bounds, packed chunks. heka.md, sections 1 and 4.

`fields` walks a window and stops at each field; what a number means, which wire type it must have and
whether it may be there at all are the schema's rules. The verdicts are the strict column of heka.md
section 4; the rule book's names travel as `detail`.
"""

from collections.abc import Callable, Iterator
from typing import Final

from attrs import frozen

from wireproof.wire.reader import Reader
from wireproof.wire.writer import MASK64, Writer

VARINT: Final = 0
FIXED64: Final = 1
LENGTH: Final = 2
GROUP: Final = 3
GROUP_END: Final = 4
FIXED32: Final = 5

MOST_DEPTH: Final = 100
"""Groups inside one another: the limit of Google's own parsers; deeper is refused as `bad-nesting`."""

_FIXED: Final = {FIXED64: 8, FIXED32: 4}
"""Bytes of the fixed-width wire types."""


@frozen
class WireField:
    """One field as it stands on the wire.

    Attributes:
        number: the field number, at least 1.
        wire: `VARINT`, `FIXED64`, `LENGTH`, `GROUP` or `FIXED32`.
        at: the first byte of the key.
        start: the first byte of the payload; for `LENGTH` behind the length, for `GROUP` behind the key.
        end: one past the payload; for `GROUP` behind its end key.
        value: the unsigned integer of `VARINT`, `FIXED64` and `FIXED32`; 0 for the others.
    """

    number: int
    wire: int
    at: int
    start: int
    end: int
    value: int = 0

    @property
    def length(self) -> int:
        """Bytes of the payload."""
        return self.end - self.start


def numbered(number: int) -> str:
    """The name of a field that no schema names."""
    return f"#{number}"


def int64(value: int) -> int:
    """The 64 bits of a varint as protobuf's int64."""
    return (value & MASK64 ^ 1 << 63) - (1 << 63)


def int32(value: int) -> int:
    """The low 32 bits as protobuf's int32: `ff ff ff ff 0f` and the 10-byte form are both -1 (M14, M15)."""
    return (value & 0xFFFF_FFFF ^ 1 << 31) - (1 << 31)


def fields(reader: Reader, label: Callable[[int], str] = numbered) -> Iterator[WireField]:
    """Every field of the window, in wire order; after each the reader steps over what was left unread.

    Integers are read and traced here. For `LENGTH` and `GROUP` the reader stands on `start` while the
    field is in the caller's hands, who reads the payload itself (`window`, `take`) or leaves it.

    Args:
        reader: the window; all of it is walked.
        label: the name of the field of a given number, asked once for each field.

    Raises:
        Rejected: `bad-varint`, `bad-kind` (wire type 6 or 7, number 0, stray group end), `bad-nesting`,
            `length-past-end`, or the window's `short` class where the bytes run out.
    """
    while reader.left:
        at = reader.pos
        number, wire = _key(reader, "key")
        if wire == GROUP_END:  # M96
            raise reader.reject("bad-kind", "key", "the end of no group", at=at, detail="bad_wiretype")
        name = label(number)
        reader.region(f"{name}.key", "uvarint", at, reader.pos, number << 3 | wire)
        field = _bounds(reader, name, number, wire, at)
        if wire in (LENGTH, GROUP):
            reader.pos = field.start
        yield field
        if reader.pos != field.end:
            reader.pos = field.end
            reader.region(name, "group" if wire == GROUP else "bytes", field.start, field.end)


def _key(reader: Reader, name: str) -> tuple[int, int]:
    """Field number and wire type of the next key. heka.md section 4: M29, M30, M31, M40, M41."""
    at = reader.pos
    raw, size = reader.base128(name, 10, "varint_too_long")
    if raw > MASK64:
        raise reader.reject("bad-varint", name, "more than 64 bits", at=at, detail="varint_overflow")
    if size > 1 and not raw >> 7 * (size - 1):
        raise reader.reject("bad-varint", name, f"{size} bytes for {raw}", at=at, detail="key_nonminimal")
    number, wire = raw >> 3, raw & 7
    if wire > FIXED32:
        raise reader.reject("bad-kind", name, f"wire type {wire}", at=at, detail="bad_wiretype")
    if not number:
        raise reader.reject("bad-kind", name, "field number 0", at=at, detail="field_number_zero")
    return number, wire


def _bounds(reader: Reader, name: str, number: int, wire: int, at: int) -> WireField:
    """Read an integer, or step over bytes or a group: the payload's bounds, and the reader behind it."""
    start, value = reader.pos, 0
    match wire:
        case 0:
            value = varint(reader, name)
        case 1:
            value = reader.uint64le(name)
        case 5:
            value = reader.uint32le(name)
        case 2:
            length = _length(reader, name)
            start = reader.pos
            reader.skip(name, length)
        case _:
            _skip_group(reader, name, number)
    return WireField(number, wire, at, start, reader.pos, value)


def varint(reader: Reader, name: str) -> int:
    """An unsigned varint of 64 bits. heka.md section 4: M10 to M13.

    More than 10 bytes and bits above the 64th are refused (`bad-varint`); trailing zero groups are
    remarked as `varint-nonminimal`, as every decoder of the rule book but Java's takes them.
    """
    at = reader.pos
    value, size = reader.base128(name, 10, "varint_too_long")
    if value > MASK64:
        raise reader.reject("bad-varint", name, "more than 64 bits", at=at, detail="varint_overflow")
    if size > 1 and not value >> 7 * (size - 1):
        reader.remark("varint-nonminimal", name, at=at)
    reader.region(name, "uvarint", at, reader.pos, value)
    return value


def _length(reader: Reader, name: str) -> int:
    """The length in front of a payload. heka.md section 4: M44, M45."""
    at = reader.pos
    length = varint(reader, f"{name}.length")
    if length >> 63:
        raise reader.reject("length-past-end", name, f"length {length}", at=at, detail="length_overflow")
    reader.cover(f"{name}.length", "length", reader.pos, reader.pos + length)
    return length


def _skip_group(reader: Reader, name: str, number: int) -> None:
    """Step over the fields of a group and its end key, without recursion. heka.md section 4: M23."""
    open_groups = [number]
    while open_groups:
        at = reader.pos
        inner, wire = _key(reader, name)
        match wire:
            case 3 if len(open_groups) == MOST_DEPTH:
                raise reader.reject("bad-nesting", name, f"more than {MOST_DEPTH} groups", at=at)
            case 3:
                open_groups.append(inner)
            case 4 if open_groups.pop() != inner:
                raise reader.reject("bad-nesting", name, f"end of group {inner}", at=at)
            case 4:
                pass
            case _:
                _skip(reader, name, wire)


def _skip(reader: Reader, name: str, wire: int) -> None:
    match wire:
        case 0:
            reader.base128(name, 10, "varint_too_long")
        case 1 | 5:
            reader.skip(name, _FIXED[wire])
        case _:
            length, _ = reader.base128(name, 10, "varint_too_long")
            reader.skip(name, length)


def packed_varints(reader: Reader, name: str) -> Iterator[int]:
    """The unsigned integers of a packed chunk, one whole window. heka.md section 4: M63 to M68.

    Raises:
        Rejected: as `varint`; a chunk that ends inside an integer is `length-past-end`.
    """
    while reader.left:
        yield varint(reader, name)


def packed_fixed64(reader: Reader, name: str) -> Iterator[bytes]:
    """The 8-byte values of a packed chunk, one whole window. heka.md section 4: M70 to M72.

    Raises:
        Rejected: `bad-length`, when the chunk is no multiple of 8 bytes.
    """
    if reader.left % 8:
        raise reader.reject(
            "bad-length", name, f"{reader.left} bytes of doubles", detail="packed_double_size"
        )
    while reader.left:
        yield reader.take(name, 8)


# --- writing ---


def put_varint(writer: Writer, name: str, number: int, value: int) -> None:
    """A varint field; a negative value takes ten bytes, as protobuf has it."""
    writer.uvarint(f"{name}.key", number << 3 | VARINT)
    writer.uvarint(name, value)


def put_bytes(writer: Writer, name: str, number: int, data: bytes) -> None:
    """A length-delimited field: bytes, text, a packed chunk or an inner message."""
    writer.uvarint(f"{name}.key", number << 3 | LENGTH)
    writer.uvarint(f"{name}.length", len(data))
    writer.cover(f"{name}.length", "length", writer.pos, writer.pos + len(data))
    writer.put(name, data)
