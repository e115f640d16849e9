"""Heka mutants after bugs of public issue trackers.

See `tracker_base`. Each docstring says what is wrong, where it was so, and which bytes or values show it.
"""

from collections.abc import Mapping
from struct import pack, unpack
from typing import Any, Final

from attrs import evolve

from tests.mutants.base import ReferenceCodec, walk
from tests.mutants.tracker_base import HekaFromTracker
from wireproof.adapters.contract import Request
from wireproof.heka import message
from wireproof.heka.message import FIELD_SCHEMA, DynamicField
from wireproof.heka.schema import SchemaField
from wireproof.wire import protobuf
from wireproof.wire.json_values import Json
from wireproof.wire.layout import ProtoField
from wireproof.wire.protobuf import LENGTH_DELIMITED, WireField
from wireproof.wire.reader import Reader
from wireproof.wire.writer import Writer, encode_uvarint

# --- reading: heka.md, section 4 ---


def _packed_only(slot: SchemaField) -> SchemaField:
    def read(reader: Reader, wire: WireField, name: str) -> Any:  # noqa: ANN401 - as the row reads it
        found = slot.read(reader, wire, name)
        return found if wire.wire == LENGTH_DELIMITED else []

    return evolve(slot, read=read)


NUMBER_ARRAYS: Final = (6, 7, 8)
"""The numbers of the arrays of integers, doubles and bools."""


class UnpackedLost(HekaFromTracker):
    """Loses the numbers of a Field that are not packed, as the code did that gogo made for Heka.

    Trigger: a Field with one integer in a field of its own.
    """

    name = "tracker-heka-unpacked-lost"
    link = "https://github.com/gogo/protobuf/issues/21"
    patches = (
        (
            message,
            "FIELD_SCHEMA",
            {**FIELD_SCHEMA, **{number: _packed_only(FIELD_SCHEMA[number]) for number in NUMBER_ARRAYS}},
        ),
    )


_length = protobuf._length  # noqa: SLF001 - the part that is wrong in the mutant

BYTES_FIELDS: Final = frozenset({"uuid", "value_bytes", "hmac"})


def _length_at_most_left(reader: Reader, name: str) -> int:
    length = _length(reader, name)
    return min(length, reader.left) if name in BYTES_FIELDS else length


class CutBytesTaken(HekaFromTracker):
    """Takes as many bytes as there are if a field of bytes claims more, as ProtoBuf.js did.

    Trigger: a Field whose last value of bytes has fewer bytes than its length says.
    """

    name = "tracker-heka-cut-bytes-taken"
    link = "https://github.com/protobufjs/protobuf.js/pull/64"
    patches = ((protobuf, "_length", _length_at_most_left),)


# --- writing: heka.md, section 1 ---

_write_field, _write_array = message._write_field, message._write_array  # noqa: SLF001 - as above


def _write_bytes_untyped(writer: Writer, field: DynamicField) -> None:
    if field.value_type != "BYTES" or field.representation is not None:
        _write_field(writer, field)
        return
    inner = Writer(scope=writer.scope)
    _write_field(inner, field)
    named = 1 + len(encode_uvarint(len(field.name))) + len(field.name)
    writer.put("", bytes(inner.data[:named] + inner.data[named + 2 :]))


class WritesBytesUntyped(HekaFromTracker):
    """Leaves out the type of a Field of bytes without a representation, so that it counts as STRING.

    The encoder of lua_sandbox did. Trigger: a Field of type BYTES that has no representation.
    """

    name = "tracker-heka-writes-bytes-untyped"
    link = "https://github.com/mozilla-services/lua_sandbox/issues/79"
    patches = ((message, "_write_field", _write_bytes_untyped),)


class WritesPayloadToNul(HekaFromTracker):
    """Writes a payload up to its first zero byte, as the output of lua_sandbox did.

    Trigger: a payload with a zero byte inside.
    """

    name = "tracker-heka-writes-payload-to-nul"
    link = "https://github.com/mozilla-services/lua_sandbox/pull/61"

    def patch_value_to_write(self, value: Json, request: Request) -> Json:
        """Cut the payloads of a copy."""
        del request
        for part in walk(value):
            if isinstance(part.get("payload"), str):
                part["payload"] = bytes.fromhex(part["payload"]).partition(b"\0")[0].hex()
        return value


LONG_ARRAY: Final = 3


def _write_last_first(writer: Writer, part: ProtoField, values: tuple[Any, ...]) -> None:
    long = len(values) >= LONG_ARRAY
    _write_array(writer, part, (*values[-1:], *values[:-1]) if long else values)


class WritesArraysOutOfOrder(HekaFromTracker):
    """Writes the values of a longer array out of order, as lua_sandbox did, which walked over a hash table.

    Trigger: a Field with the integers 1, 2 and 3.
    """

    name = "tracker-heka-writes-arrays-out-of-order"
    link = "https://github.com/mozilla-services/lua_sandbox/pull/222"
    patches = ((message, "_write_array", _write_last_first),)


def _pack_floats(_writer: Writer, _name: str, values: tuple[bytes, ...]) -> bytes:
    return b"".join(pack("<f", unpack(">d", bits)[0]) for bits in values)


class WritesDoublesShort(HekaFromTracker):
    """Writes the doubles of a Field in four bytes each.

    The thread of heka-node only says that ProtoBuf.js wrote arrays of doubles wrongly, not which bytes.
    Trigger: a Field with the double 0.25.
    """

    name = "tracker-heka-writes-doubles-short"
    link = "https://github.com/mozilla-services/heka-node/issues/5"
    patches = ((message, "_PACKERS", {**message._PACKERS, "double": _pack_floats}),)  # noqa: SLF001 - as above


MUTANTS: Final[Mapping[str, type[ReferenceCodec]]] = {
    made.name: made
    for made in (
        UnpackedLost,
        CutBytesTaken,
        WritesBytesUntyped,
        WritesPayloadToNul,
        WritesArraysOutOfOrder,
        WritesDoublesShort,
    )
}
"""Name to class."""
