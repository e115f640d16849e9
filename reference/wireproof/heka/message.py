"""Format `heka.message`: one Heka message, in protobuf and without a frame. heka.md, sections 1 and 4.

An absent field is None, and null in JSON. No default is filled in, because proto2 distinguishes an absent
field from one that has its default value (section 1: severity 7, value_type STRING). Text is the bytes on the
wire; a double is its 8 IEEE bytes, big-endian.
"""

from collections.abc import Callable
from typing import Any, Final, Literal, get_args

from attrs import frozen

from wireproof.heka.schema import (
    VARINT_ONLY,
    CollectedFields,
    SchemaField,
    collect_fields,
    read_int32,
    read_octets,
    read_text,
)
from wireproof.wire import compression
from wireproof.wire.options import Options
from wireproof.wire.protobuf import (
    FIXED64,
    LENGTH_DELIMITED,
    VARINT,
    WireField,
    as_int64,
    read_packed_fixed64,
    read_packed_varints,
    write_bytes,
    write_varint,
)
from wireproof.wire.reader import Reader
from wireproof.wire.writer import Writer, encode_uvarint

ValueType = Literal["STRING", "BYTES", "INTEGER", "DOUBLE", "BOOL"]
VALUE_TYPES: Final[tuple[ValueType, ...]] = get_args(ValueType)
"""The names of the enum, in the order of their numbers: heka.md, section 1."""

UUID_SIZE: Final = 16


@frozen
class DynamicField:
    """A dynamic field. Only the array of its `value_type` may have values; None means STRING."""

    name: bytes
    value_type: ValueType | None
    representation: bytes | None
    value_string: tuple[bytes, ...]
    value_bytes: tuple[bytes, ...]
    value_integer: tuple[int, ...]
    value_double: tuple[bytes, ...]
    value_bool: tuple[bool, ...]


@frozen
class HekaMessage:
    """A message; `timestamp` is in nanoseconds since the epoch."""

    uuid: bytes
    timestamp: int
    type: bytes | None
    logger: bytes | None
    severity: int | None
    payload: bytes | None
    env_version: bytes | None
    pid: int | None
    hostname: bytes | None
    fields: tuple[DynamicField, ...]


# --- reading: Field ---


def _value_type(reader: Reader, wire: WireField, name: str) -> ValueType:
    """Read the type; other numbers are rejected, because readers treat them differently: M56, M57, M58."""
    if wire.value >= len(VALUE_TYPES):
        raise reader.reject("bad-kind", name, f"{wire.value}", at=wire.start, detail="bad_value_type")
    return VALUE_TYPES[wire.value]


def _one(read: Callable[[Reader, WireField, str], Any]) -> Callable[[Reader, WireField, str], list[Any]]:
    return lambda reader, wire, name: [read(reader, wire, name)]


def _integers(reader: Reader, wire: WireField, name: str) -> list[int]:
    """Read integers, packed or not, in any number of chunks: M62 to M68."""
    return [as_int64(value) for value in _varints(reader, wire, name)]


def _bools(reader: Reader, wire: WireField, name: str) -> list[bool]:
    """Read booleans; every varint other than 0 is true, even 2^32: M75 to M78."""
    raw = _varints(reader, wire, name)
    if any(value > 1 for value in raw):
        reader.remark("bool-not-01", name, at=wire.start)
    return [value != 0 for value in raw]


def _varints(reader: Reader, wire: WireField, name: str) -> list[int]:
    if wire.wire == VARINT:
        return [wire.value]
    _remark_empty(reader, wire, name)
    return list(read_packed_varints(reader.window(name, wire.length), name))


def _doubles(reader: Reader, wire: WireField, name: str) -> list[bytes]:
    """Read doubles, packed or not: M69 to M73."""
    if wire.wire == FIXED64:
        return [wire.value.to_bytes(8, "big")]
    _remark_empty(reader, wire, name)
    return [bits[::-1] for bits in read_packed_fixed64(reader.window(name, wire.length), name)]


def _remark_empty(reader: Reader, wire: WireField, name: str) -> None:
    if not wire.length:  # M66: Lua's reader rejects it
        reader.remark("packed-empty", name, at=wire.at)


FIELD_SCHEMA: Final = {
    1: SchemaField("name", read_text),
    2: SchemaField("value_type", _value_type, VARINT_ONLY),
    3: SchemaField("representation", read_text),
    4: SchemaField("value_string", _one(read_text), repeated=True, single=True),
    5: SchemaField("value_bytes", _one(read_octets), repeated=True, single=True),
    6: SchemaField("value_integer", _integers, (VARINT, LENGTH_DELIMITED), repeated=True),
    7: SchemaField("value_double", _doubles, (FIXED64, LENGTH_DELIMITED), repeated=True),
    8: SchemaField("value_bool", _bools, (VARINT, LENGTH_DELIMITED), repeated=True),
}
"""The fields of Field by number: heka.md, section 1."""

VALUE_ARRAYS: Final = ("value_string", "value_bytes", "value_integer", "value_double", "value_bool")
"""The array of each value type."""


def _field(reader: Reader) -> DynamicField:
    got = collect_fields(reader, FIELD_SCHEMA)
    _check_field(reader, got)
    arrays = {name: tuple(got.values.get(name, ())) for name in VALUE_ARRAYS}
    return DynamicField(
        name=got.values["name"],
        value_type=got.values.get("value_type"),
        representation=got.values.get("representation"),
        **arrays,
    )


def _check_field(reader: Reader, got: CollectedFields) -> None:
    if "name" not in got.values:  # M48, M49, M50
        raise reader.reject("missing-field", "name", "a Field without name", detail="field_missing_name")
    if not got.values["name"]:  # M52
        reader.remark("field-empty-name", "name", at=got.at["name"])
    wanted = VALUE_ARRAYS[VALUE_TYPES.index(got.values.get("value_type", "STRING"))]
    filled = [name for name in VALUE_ARRAYS if got.values.get(name)]
    for name in sorted(filled, key=got.at.__getitem__):  # M59, M60, M61, M97: only one type is active
        if name != wanted:
            text_ = f"has values, but value_type requires {wanted}"
            raise reader.reject("type-mismatch", name, text_, at=got.at[name], detail="type_mismatch")
    if not filled:  # M51, M66
        reader.remark("field-no-value", "name", at=got.at["name"])


# --- reading: Message ---


def _uuid(reader: Reader, wire: WireField, name: str) -> bytes:
    """Read 16 raw bytes: M05 to M08, M95."""
    if wire.length != UUID_SIZE:
        raise reader.reject("bad-length", name, f"{wire.length} bytes", at=wire.start, detail="uuid_size")
    return reader.take(name, UUID_SIZE)


def _timestamp(reader: Reader, wire: WireField, name: str) -> int:
    value = as_int64(wire.value)
    if value < 0:  # M09
        reader.remark("timestamp-negative", name, at=wire.start)
    return value


def _severity(reader: Reader, wire: WireField, name: str) -> int:
    value = read_int32(reader, wire, name)
    if not 0 <= value <= 7:  # M14, M15, M16: the levels of syslog
        reader.remark("severity-range", name, at=wire.start)
    return value


MESSAGE_SCHEMA: Final = {
    1: SchemaField("uuid", _uuid),
    2: SchemaField("timestamp", _timestamp, VARINT_ONLY),
    3: SchemaField("type", read_text),
    4: SchemaField("logger", read_text),
    5: SchemaField("severity", _severity, VARINT_ONLY),
    6: SchemaField("payload", read_text),
    7: SchemaField("env_version", read_text),
    8: SchemaField("pid", read_int32, VARINT_ONLY),
    9: SchemaField("hostname", read_text),
}
"""The fields of Message by number, without `fields`, whose path needs an index: heka.md, section 1."""


def _slots() -> dict[int, SchemaField]:
    """Return the schema for one message. Each message needs its own, because it counts the Fields."""
    index = -1

    def fields_(reader: Reader, wire: WireField, name: str) -> list[DynamicField]:
        nonlocal index
        index += 1
        reader.enter(name, index)
        field = _field(reader.window("", wire.length))
        reader.leave()
        return [field]

    return {**MESSAGE_SCHEMA, 10: SchemaField("fields", fields_, repeated=True)}


def read(reader: Reader) -> HekaMessage:
    """Read the whole window as one message.

    Raises:
        Rejected: with the classes of the strict column in heka.md, section 4; see `schema.collect`.
    """
    got = collect_fields(reader, _slots())
    for name in ("uuid", "timestamp"):  # M02, M03, M04
        if name not in got.values:
            raise reader.reject("missing-field", name, "required", detail=f"missing_{name}")
    scalars: dict[str, Any] = {slot.name: got.values.get(slot.name) for slot in MESSAGE_SCHEMA.values()}
    return HekaMessage(**scalars, fields=tuple(got.values.get("fields", ())))


def decompressed(reader: Reader, options: Options) -> Reader:
    """Return the reader, or a reader of the decompressed message if the options declare snappy: section 5.

    Compression is never detected from the bytes: M92, W9.
    """
    return compression.decompress_block(reader, "message") if options.compression == "snappy" else reader


def decode(reader: Reader, options: Options) -> HekaMessage:
    """Decode all bytes as one message.

    Raises:
        Rejected: as `read`; `decompress-failed` or `limit-exceeded` for snappy.
    """
    return read(decompressed(reader, options))


# --- writing ---


def encode(writer: Writer, value: HekaMessage, options: Options) -> None:
    """Encode a message: ascending field numbers, numbers packed (heka.md, section 1, "Encoder forms").

    Raises:
        Rejected: `invalid-value`.
    """
    if options.compression == "none":
        write(writer, value)
        return
    plain = Writer(scope=writer.scope)
    write(plain, value)
    writer.put("message", compression.RAW_SNAPPY.pack(bytes(plain.data)))


def write(writer: Writer, value: HekaMessage) -> None:
    """Write the fields of a message.

    Raises:
        Rejected: `invalid-value`.
    """
    if len(value.uuid) != UUID_SIZE:
        raise writer.invalid("uuid", f"{len(value.uuid)} bytes, expected {UUID_SIZE}")
    for number, slot in MESSAGE_SCHEMA.items():
        _put(writer, number, slot, getattr(value, slot.name))
    for index, field in enumerate(value.fields):
        writer.enter("fields", index)
        inner = Writer(scope=writer.scope)
        writer.leave()
        _write_field(inner, field)
        write_bytes(writer, f"fields[{index}]", 10, bytes(inner.data))


def _put(writer: Writer, number: int, slot: SchemaField, value: bytes | int | None) -> None:
    match value:
        case None:
            pass
        case bytes():
            write_bytes(writer, slot.name, number, value)
        case _:
            bits = 63 if slot.name == "timestamp" else 31
            write_varint(writer, slot.name, number, check_fits(writer, slot.name, value, bits))


def check_fits(writer: Writer, name: str, value: int, bits: int) -> int:
    """Return `value` if it fits a signed integer of `bits` bits and a sign bit.

    Raises:
        Rejected: `invalid-value` otherwise.
    """
    if not -(1 << bits) <= value < 1 << bits:
        raise writer.invalid(name, f"{value} does not fit {bits + 1} bits")
    return value


def _write_field(writer: Writer, field: DynamicField) -> None:
    wanted = VALUE_ARRAYS[VALUE_TYPES.index(field.value_type or "STRING")]
    for name in VALUE_ARRAYS:
        if name != wanted and getattr(field, name):
            raise writer.invalid(name, f"has values, but value_type requires {wanted}")
    write_bytes(writer, "name", 1, field.name)
    if field.value_type is not None:
        write_varint(writer, "value_type", 2, VALUE_TYPES.index(field.value_type))
    if field.representation is not None:
        write_bytes(writer, "representation", 3, field.representation)
    for number, values in ((4, field.value_string), (5, field.value_bytes)):
        for index, value in enumerate(values):
            write_bytes(writer, f"{FIELD_SCHEMA[number].name}[{index}]", number, value)
    for number, packed in ((6, _integer_chunk), (7, _double_chunk), (8, _bool_chunk)):
        chunk = packed(writer, field)
        if chunk:
            write_bytes(writer, FIELD_SCHEMA[number].name, number, chunk)


def _integer_chunk(writer: Writer, field: DynamicField) -> bytes:
    mask = (1 << 64) - 1
    return b"".join(
        encode_uvarint(check_fits(writer, f"value_integer[{index}]", value, 63) & mask)
        for index, value in enumerate(field.value_integer)
    )


def _double_chunk(writer: Writer, field: DynamicField) -> bytes:
    for index, bits in enumerate(field.value_double):
        if len(bits) != 8:
            raise writer.invalid(f"value_double[{index}]", f"{len(bits)} bytes, expected 8")
    return b"".join(bits[::-1] for bits in field.value_double)


def _bool_chunk(_writer: Writer, field: DynamicField) -> bytes:
    return bytes(field.value_bool)
