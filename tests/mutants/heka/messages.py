"""Codecs of Heka messages with one planted fault each, of real readers and writers: heka.md, section 4.

Most of them change a row of the reference's own tables, and nothing else.
"""

from collections.abc import Callable, Mapping

from attrs import evolve

from tests.mutants.base import ReferenceCodec, walk
from tests.mutants.heka.helpers import PatchedTable, changed_slot
from wireproof.adapters.contract import Request
from wireproof.cases.outcome import Accepted, Outcome, refused_outcome
from wireproof.formats import Decoded, Format
from wireproof.heka.message import FIELD_SCHEMA, MESSAGE_SCHEMA
from wireproof.heka.schema import SchemaField, read_octets
from wireproof.wire.json_values import Json
from wireproof.wire.options import Options
from wireproof.wire.protobuf import FIXED64, LENGTH_DELIMITED, VARINT, WireField
from wireproof.wire.reader import Reader
from wireproof.wire.rejection import Rejected

# --- messages ---


class UuidAnyLength(PatchedTable):
    """Takes a uuid of any length, as Go and protobuf do."""

    name = "heka-uuid-any-length"
    missing_rule = True
    table = MESSAGE_SCHEMA

    def rows(self) -> Mapping[int, SchemaField]:
        """Any bytes are a uuid."""
        return {1: SchemaField("uuid", read_octets)}


class TimestampDouble(PatchedTable):
    """Keeps a timestamp in a double, as Lua does."""

    name = "heka-timestamp-double"
    killed_by = ("heka.message/0.10/timestamp/nanoseconds",)
    table = MESSAGE_SCHEMA

    def rows(self) -> Mapping[int, SchemaField]:
        """53 bits of it."""
        return {2: changed_slot(MESSAGE_SCHEMA[2], lambda value: int(float(value)))}


class Int32FiveBytes(PatchedTable):
    """Reads the five-byte -1 of Go's encoder as 4294967295, as Lua's table decoder does."""

    name = "heka-int32-five-bytes"
    killed_by = ("heka.message/0.10/int32/minus-one-five-bytes",)
    table = MESSAGE_SCHEMA

    def rows(self) -> Mapping[int, SchemaField]:
        """Severity and pid."""
        return {
            number: evolve(MESSAGE_SCHEMA[number], read=_wide(MESSAGE_SCHEMA[number])) for number in (5, 8)
        }


class PackedOnly(PatchedTable):
    """Takes packed numbers only."""

    name = "heka-packed-only"
    killed_by = ("heka.message/0.10/integer/unpacked",)

    def rows(self) -> Mapping[int, SchemaField]:
        """Return the rows of the three arrays of numbers."""
        return {number: evolve(FIELD_SCHEMA[number], wires=(LENGTH_DELIMITED,)) for number in (6, 7, 8)}


class UnpackedOnly(PatchedTable):
    """Takes unpacked numbers only."""

    name = "heka-unpacked-only"
    killed_by = ("heka.message/0.10/integer/packed",)

    def rows(self) -> Mapping[int, SchemaField]:
        """Return the rows of the three arrays of numbers."""
        return {number: evolve(FIELD_SCHEMA[number], wires=(VARINT, FIXED64)) for number in (6, 7, 8)}


class BoolAsByte(PatchedTable):
    """Reads the first byte of an unpacked bool and no more."""

    name = "heka-bool-as-byte"
    killed_by = ("heka.message/0.10/bool/zero-in-two-bytes",)

    def rows(self) -> Mapping[int, SchemaField]:
        """80 00 is true to it."""
        return {8: evolve(FIELD_SCHEMA[8], read=_first_byte)}


class BoolLow32(PatchedTable):
    """Looks at the low 32 bits of a bool, as Lua does."""

    name = "heka-bool-low-32-bits"
    killed_by = ("heka.message/0.10/bool/2-to-the-32",)

    def rows(self) -> Mapping[int, SchemaField]:
        """2^32 is false to it."""
        return {8: evolve(FIELD_SCHEMA[8], read=_low_32)}


class DoubleBigEndian(PatchedTable):
    """Reads the bytes of a double in the wrong order."""

    name = "heka-double-big-endian"
    killed_by = ("heka.message/0.10/double/packed",)

    def rows(self) -> Mapping[int, SchemaField]:
        """Return the schema with the bytes of every double reversed."""
        return {7: changed_slot(FIELD_SCHEMA[7], lambda values: [bits[::-1] for bits in values])}


class FieldNameOptional(ReferenceCodec):
    """Answers a message that holds a Field without name, as Go does."""

    name = "heka-field-nameless"
    missing_rule = True
    killed_by = ("heka.message/0.10/field/nameless",)
    system = "heka"

    def on_rejected(self, rejected: Rejected, request: Request) -> Outcome:
        """Accept, with nothing of the message."""
        if rejected.detail != "field_missing_name":
            return refused_outcome(rejected)
        return Accepted(rejected.before, len(request.data))


class SeverityDefault(ReferenceCodec):
    """Fills in severity 7 where there is none."""

    name = "heka-severity-default"
    killed_by = ("heka.message/0.10/message/minimal",)
    system = "heka"

    def patch_value(self, value: Json, request: Request, data: bytes) -> Json:
        """Replace null by the default of the schema."""
        del request, data
        for part in walk(value):
            if part.get("severity", "") is None:
                part["severity"] = "7"
        return value


class SniffsSnappy(ReferenceCodec):
    """Tries snappy on every message, and takes the bytes as they are if that fails."""

    name = "heka-sniffs-snappy"
    killed_by = ("heka.message/0.10/snappy/plain-that-inflates",)
    system = "heka"

    def read(self, row: Format, data: bytes, options: Options) -> Decoded:
        """Whatever inflates was compressed."""
        try:
            return super().read(row, data, evolve(options, compression="snappy"))
        except Rejected as rejected:
            if rejected.cls == "decompress-failed":
                return super().read(row, data, options)
            raise


# --- encoders ---


class ArrayReversed(ReferenceCodec):
    """Writes the values of a Field from the last to the first."""

    name = "heka-encode-array-order"
    killed_by = ("heka.message/0.10/encode/strings-in-order",)
    system = "heka"

    def patch_value_to_write(self, value: Json, request: Request) -> Json:
        """Reverse every array of values."""
        del request
        for part in walk(value):
            part.update(
                {
                    name: rows[::-1]
                    for name, rows in part.items()
                    if name.startswith("value_") and isinstance(rows, list)
                }
            )
        return value


# --- parts ---


def _wide(slot: SchemaField) -> Callable[[Reader, WireField, str], int]:
    def read(reader: Reader, wire: WireField, name: str) -> int:
        value: int = slot.read(reader, wire, name)
        return wire.value if wire.value >> 32 == 0 else value

    return read


def _first_byte(reader: Reader, wire: WireField, name: str) -> list[bool]:
    if wire.wire == VARINT:
        return [reader.data[wire.start] != 0]
    return [byte != 0 for byte in reader.take(name, wire.length)]


def _low_32(reader: Reader, wire: WireField, name: str) -> list[bool]:
    if wire.wire == VARINT:
        return [wire.value & 0xFFFF_FFFF != 0]
    return [byte != 0 for byte in reader.take(name, wire.length)]
