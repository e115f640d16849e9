"""Format `heka.message`: one Heka message, in protobuf and without a frame. heka.md, sections 1 and 4.

An absent field is None, and null in JSON. No default is filled in, because proto2 distinguishes an absent
field from one that has its default value (section 1: severity 7, value_type STRING). Text is the bytes on the
wire; a double is its 8 IEEE bytes, big-endian.
"""

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from wireproof.schema.layout import OPTION, Layout, Nested, OtherFields, Packed, ProtoField
from wireproof.schema.protobuf import rule_of_fields
from wireproof.schema.rules import KEY, Fault, remarked
from wireproof.schema.struct import Struct
from wireproof.wire import compression
from wireproof.wire.options import Options
from wireproof.wire.reader import Reader
from wireproof.wire.writer import Writer

REVISION: Final = "0.10"

VALUE_TYPES: Final = ("STRING", "BYTES", "INTEGER", "DOUBLE", "BOOL")
"""The names of the enum, in the order of their numbers: heka.md, section 1."""

UUID_SIZE: Final = 16

REFUSED: Final = OtherFields(meaning="fields of other numbers, which readers refuse")


# --- rules of several fields: heka.md, section 4 ---


def _not_utf8(octets: bytes) -> Fault | None:
    """Remark bytes that are not UTF-8: they are kept, as in Go and C; Java replaces them: M36 to M38."""
    try:
        octets.decode()
    except UnicodeDecodeError:
        replaced = octets.decode(errors="replace").encode().hex()
        return remarked("bad-utf8", others=(("replaced", replaced),))
    return None


def _twice(again: bool) -> Fault | None:
    """Remark a second occurrence, which counts: M32 to M35, M88."""
    return remarked("duplicate-scalar", at=KEY) if again else None


def _unknown() -> Fault | None:
    """Refuse a field that is not in the schema: M20 to M24, M79, M80."""
    return Fault("unknown-field", "not a field of the schema", at=KEY, detail="unknown_field")


def add_common_rules(message: Struct) -> None:
    """Add the rules of text, and of all fields that are not repeated."""
    rule_of_fields(message, "heka.message.text.utf8", _not_utf8, lambda part: part.of == "string")
    rule_of_fields(message, "heka.message.duplicate", _twice, lambda part: not part.repeated)


# --- Field ---

FIELD: Final = Struct(
    "Field",
    ProtoField("name", 1, "string", required=True),
    ProtoField("value_type", 2, "enum", codes=dict(enumerate(VALUE_TYPES)), meaning="STRING if absent"),
    ProtoField("representation", 3, "string", meaning="free text, such as the unit of the values"),
    ProtoField("value_string", 4, "string", repeated=True),
    ProtoField("value_bytes", 5, "bytes", repeated=True),
    ProtoField("value_integer", 6, "int64", repeated=True),
    ProtoField("value_double", 7, "double", repeated=True),
    ProtoField("value_bool", 8, "bool", repeated=True),
    REFUSED,
    revisions=(REVISION,),
    cites="heka.md §1",
)
"""A dynamic field. Only the array of its `value_type` may have values; None means STRING."""

VALUE_ARRAYS: Final = tuple(f"value_{name.lower()}" for name in VALUE_TYPES)
"""The array of each value type."""

FIELD.rule("#", "heka.message.unknown")(_unknown)


@FIELD.rule("value_type", "heka.message.field.type")
def _no_type(number: int) -> Fault | None:
    """Refuse other numbers, because readers treat them differently: M56, M57, M58."""
    return Fault("bad-kind", f"{number}", detail="bad_value_type") if number >= len(VALUE_TYPES) else None


@FIELD.rule("value_integer", "heka.message.field.no-value")
@FIELD.rule("value_double", "heka.message.field.no-value")
@FIELD.rule("value_bool", "heka.message.field.no-value")
def _empty_chunk(numbers: list[Any]) -> Fault | None:
    """Remark a packed list without values, which Lua's reader rejects: M66."""
    return None if numbers else remarked("packed-empty", at=KEY)


@FIELD.rule("value_bool", "heka.message.field.bool")
def _odd_bool(numbers: list[int]) -> Fault | None:
    """Remark other numbers than 0 and 1; each of them is true, even 2^32: M75 to M78."""
    return remarked("bool-not-01") if any(number > 1 for number in numbers) else None


@FIELD.rule("", "heka.message.field.name")
def _nameless(name: bytes | None) -> Fault | None:
    """Refuse a Field without name: M48, M49, M50."""
    if name is None:
        return Fault("missing-field", "a Field without name", path="name", detail="field_missing_name")
    return None


@FIELD.rule("", "heka.message.field.name")
def _empty_name(name: bytes) -> Fault | None:
    """Remark an empty name: M52."""
    return None if name else remarked("field-empty-name", path="name", at=KEY)


@FIELD.rule("", "heka.message.field.arrays")
def _other_array(order: Sequence[str], filled: Collection[str], value_type: str | None) -> Fault | None:
    """Refuse values of another type than the active one: M59, M60, M61, M97."""
    wanted = array_of(value_type)
    name = next((name for name in order if name in filled and name != wanted), None)
    if name is None:
        return None
    text = f"has values, but value_type requires {wanted}"
    return Fault("type-mismatch", text, path=name, at=KEY, detail="type_mismatch")


@FIELD.rule("", "heka.message.field.no-value")
def _no_value(filled: Collection[str]) -> Fault | None:
    """Remark a Field without value: M51, M66."""
    return None if filled else remarked("field-no-value", path="name", at=KEY)


add_common_rules(FIELD)


def array_of(value_type: str | None) -> str:
    """Return the name of the array of a value type."""
    return f"value_{(value_type or 'STRING').lower()}"


HEKA_FIELD: Final = FIELD.at(REVISION)

# --- Message ---

MESSAGE: Final = Struct(
    "Message",
    ProtoField("uuid", 1, "bytes", required=True, size=UUID_SIZE),
    ProtoField("timestamp", 2, "int64", required=True, meaning="nanoseconds since the epoch"),
    ProtoField("type", 3, "string"),
    ProtoField("logger", 4, "string"),
    ProtoField("severity", 5, "int32", meaning="a level of syslog, 0 to 7; 7 if absent"),
    ProtoField("payload", 6, "string"),
    ProtoField("env_version", 7, "string"),
    ProtoField("pid", 8, "int32"),
    ProtoField("hostname", 9, "string"),
    ProtoField("fields", 10, HEKA_FIELD, repeated=True),
    REFUSED,
    revisions=(REVISION,),
    cites="heka.md §1",
)

MESSAGE.rule("#", "heka.message.unknown")(_unknown)


@MESSAGE.rule("uuid", "heka.message.uuid.size")
def _wrong_size(number: int) -> Fault | None:
    """Refuse other than 16 raw bytes: M05 to M08, M95."""
    if number != UUID_SIZE:
        return Fault("bad-length", f"{number} bytes, expected {UUID_SIZE}", detail="uuid_size")
    return None


@MESSAGE.rule("timestamp", "heka.message.timestamp.signed")
def _negative_time(timestamp: int) -> Fault | None:
    """Remark a time before 1970: M09."""
    return remarked("timestamp-negative") if timestamp < 0 else None


@MESSAGE.rule("severity", "heka.message.int32.negative")
@MESSAGE.rule("pid", "heka.message.int32.negative")
def _five_bytes(number: int) -> Fault | None:
    """Remark a negative number in 5 bytes, as Go writes it, in place of 10: M15, M19."""
    return remarked("int32-five-byte-negative") if 1 << 31 <= number < 1 << 32 else None


@MESSAGE.rule("severity", "heka.message.int32.range")
@MESSAGE.rule("pid", "heka.message.int32.range")
def _wide(number: int) -> Fault | None:
    """Refuse wider numbers than an int32, which is sign-extended to 64 bits if it is negative: M17."""
    if 1 << 32 <= number < (1 << 64) - (1 << 31):
        return Fault("bad-varint", f"{number} does not fit int32", detail="int32_overflow")
    return None


@MESSAGE.rule("severity", "heka.message.severity.range")
def _no_level(severity: int) -> Fault | None:
    """Remark what is no level of syslog: M14, M15, M16."""
    return None if 0 <= severity <= 7 else remarked("severity-range")


@MESSAGE.rule("", "heka.message.required")
def _absent(uuid: bytes | None, timestamp: int | None) -> Fault | None:
    """Refuse a message without one of the required fields: M02, M03, M04."""
    for name, value in (("uuid", uuid), ("timestamp", timestamp)):
        if value is None:
            return Fault("missing-field", "required", path=name, detail=f"missing_{name}")
    return None


add_common_rules(MESSAGE)

# --- the format ---

HEKA_MESSAGE: Final = MESSAGE.at(REVISION)

if TYPE_CHECKING:
    from wireproof.heka import values

    DynamicField: TypeAlias = values.Field
    HekaMessage: TypeAlias = values.Message
else:
    DynamicField, HekaMessage = HEKA_FIELD.type, HEKA_MESSAGE.type
"""The classes of the values; `timestamp` is in nanoseconds since the epoch."""

CONTENT: Final = Layout(
    "Message",
    (Packed("message", codec_of=OPTION, of=Nested("", of=HEKA_MESSAGE)),),
    value=HEKA_MESSAGE.type,
    cites="heka.md §1, §5",
)


def decode(reader: Reader, options: Options) -> HekaMessage:
    """Decode all bytes as one message.

    Compression is never detected from the bytes: M92, W9.

    Raises:
        Rejected: with the classes of the strict column in heka.md, section 4; `decompress-failed` or
            `limit-exceeded` for snappy.
    """
    if options.compression == "snappy":
        reader = compression.decompress_block(reader, "message")
    found: HekaMessage = HEKA_MESSAGE.codec.read(reader, options)
    return found


def encode(writer: Writer, value: HekaMessage, options: Options) -> None:
    """Encode a message: ascending field numbers, numbers packed (heka.md, section 1, "Encoder forms").

    Raises:
        Rejected: `invalid-value`.
    """
    if options.compression == "none":
        HEKA_MESSAGE.codec.write(writer, value)
        return
    plain = Writer(scope=writer.scope)
    HEKA_MESSAGE.codec.write(plain, value)
    writer.put("message", compression.RAW_SNAPPY.pack(bytes(plain.data)))
