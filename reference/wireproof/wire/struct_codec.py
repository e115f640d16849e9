"""Decode of versioned structs, derived from their tables.

A struct is a dict of its fields. Integers, booleans and floats are those of Python, `string` is text, in
which bytes that are not UTF-8 are escaped as surrogates, `bytes` and `uuid` are bytes, a list is a list.
Fields that a version does not have are absent; an absent tagged field has its default. Unknown tagged fields
are kept under `UNKNOWN_TAGS`.

Lengths are bounded before anything is read: a list has at most as many elements as the bytes left can hold.
Lengths below -1 are refused, which Kafka reads as null where null is allowed.
"""

from struct import Struct
from typing import Any, Final, TypeAlias

from attrs import frozen

from wireproof.wire.cursor import NO_INDEX
from wireproof.wire.reader import FIXED_WIDTH, Reader
from wireproof.wire.rejection import Rejected
from wireproof.wire.struct_table import (
    ListOf,
    StructField,
    VersionedStruct,
    every_tag,
    least_size,
    tagged_fields,
    untagged_fields,
)

StructValues: TypeAlias = dict[str, Any]
"""The fields of a struct by name."""

UNKNOWN_TAGS: Final = "unknownTags"
"""The name under which a struct has the tagged fields that its table does not have, as (tag, bytes)."""

MAX_STRING: Final = 0x7FFF
"""The longest string, in bytes, of every version: the length of older versions is an int16."""

MAX_LENGTH: Final = 0x7FFF_FFFF
"""The largest number that Kafka reads as an unsigned varint without a change of its sign."""

MAX_ELEMENTS: Final = 1_000_000
"""The most elements of a list that Kafka's classes read, since 4.4; here the most of all lists of a value and
of its tagged fields together, which bounds the memory."""

MAX_TAGS: Final = 10_000
"""The most tagged fields of a struct that Kafka's classes read, since 4.4."""

_FLOAT: Final = Struct(">d")

_LENGTH_KINDS: Final = {"string": "int16", "bytes": "int32"}
"""The types of lengths in versions that are not flexible; that of a count is int32."""


@frozen
class HeldStruct:
    """Bytes that are a struct of their own: `holds` of a field.

    Attributes:
        data: all bytes.
        version: their first two bytes. A version above the newest one is read as the newest one.
        values: the fields.
        rest: the bytes after the fields.
    """

    data: bytes
    version: int
    values: StructValues
    rest: bytes


def decode_struct(reader: Reader, struct: VersionedStruct, version: int) -> StructValues:
    """Read a struct of a version that its table has.

    Raises:
        Rejected: the bytes are no value of the struct.
    """
    decoder = _Decoder(struct, version)
    return decoder.struct(reader, struct, decoder.root)


class _Decoder:
    """Reads one value of an outermost struct.

    Attributes:
        root: the fields of the outermost struct so far.
        room: the number of elements and tagged fields that it may still have.
    """

    __slots__ = ("flexible", "room", "root", "version")

    def __init__(self, struct: VersionedStruct, version: int) -> None:
        self.version = version
        self.flexible = version in struct.flexible
        self.root: StructValues = {}
        self.room = MAX_ELEMENTS

    def struct(self, reader: Reader, struct: VersionedStruct, values: StructValues) -> StructValues:
        for one in untagged_fields(struct, self.version):
            values[one.name] = self._field(reader, one)
        if self.flexible:
            self._tagged(reader, struct, values)
        return values

    def _field(self, reader: Reader, one: StructField) -> Any:  # noqa: ANN401 - a value of any type
        kind, nullable = one.kind, self.version in one.nullable
        match kind:
            case VersionedStruct():
                absent = nullable and self._is_null(reader, one)
                return None if absent else self._inner(reader, one.name, kind)
            case ListOf():
                return self._list(reader, one.name, kind, nullable=nullable)
            case "string":
                return self._text(reader, one.name, nullable=nullable)
            case "bytes":
                start, data = self._octets(reader, one.name, kind, nullable=nullable)
                return None if data is None else self._held(reader, one, data, start)
        return _fixed(reader, one.name, kind)

    def _is_null(self, reader: Reader, one: StructField) -> bool:
        """Read what precedes a struct that may be null; it is a varint in a tagged field."""
        label = f"{one.name}Present"
        return reader.int8(label) < 0 if one.tag is None else _uvarint(reader, label) == 0

    def _inner(self, reader: Reader, name: str, kind: VersionedStruct) -> StructValues:
        reader.enter(name)
        values = self.struct(reader, kind, {})
        reader.leave()
        return values

    def _length(self, reader: Reader, name: str, kind: str, *, nullable: bool) -> int:
        """Read the length or count of the field `name`; -1 for null."""
        start = reader.pos
        length: int = _uvarint(reader, name) - 1 if self.flexible else getattr(reader, kind)(name)
        if length < -1:
            raise reader.reject("negative-length", name, f"length {length}", at=start)
        if length < 0 and not nullable:
            raise reader.reject("null-not-allowed", name, "null", at=start)
        return length

    def _octets(self, reader: Reader, name: str, kind: str, *, nullable: bool) -> tuple[int, bytes | None]:
        """Read text or bytes, and return their position too."""
        label, start = f"{name}Length", reader.pos
        length = self._length(reader, label, _LENGTH_KINDS[kind], nullable=nullable)
        if length < 0:
            return start, None
        if kind == "string" and length > MAX_STRING:
            raise reader.reject("bad-length", label, f"{length}, at most {MAX_STRING}", at=start)
        start = reader.pos
        data = reader.take(name, length)
        reader.cover(label, "length", start, reader.pos, int(self.flexible))
        return start, data

    def _text(self, reader: Reader, name: str, *, nullable: bool) -> str | None:
        _, data = self._octets(reader, name, "string", nullable=nullable)
        return None if data is None else data.decode(errors="surrogateescape")

    def _held(self, reader: Reader, one: StructField, data: bytes, start: int) -> bytes | HeldStruct:
        """Return the struct that the bytes are; the bytes themselves if they are none."""
        if one.holds is None or (one.holds_if and self.root.get(one.holds_if[0]) != one.holds_if[1]):
            return data
        try:
            held = _held(Reader(data), one.holds, data)
        except Rejected:
            return data
        if reader.tracing:
            _held(_reader_of(reader, one.name, start), one.holds, data)
        return held

    def _list(self, reader: Reader, name: str, kind: ListOf, *, nullable: bool) -> list[Any] | None:
        start, label = reader.pos, f"{name}Count"
        count = self._length(reader, label, "int32", nullable=nullable)
        if count < 0:
            return None
        if count * least_size(kind.of, self.version, flexible=self.flexible) > reader.left:
            raise _past_end(reader, label, f"{count} elements", start)
        self._take_room(reader, label, count, start)
        first = reader.pos
        elements = self._elements(reader, name, count, kind.of)
        reader.cover(label, "count", first, reader.pos, int(self.flexible))
        return elements

    def _take_room(self, reader: Reader, label: str, count: int, at: int) -> None:
        self.room -= count
        if self.room < 0:
            text = f"{count} elements; a value has at most {MAX_ELEMENTS} in all its lists"
            raise reader.reject("limit-exceeded", label, text, at=at)

    def _elements(self, reader: Reader, name: str, count: int, kind: "str | VersionedStruct") -> list[Any]:
        match kind:
            case VersionedStruct():
                return [self._struct_at(reader, name, index, kind) for index in range(count)]
            case "string":
                return [self._text(reader, f"{name}[{index}]", nullable=False) for index in range(count)]
            case _ if kind in FIXED_WIDTH and not reader.tracing:
                packing = Struct(f">{count}{FIXED_WIDTH[kind].format[1:]}")
                return list(packing.unpack(reader.take(name, packing.size)))
        return [_fixed(reader, f"{name}[{index}]", kind) for index in range(count)]

    def _struct_at(self, reader: Reader, name: str, index: int, kind: VersionedStruct) -> StructValues:
        reader.enter(name, index)
        values = self.struct(reader, kind, {})
        reader.leave()
        return values

    def _tagged(self, reader: Reader, struct: VersionedStruct, values: StructValues) -> None:
        """Read the tagged fields: a count, then for each one a tag, a size and as many bytes."""
        known = tagged_fields(struct, self.version)
        for one in known.values():
            values[one.name] = one.default_in(self.version)
        start = reader.pos
        count = _uvarint(reader, "tagCount")
        if 2 * count > reader.left:
            raise _past_end(reader, "tagCount", f"{count} fields", start)
        if count > MAX_TAGS:
            raise reader.reject("limit-exceeded", "tagCount", f"{count} fields, at most {MAX_TAGS}", at=start)
        self._take_room(reader, "tagCount", count, start)
        for _ in range(count):
            start = reader.pos
            tag = reader.uvarint("tag", 32)
            if tag not in known and tag in every_tag(struct):
                raise reader.reject("unknown-field", "tag", f"tag {tag} is of other versions", at=start)
            size = _uvarint(reader, "tagSize")
            if tag in known:
                values[known[tag].name] = self._tagged_field(reader, known[tag], size)
            else:
                values.setdefault(UNKNOWN_TAGS, []).append((tag, reader.take("tagged", size)))

    def _tagged_field(self, reader: Reader, one: StructField, size: int) -> Any:  # noqa: ANN401 - of any type
        if size > reader.left:
            text = f"a tagged field of {size} bytes, {reader.left} left"
            raise reader.reject(reader.short, "tagSize", text, detail="TAGGED_FIELD_PAST_END")
        inner = reader.window(one.name, size, "length-mismatch")
        reader.cover("tagSize", "length", inner.pos, inner.end)
        value = self._field(inner, one)
        if inner.left:
            text = f"a tagged field of {size} bytes, {inner.left} of them after its value"
            raise inner.reject("length-mismatch", one.name, text)
        return value


def _past_end(reader: Reader, name: str, what: str, at: int) -> Rejected:
    """Return the refusal of a count of more elements than the bytes left can hold."""
    cls = "length-past-end" if reader.short == "truncated" else reader.short
    return reader.reject(cls, name, f"{what}, {reader.left} bytes left", at=at)


def _uvarint(reader: Reader, name: str) -> int:
    """Read an unsigned varint of 32 bits that is a length, a count or a size."""
    start = reader.pos
    if not reader.tracing and start < reader.end and (byte := reader.data[start]) < 0x80:
        reader.pos = start + 1
        return byte
    number = reader.uvarint(name, 32)
    if number > MAX_LENGTH:
        raise reader.reject("bad-varint", name, f"{number}, at most {MAX_LENGTH}", at=start)
    return number


def _fixed(reader: Reader, name: str, kind: str) -> Any:  # noqa: ANN401 - a number, a boolean or bytes
    match kind:
        case "bool":
            return reader.int8(name) != 0
        case "uuid":
            return reader.take(name, 16)
        case "float64":
            return _FLOAT.unpack(reader.take(name, 8))[0]
    return getattr(reader, kind)(name)


def _held(reader: Reader, struct: VersionedStruct, data: bytes) -> HeldStruct:
    version = reader.int16("version")
    if version < 0:
        raise reader.reject("invalid-value", "version", f"version {version}")
    values = decode_struct(reader, struct, min(version, struct.newest))
    return HeldStruct(data, version, values, reader.rest("rest") if reader.left else b"")


def _reader_of(reader: Reader, name: str, start: int) -> Reader:
    """Return a reader of the bytes that `reader` has just passed; `reader` itself does not move."""
    end, reader.pos = reader.pos, start
    inner = reader.window(name, end - start)
    inner.enter(name, NO_INDEX)
    return inner
