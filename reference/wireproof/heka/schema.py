"""Protobuf schemas of Heka, and the functions that read a message by its schema: heka.md, section 4.

The layout of a message is its schema as the documentation prints it. `schema_of` adds the functions that read
the payloads: a map from field numbers to `SchemaField`s, by which `collect_fields` reads a window. The module
of each message then checks which fields are required and which fields fit together.
"""

from collections.abc import Callable, Collection, Mapping
from typing import Any, Final

from attrs import field, frozen

from wireproof.wire.layout import PROTO_INTEGERS, Layout, OtherFields, ProtoField, proto_fields
from wireproof.wire.protobuf import (
    LENGTH_DELIMITED,
    WireField,
    as_int32,
    read_fields,
    unknown_field_name,
    write_bytes,
    write_varint,
)
from wireproof.wire.reader import Reader
from wireproof.wire.writer import Writer

PayloadReader = Callable[[Reader, WireField, str], Any]


@frozen
class SchemaField:
    """A field of a schema.

    Attributes:
        name: the name of the field.
        read: reads the payload; returns its value, or its values if one payload may have several.
        wires: the allowed wire types.
        repeated: True for a repeated field.
        once: True if a second occurrence is rejected.
        single: True for a repeated field with one value in each occurrence. The index is then part of its
            name, so that the path of another answer in a remark is that of one value.
    """

    name: str
    read: PayloadReader
    wires: tuple[int, ...] = (LENGTH_DELIMITED,)
    repeated: bool = False
    once: bool = False
    single: bool = False


@frozen
class CollectedFields:
    """The fields of one message.

    Attributes:
        values: the value of each field by name.
        at: position of the first occurrence by name.
        order: all field numbers in wire order.
    """

    values: dict[str, Any] = field(factory=dict)
    at: dict[str, int] = field(factory=dict)
    order: list[int] = field(factory=list)


Schema = dict[int, SchemaField]
"""The fields of a message by number."""


def schema_of(layout: Layout, *, once: Collection[str] = (), **readers: PayloadReader) -> Schema:
    """Return the schema of a message.

    Args:
        layout: the layout of the message.
        once: the names of the fields whose second occurrence is rejected.
        readers: by field name; other fields are read as their type is.
    """
    return {
        part.number: SchemaField(
            part.name,
            readers.get(part.name) or SCALAR_READERS[str(part.of)],
            part.wires,
            repeated=part.repeated,
            once=part.name in once,
            single=part.repeated and not part.packable,
        )
        for part in proto_fields(layout)
    }


def skips_other_fields(layout: Layout) -> bool:
    """Return whether the reader of a message skips fields that are not in its layout."""
    return any(isinstance(part, OtherFields) for part in layout.parts)


def collect_fields(
    reader: Reader, schema: Mapping[int, SchemaField], *, unknown_kept: bool = False
) -> CollectedFields:
    """Read the whole window by `schema`; fields may have any order: M53, M54, M55, M91.

    Args:
        reader: the window.
        schema: the fields by number.
        unknown_kept: True to skip fields of other numbers with a remark (S30), False to reject them (M20).

    Raises:
        Rejected: `unknown-field`, `type-mismatch` (wire type), `duplicate-field`, and as `protobuf.fields`
            and the `read` functions of the schema.
    """
    got = CollectedFields()
    for wire in read_fields(
        reader, lambda number: schema[number].name if number in schema else unknown_field_name(number)
    ):
        got.order.append(wire.number)
        if wire.number in schema:
            _keep(reader, schema[wire.number], wire, got)
        elif not unknown_kept:  # M20 to M24, M79, M80
            raise reader.reject(
                "unknown-field",
                unknown_field_name(wire.number),
                "not a field of the schema",
                at=wire.at,
                detail="unknown_field",
            )
        else:
            reader.remark("header-unknown-field", unknown_field_name(wire.number), at=wire.at)
    return got


def _keep(reader: Reader, slot: SchemaField, wire: WireField, got: CollectedFields) -> None:
    if wire.wire not in slot.wires:  # M25 to M28, M74, M81, M82, S29
        raise reader.reject(
            "type-mismatch", slot.name, f"wire type {wire.wire}", at=wire.at, detail="wrong_wiretype"
        )
    name = f"{slot.name}[{len(got.values.get(slot.name, ()))}]" if slot.single else slot.name
    value = slot.read(reader, wire, name)
    if slot.single:
        got.values.setdefault(slot.name, []).append(value)
    elif slot.repeated:
        got.values.setdefault(slot.name, []).extend(value)
    elif slot.name in got.values and slot.once:  # S26, S27: of two lengths, readers use different ones
        raise reader.reject(
            "duplicate-field", slot.name, "second occurrence", at=wire.at, detail=f"duplicate_{slot.name}"
        )
    else:
        if slot.name in got.values:  # M32 to M35, M88: the last one counts
            reader.remark("duplicate-scalar", slot.name, at=wire.at)
        got.values[slot.name] = value
    got.at.setdefault(slot.name, wire.at)


# --- scalars ---


def read_octets(reader: Reader, wire: WireField, name: str) -> bytes:
    """Read bytes."""
    return reader.take(name, wire.length)


def read_text(reader: Reader, wire: WireField, name: str) -> bytes:
    """Read a string as bytes: M36 to M38, M85, M86.

    Bytes that are not UTF-8 are kept, as in Go and C, with a remark: Java replaces them.
    """
    raw = reader.take(name, wire.length)
    try:
        raw.decode()
    except UnicodeDecodeError:
        replaced = raw.decode(errors="replace").encode().hex()
        reader.remark("bad-utf8", name, at=wire.start, others=(reader.other("replaced", name, replaced),))
    return raw


MIN_NEGATIVE_INT32: Final = (1 << 64) - (1 << 31)
"""The smallest uint64 that is a negative int32 in two's complement."""


def read_int32(reader: Reader, wire: WireField, name: str) -> int:
    """Read an int32, in 10 bytes if negative, or in 5 from Go (M15, M19); reject wider numbers (M17)."""
    value = wire.value
    if 1 << 31 <= value < 1 << 32:
        reader.remark("int32-five-byte-negative", name, at=wire.start)
    elif 1 << 32 <= value < MIN_NEGATIVE_INT32:
        raise reader.reject(
            "bad-varint", name, f"{value} does not fit int32", at=wire.start, detail="int32_overflow"
        )
    return as_int32(value)


def read_uint32(reader: Reader, wire: WireField, name: str) -> int:
    """Read a uint32; wider numbers are rejected: S25."""
    if wire.value >> 32:
        raise reader.reject(
            "bad-varint", name, f"{wire.value} does not fit uint32", at=wire.start, detail="int32_overflow"
        )
    return wire.value


SCALAR_READERS: Final[Mapping[str, PayloadReader]] = {
    "bytes": read_octets,
    "string": read_text,
    "int32": read_int32,
    "uint32": read_uint32,
}
"""The reader of each type that needs no more than its type; the others are given with the schema."""


# --- writing ---

_RANGES: Final = {
    kind: (-(1 << bits - 1), 1 << bits - 1) if signed else (0, 1 << bits)
    for kind, (bits, signed) in PROTO_INTEGERS.items()
}
"""The least number of each type, and the first one above it."""


def write_field(writer: Writer, part: ProtoField, value: bytes | int | str) -> None:
    """Write a field that is not repeated.

    Raises:
        Rejected: `invalid-value` for a number outside of its type.
    """
    match value:
        case bytes():
            write_bytes(writer, part.name, part.number, value)
        case str():
            write_varint(writer, part.name, part.number, part.code(value))
        case _:
            check_fits(writer, part.name, value, str(part.of))
            write_varint(writer, part.name, part.number, value)


def check_fits(writer: Writer, name: str, value: int, kind: str) -> None:
    """Check that a number fits its type.

    Raises:
        Rejected: `invalid-value` otherwise.
    """
    least, above = _RANGES[kind]
    if not least <= value < above:
        raise writer.invalid(name, f"{value} does not fit {kind}")
