"""Protobuf wire fields without a schema: keys, payloads, packed chunks. heka.md, sections 1 and 4.

`read_fields` yields the fields of a window one by one. The description of a message decides which numbers and
wire types are allowed (`wireproof.schema.protobuf`). Rejections and remarks follow the strict column of
heka.md section 4, and `detail` has its names.
"""

from collections.abc import Callable, Iterator
from typing import Final

from attrs import frozen

from wireproof.wire.reader import Reader
from wireproof.wire.writer import MASK64, Writer

VARINT: Final = 0
FIXED64: Final = 1
LENGTH_DELIMITED: Final = 2
START_GROUP: Final = 3
END_GROUP: Final = 4
FIXED32: Final = 5

MAX_DEPTH: Final = 100
"""The deepest nesting of groups, which is the limit of Google's parsers; deeper ones are `bad-nesting`."""

MAX_KEY: Final = 0xFFFF_FFFF
"""The largest key: its field number has 29 bits, and its wire type 3. heka.md section 4, keys."""

_FIXED: Final = {FIXED64: 8, FIXED32: 4}
"""Sizes of the fixed-width wire types in bytes."""


@frozen
class WireField:
    """One field on the wire.

    Attributes:
        number: the field number, at least 1.
        wire: the wire type: `VARINT`, `FIXED64`, `LENGTH_DELIMITED`, `START_GROUP` or `FIXED32`.
        at: position of the first byte of the key.
        start: position of the payload: for `LENGTH_DELIMITED` after the length, for `START_GROUP` after the
            key.
        end: position after the payload; for `START_GROUP` after its end key.
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
        """Return the size of the payload in bytes."""
        return self.end - self.start


def unknown_field_name(number: int) -> str:
    """Return the name of a field that is not in the schema: `#` and its number."""
    return f"#{number}"


def as_int64(value: int) -> int:
    """Return the 64 bits of a varint as a protobuf int64."""
    return (value & MASK64 ^ 1 << 63) - (1 << 63)


def as_int32(value: int) -> int:
    """Return the low 32 bits of a varint as a protobuf int32.

    The 5 bytes `ff ff ff ff 0f` and the 10-byte form are both -1 (M14, M15).
    """
    return (value & 0xFFFF_FFFF ^ 1 << 31) - (1 << 31)


def unzigzag(value: int) -> int:
    """Return the number that a varint means in the types sint32 and sint64."""
    return (value >> 1) ^ -(value & 1)


def read_fields(reader: Reader, label: Callable[[int], str] = unknown_field_name) -> Iterator[WireField]:
    """Yield every field of the window in wire order.

    Integers are read and traced here. When a `LENGTH_DELIMITED` or `START_GROUP` field is yielded, the reader
    is at its `start`, and the caller may read the payload (`window`, `take`). Bytes that it does not read are
    skipped.

    Args:
        reader: the window, which is read to its end.
        label: returns the name of a field number; called once for each field.

    Raises:
        Rejected: `bad-varint`, `bad-kind` (wire type 6 or 7, number 0, end of a group that was not started),
            `bad-nesting`, `length-past-end`, or the window's `short` class if the bytes run out.
    """
    while reader.left:
        at = reader.pos
        number, wire = _key(reader, "key")
        if wire == END_GROUP:  # M96
            raise reader.reject("bad-kind", "key", "end of a group not started", at=at, detail="bad_wiretype")
        name = label(number)
        reader.region(f"{name}.key", "uvarint", at, reader.pos, number << 3 | wire)
        start, value = reader.pos, 0
        match wire:
            case 0:
                value = read_varint(reader, name)
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
        field = WireField(number, wire, at, start, reader.pos, value)
        if wire in (LENGTH_DELIMITED, START_GROUP):
            reader.pos = start
        yield field
        if reader.pos != field.end:
            reader.pos = field.end
            reader.region(name, "group" if wire == START_GROUP else "bytes", field.start, field.end)


def _key(reader: Reader, name: str) -> tuple[int, int]:
    """Read the next key: field number and wire type. heka.md section 4: keys, M29, M30, M31, M40, M41."""
    at = reader.pos
    raw, size = reader.base128(name, 10, "varint_too_long")
    if raw > MAX_KEY:
        raise reader.reject("bad-varint", name, "more than 32 bits", at=at, detail="key_overflow")
    if size > 1 and not raw >> 7 * (size - 1):
        raise reader.reject("bad-varint", name, f"{raw} in {size} bytes", at=at, detail="key_nonminimal")
    number, wire = raw >> 3, raw & 7
    if wire > FIXED32:
        raise reader.reject("bad-kind", name, f"wire type {wire}", at=at, detail="bad_wiretype")
    if not number:
        raise reader.reject("bad-kind", name, "field number 0", at=at, detail="field_number_zero")
    return number, wire


def read_varint(reader: Reader, name: str) -> int:
    """Read an unsigned varint of 64 bits. heka.md section 4: M10 to M13.

    Trailing zero groups get the remark `varint-nonminimal`: every decoder of heka.md but Java's accepts them.

    Raises:
        Rejected: `bad-varint` for more than 10 bytes or for bits above the 64th.
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
    """Read the length before a payload. heka.md section 4: M44, M45."""
    at = reader.pos
    length = read_varint(reader, f"{name}.length")
    if length >> 63:
        raise reader.reject("length-past-end", name, f"length {length}", at=at, detail="length_overflow")
    reader.cover(f"{name}.length", "length", reader.pos, reader.pos + length)
    return length


def _skip_group(reader: Reader, name: str, number: int) -> None:
    """Skip the fields of a group and its end key, without recursion. heka.md section 4: M23."""
    open_groups = [number]
    while open_groups:
        at = reader.pos
        inner, wire = _key(reader, name)
        match wire:
            case 3 if len(open_groups) == MAX_DEPTH:
                raise reader.reject("bad-nesting", name, f"more than {MAX_DEPTH} groups", at=at)
            case 3:
                open_groups.append(inner)
            case 4 if open_groups.pop() != inner:
                raise reader.reject("bad-nesting", name, f"end of group {inner}", at=at)
            case 4:
                pass
            case 0:
                reader.base128(name, 10, "varint_too_long")
            case 1 | 5:
                reader.skip(name, _FIXED[wire])
            case _:
                length, _ = reader.base128(name, 10, "varint_too_long")
                reader.skip(name, length)


def read_packed_varints(reader: Reader, name: str) -> Iterator[int]:
    """Yield the unsigned integers of a packed chunk, the whole window. heka.md section 4: M63 to M68.

    Raises:
        Rejected: as `read_varint`; `length-past-end` if the chunk ends inside an integer.
    """
    while reader.left:
        yield read_varint(reader, name)


def read_packed_fixed64(reader: Reader, name: str) -> Iterator[bytes]:
    """Yield the 8-byte values of a packed chunk, the whole window. heka.md section 4: M70 to M72.

    Raises:
        Rejected: `bad-length` if the size of the chunk is not a multiple of 8.
    """
    if reader.left % 8:
        raise reader.reject(
            "bad-length", name, f"{reader.left} bytes of doubles", detail="packed_double_size"
        )
    while reader.left:
        yield reader.take(name, 8)


# --- writing ---


def write_varint(writer: Writer, name: str, number: int, value: int) -> None:
    """Write a varint field; a negative value takes ten bytes, as in protobuf."""
    writer.uvarint(f"{name}.key", number << 3 | VARINT)
    writer.uvarint(name, value)


def write_bytes(writer: Writer, name: str, number: int, data: bytes) -> None:
    """Write a length-delimited field: bytes, text, a packed chunk or an inner message."""
    writer.uvarint(f"{name}.key", number << 3 | LENGTH_DELIMITED)
    writer.uvarint(f"{name}.length", len(data))
    writer.cover(f"{name}.length", "length", writer.pos, writer.pos + len(data))
    writer.put(name, data)
