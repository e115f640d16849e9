"""Bugs of Heka and of protobuf libraries, repeated: all of a public list that an input can show."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, ClassVar, Final
from unittest.mock import patch

from attrs import evolve

from tests.mutants.base import walk
from tests.mutants.history_base import Panic, Repeated, Trigger
from tests.mutants.patched_heka import PatchedTable
from wireproof.adapters.contract import Request
from wireproof.cases.outcome import Outcome
from wireproof.formats import Format
from wireproof.heka import header as heka_header
from wireproof.heka import message as heka_message
from wireproof.heka import schema
from wireproof.heka.header import MAX_HEADER, MAX_MESSAGE, HekaHeader, max_message_size
from wireproof.heka.message import FIELD_SCHEMA, MESSAGE_SCHEMA
from wireproof.heka.schema import SchemaField
from wireproof.wire import protobuf
from wireproof.wire.json_values import Json
from wireproof.wire.options import Options
from wireproof.wire.protobuf import LENGTH_DELIMITED, WireField, read_varint
from wireproof.wire.reader import Reader
from wireproof.wire.scan_items import Item
from wireproof.wire.writer import Writer

WRITE_BYTES: Final = protobuf.write_bytes


class HekaBug(Repeated):
    """The base of the Heka mutants that repeat a bug."""

    system: ClassVar[str] = "heka"


# --- bytes and values ---

REQUIRED: Final = b"\x0a\x10" + bytes(16) + b"\x10\x01"
"""The uuid and the timestamp of a message."""


def _sized(number: int, data: bytes) -> bytes:
    """Return a length-delimited field of less than 128 bytes."""
    return bytes((number << 3 | 2, len(data))) + data


def _field(*parts: bytes) -> bytes:
    """Return the bytes of a message with one dynamic field `f`."""
    return REQUIRED + _sized(10, _sized(1, b"f") + b"".join(parts))


def _frame(message: bytes) -> bytes:
    """Return a frame around a message."""
    length, size = bytearray(), len(message)
    while size > 0x7F:
        length.append(size & 0x7F | 0x80)
        size >>= 7
    head = bytes((8, *length, size))
    return bytes((0x1E, len(head))) + head + b"\x1f" + message


def _message_value(**more: Any) -> Json:  # noqa: ANN401 - fields
    names = ("type", "logger", "severity", "payload", "env_version", "pid", "hostname")
    return {"uuid": "00" * 16, "timestamp": "1", **dict.fromkeys(names), "fields": [], **more}


def _payload_of(size: int) -> bytes:
    """Return a message with a payload of 16,384 bytes or more, of `size` bytes in all."""
    length = size - len(REQUIRED) - 4
    varint = bytes((length & 0x7F | 0x80, length >> 7 & 0x7F | 0x80, length >> 14))
    return REQUIRED + b"\x32" + varint + bytes(length)


# --- streams ---


class HeaderKeptAfterOversized(HekaBug):
    """Finds nothing more in a stream behind the header of a message over the limit."""

    name = "heka-1221-header-kept-after-oversized"
    bug = "https://github.com/mozilla-services/heka/issues/1221"
    trigger = Trigger(
        "scan", "heka.stream/0.10", lambda: _frame(_payload_of(MAX_MESSAGE + 1)) + _frame(REQUIRED)
    )

    def items(self, row: Format, chunks: Iterable[bytes], options: Options) -> Iterator[Item]:
        """Turn the rest of the stream into garbage."""
        items = list(super().items(row, chunks, options))
        end = sum(item.length for item in items)
        for item in items:
            if item.kind == "garbage" and item.cls == "limit-exceeded":
                yield evolve(item, length=end - item.at)
                return
            yield item


def _header_in_a_record(
    most: int, encode_header: Callable[..., bytes], writer: Writer, value: HekaHeader, message_length: int
) -> bytes:
    """Write a header if it has room in a record of `most` bytes together with its message."""
    head = encode_header(writer, value, message_length)
    if len(head) + message_length > most:
        raise writer.invalid("message", f"{message_length} bytes")
    return head


def _stream_of_oversized() -> Json:
    """Return a stream of one message that is one byte over the limit."""
    head = dict.fromkeys(("hmac_hash_function", "hmac_signer", "hmac_key_version", "hmac"))
    payload = "00" * (MAX_MESSAGE + 1 - len(REQUIRED) - 4)
    return {"frames": [{"header": {**head}, "message": _message_value(payload=payload)}]}


class RecordLimitForMessage(HekaBug):
    """Writes a message over the limit if its header leaves it the room."""

    name = "heka-1204-record-limit-for-message"
    bug = "https://github.com/mozilla-services/heka/issues/1204"
    trigger = Trigger("encode", "heka.stream/0.10", value=_stream_of_oversized)

    def encode(self, request: Request) -> Outcome:
        """Compare header and message together with the sum of both limits."""
        most = max_message_size(request.options) + MAX_HEADER
        lax = evolve(request, options=evolve(request.options, max_message=most))
        checked = partial(_header_in_a_record, most, heka_header.encode_header)
        with patch.object(heka_header, "encode_header", checked):
            return super().encode(lax)


# --- lengths ---


def _length_in_32_bits(reader: Reader, name: str) -> int:
    """Read a length that wraps when it is added to an address of 32 bits; a header has its own reader."""
    length = read_varint(reader, f"{name}.length")
    if length >> 63:
        raise reader.reject("length-past-end", name, f"length {length}", detail="length_overflow")
    if "header" in reader.path(""):
        return length
    if length >> 31 & 1:
        raise Panic("read before the buffer")
    return length & 0xFFFF_FFFF


class LengthWraps(HekaBug):
    """Takes a length that leads past the end if its sum with the position wraps at 32 bits."""

    name = "lua-sandbox-226-length-wraps"
    bug = "https://github.com/mozilla-services/lua_sandbox/pull/226"
    patches = ((protobuf, "_length", _length_in_32_bits),)
    trigger = Trigger("decode", "heka.message/0.10", REQUIRED + bytes.fromhex("32818080801061"))


def _length_to_skip(reader: Reader, name: str) -> int:
    """Read a length, and slice the message at its sum with the position, which may be negative."""
    length = read_varint(reader, f"{name}.length")
    if length >> 63:
        raise reader.reject("length-past-end", name, f"length {length}", detail="length_overflow")
    if (reader.pos + length) >> 63:
        raise Panic("index out of range")
    return length


class NegativeSkipPanics(HekaBug):
    """Ends its process at a length whose sum with the position is no positive number of 64 bits."""

    name = "gogo-protobuf-579-negative-skip-panics"
    bug = "https://github.com/gogo/protobuf/issues/579"
    patches = ((protobuf, "_length", _length_to_skip),)
    trigger = Trigger("decode", "heka.message/0.10", REQUIRED + bytes.fromhex("32f1ffffffffffffff7f"))


# --- values ---


class EmptyBytesPanic(HekaBug):
    """Ends its process at a bytes value of no bytes."""

    name = "heka-1284-empty-bytes-panic"
    bug = "https://github.com/mozilla-services/heka/issues/1284"
    trigger = Trigger("decode", "heka.message/0.10", _field(b"\x10\x01", _sized(5, b"")))

    def patch_value(self, value: Json, request: Request, data: bytes) -> Json:
        """Panic if there is such a value."""
        del request, data
        if any("" in part.get("value_bytes", ()) for part in walk(value)):
            raise Panic("index out of range")
        return value


class UnpackedRefused(Repeated, PatchedTable):
    """Refuses numbers and booleans that are not packed."""

    name = "heka-1003-unpacked-refused"
    bug = "https://github.com/mozilla-services/heka/pull/1003"
    trigger = Trigger("decode", "heka.message/0.10", _field(b"\x10\x02", b"\x30\x01"))

    def rows(self) -> Mapping[Any, Any]:
        """Allow the packed form only."""
        return {number: evolve(FIELD_SCHEMA[number], wires=(LENGTH_DELIMITED,)) for number in (6, 7, 8)}


def _of_five_bytes(slot: SchemaField) -> SchemaField:
    def read(reader: Reader, wire: WireField, name: str) -> int:
        if wire.end - wire.start > 5:
            raise reader.reject("bad-varint", name, "more than 5 bytes", at=wire.start)
        value: int = slot.read(reader, wire, name)
        return value

    return evolve(slot, read=read)


class NegativeInt32Refused(Repeated, PatchedTable):
    """Refuses an int32 of more than 5 bytes, which every negative one has."""

    name = "bytebuffer-js-3-negative-int32-refused"
    bug = "https://github.com/protobufjs/bytebuffer.js/issues/3"
    table = MESSAGE_SCHEMA
    trigger = Trigger("decode", "heka.message/0.10", REQUIRED + b"\x40" + b"\xff" * 9 + b"\x01")

    def rows(self) -> Mapping[Any, Any]:
        """Read severity and pid so."""
        return {number: _of_five_bytes(MESSAGE_SCHEMA[number]) for number in (5, 8)}


TEXTS: Final = (
    "type",
    "logger",
    "payload",
    "env_version",
    "hostname",
    "name",
    "representation",
    "value_string",
    "hmac_signer",
)
"""The fields of text."""


def _in_16_bits(text: Json) -> Json:
    """Keep 16 bits of each character of a text in hex."""
    if isinstance(text, list):
        return [_in_16_bits(one) for one in text]
    try:
        whole = bytes.fromhex(text).decode() if isinstance(text, str) else ""
    except UnicodeDecodeError:
        return text
    if not whole:
        return text
    return "".join(chr(ord(one) & 0xFFFF) for one in whole).encode(errors="surrogatepass").hex()


class CharactersIn16Bits(HekaBug):
    """Keeps 16 bits of each character of a text, and so reads another one for each beyond U+FFFF."""

    name = "protobuf-js-123-characters-in-16-bits"
    bug = "https://github.com/protobufjs/protobuf.js/issues/123"
    trigger = Trigger("decode", "heka.message/0.10", REQUIRED + _sized(6, bytes.fromhex("f09f90b1")))

    def patch_value(self, value: Json, request: Request, data: bytes) -> Json:
        """Garble the texts of a value."""
        del request, data
        for part in walk(value):
            part.update({name: _in_16_bits(part[name]) for name in TEXTS if part.get(name)})
        return value


# --- writing ---


class BufferOverflow(Exception):  # noqa: N818 - named for what the client meets
    """A write past the end of the buffer."""


def _room_for_one_byte_of_length(writer: Writer, name: str, number: int, data: bytes) -> None:
    """Make room for a text as if its length took one byte; a buffer of twice the size may have more room."""
    capacity = 16
    while capacity < writer.pos:
        capacity *= 2
    text = name.rpartition(".")[2].partition("[")[0] in TEXTS
    if text and len(data) > 0x7F and writer.pos + 1 + len(data) > 2 * capacity:
        raise BufferOverflow(name)
    WRITE_BYTES(writer, name, number, data)


class RoomForOneByteOfLength(HekaBug):
    """Fails to write a text of more than 127 bytes, for whose length it makes room for one byte."""

    name = "bytebuffer-js-20-room-for-one-byte-of-length"
    bug = "https://github.com/protobufjs/bytebuffer.js/issues/20"
    patches = tuple(
        (module, "write_bytes", _room_for_one_byte_of_length) for module in (heka_message, schema)
    )
    trigger = Trigger("encode", "heka.message/0.10", value=_message_value(payload="61" * 128))


MUTANTS: Final[dict[str, type[Repeated]]] = {
    cls.name: cls
    for cls in (
        HeaderKeptAfterOversized,
        RecordLimitForMessage,
        LengthWraps,
        NegativeSkipPanics,
        EmptyBytesPanic,
        UnpackedRefused,
        NegativeInt32Refused,
        CharactersIn16Bits,
        RoomForOneByteOfLength,
    )
}
