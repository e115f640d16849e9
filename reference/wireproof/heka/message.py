"""Format `heka.message`: one Heka message, in protobuf and without a frame. heka.md, sections 1 and 4.

An absent field is None, and null in JSON. No default is filled in, because proto2 distinguishes an absent
field from one that has its default value (section 1: severity 7, value_type STRING). Text is the bytes on the
wire; a double is its 8 IEEE bytes, big-endian.
"""

from collections.abc import Callable
from typing import Any, Final, Literal, get_args

from attrs import frozen

from wireproof.heka.schema import (
    CollectedFields,
    check_fits,
    collect_fields,
    read_int32,
    schema_of,
    write_field,
)
from wireproof.wire import compression
from wireproof.wire.layout import OPTION, Layout, Nested, Packed, ProtoField, proto_fields
from wireproof.wire.options import Options
from wireproof.wire.protobuf import (
    FIXED64,
    VARINT,
    WireField,
    as_int64,
    read_packed_fixed64,
    read_packed_varints,
    write_bytes,
)
from wireproof.wire.reader import Reader
from wireproof.wire.writer import MASK64, Writer, encode_uvarint

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


FIELD: Final = Layout(
    "Field",
    (
        ProtoField("name", 1, "string", required=True),
        ProtoField(
            "value_type", 2, "enum", codes=dict(enumerate(VALUE_TYPES)), meaning="STRING if absent"
        ),
        ProtoField("representation", 3, "string", meaning="free text, such as the unit of the values"),
        ProtoField("value_string", 4, "string", repeated=True),
        ProtoField("value_bytes", 5, "bytes", repeated=True),
        ProtoField("value_integer", 6, "int64", repeated=True),
        ProtoField("value_double", 7, "double", repeated=True),
        ProtoField("value_bool", 8, "bool", repeated=True),
    ),
    value=DynamicField,
    cites="heka.md §1",
)  # fmt: skip

MESSAGE: Final = Layout(
    "Message",
    (
        ProtoField("uuid", 1, "bytes", required=True, size=UUID_SIZE),
        ProtoField("timestamp", 2, "int64", required=True, meaning="nanoseconds since the epoch"),
        ProtoField("type", 3, "string"),
        ProtoField("logger", 4, "string"),
        ProtoField("severity", 5, "int32", meaning="a level of syslog, 0 to 7; 7 if absent"),
        ProtoField("payload", 6, "string"),
        ProtoField("env_version", 7, "string"),
        ProtoField("pid", 8, "int32"),
        ProtoField("hostname", 9, "string"),
        ProtoField("fields", 10, FIELD, repeated=True),
    ),
    value=HekaMessage,
    cites="heka.md §1",
)  # fmt: skip

CONTENT: Final = Layout(
    "Message",
    (Packed("message", codec_of=OPTION, of=Nested("", of=MESSAGE)),),
    value=HekaMessage,
    cites="heka.md §1, §5",
)  # fmt: skip


# --- reading: Field ---


def _value_type(reader: Reader, wire: WireField, name: str) -> ValueType:
    """Read the type; other numbers are rejected, because readers treat them differently: M56, M57, M58."""
    if wire.value >= len(VALUE_TYPES):
        raise reader.reject("bad-kind", name, f"{wire.value}", at=wire.start, detail="bad_value_type")
    return VALUE_TYPES[wire.value]


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


FIELD_SCHEMA: Final = schema_of(
    FIELD,
    value_type=_value_type,
    value_integer=_integers,
    value_double=_doubles,
    value_bool=_bools,
)
"""The fields of Field by number: heka.md, section 1."""

VALUE_ARRAYS: Final = tuple(part.name for part in proto_fields(FIELD) if part.repeated)
"""The array of each value type."""


def _field(reader: Reader, wire: WireField, name: str) -> DynamicField:
    reader.enter(name)
    got = collect_fields(inner := reader.window("", wire.length), FIELD_SCHEMA)
    _check_field(inner, got)
    reader.leave()
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


MESSAGE_SCHEMA: Final = schema_of(
    MESSAGE, uuid=_uuid, timestamp=_timestamp, severity=_severity, fields=_field
)
"""The fields of Message by number: heka.md, section 1."""


_REQUIRED: Final = tuple(part.name for part in proto_fields(MESSAGE) if part.required)

*_MESSAGE_SCALARS, _FIELDS = proto_fields(MESSAGE)

_SCALARS: Final = tuple(part.name for part in _MESSAGE_SCALARS)


def read(reader: Reader) -> HekaMessage:
    """Read the whole window as one message.

    Raises:
        Rejected: with the classes of the strict column in heka.md, section 4; see `schema.collect`.
    """
    got = collect_fields(reader, MESSAGE_SCHEMA)
    for name in _REQUIRED:  # M02, M03, M04
        if name not in got.values:
            raise reader.reject("missing-field", name, "required", detail=f"missing_{name}")
    scalars: dict[str, Any] = {name: got.values.get(name) for name in _SCALARS}
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
    for part in _MESSAGE_SCALARS:
        if (one := getattr(value, part.name)) is not None:
            write_field(writer, part, one)
    for index, field in enumerate(value.fields):
        writer.enter("fields", index)
        inner = Writer(scope=writer.scope)
        writer.leave()
        _write_field(inner, field)
        write_bytes(writer, f"fields[{index}]", _FIELDS.number, bytes(inner.data))


def _write_field(writer: Writer, field: DynamicField) -> None:
    wanted = VALUE_ARRAYS[VALUE_TYPES.index(field.value_type or "STRING")]
    for name in VALUE_ARRAYS:
        if name != wanted and getattr(field, name):
            raise writer.invalid(name, f"has values, but value_type requires {wanted}")
    for part in _FIELD_SCALARS:
        if (one := getattr(field, part.name)) is not None:
            write_field(writer, part, one)
    if values := getattr(field, wanted):
        _write_array(writer, _FIELD_ARRAYS[wanted], values)


_FIELD_SCALARS: Final = tuple(part for part in proto_fields(FIELD) if not part.repeated)
_FIELD_ARRAYS: Final = {part.name: part for part in proto_fields(FIELD) if part.repeated}


def _write_array(writer: Writer, part: ProtoField, values: tuple[Any, ...]) -> None:
    if pack := _PACKERS.get(str(part.of)):
        write_bytes(writer, part.name, part.number, pack(writer, part.name, values))
        return
    for index, value in enumerate(values):
        write_bytes(writer, f"{part.name}[{index}]", part.number, value)


def _pack_integers(writer: Writer, name: str, values: tuple[int, ...]) -> bytes:
    for index, value in enumerate(values):
        check_fits(writer, f"{name}[{index}]", value, "int64")
    return b"".join(encode_uvarint(value & MASK64) for value in values)


def _pack_doubles(writer: Writer, name: str, values: tuple[bytes, ...]) -> bytes:
    for index, bits in enumerate(values):
        if len(bits) != 8:
            raise writer.invalid(f"{name}[{index}]", f"{len(bits)} bytes, expected 8")
    return b"".join(bits[::-1] for bits in values)


def _pack_bools(_writer: Writer, _name: str, values: tuple[bool, ...]) -> bytes:
    return bytes(values)


_PACKERS: Final[dict[str, Callable[[Writer, str, Any], bytes]]] = {
    "int64": _pack_integers,
    "double": _pack_doubles,
    "bool": _pack_bools,
}
"""The functions that pack the values of a repeated field, by type."""
