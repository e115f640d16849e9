"""Heka codecs with a bug of Heka or of a protobuf library: `bugs.toml`."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from struct import pack, unpack
from typing import Any, Final
from unittest.mock import patch

from attrs import evolve

from tests.mutants.base import REFERENCE, Failed, Panic, in_codec, mutant, patched, walk
from tests.mutants.heka.helpers import PatchedHeka, ReadArray, in_arrays, in_fields
from wireproof import formats
from wireproof.adapters.contract import Request
from wireproof.cases.outcome import Outcome
from wireproof.formats import Format
from wireproof.heka import stream
from wireproof.heka.message import FIELD, MESSAGE, VALUE_ARRAYS, DynamicField
from wireproof.heka.stream import MAX_HEADER, HekaHeader, max_message_size
from wireproof.wire import protobuf
from wireproof.wire.json_values import Json
from wireproof.wire.options import Options
from wireproof.wire.protobuf import LENGTH_DELIMITED, VARINT, WireField, read_varint
from wireproof.wire.reader import Reader
from wireproof.wire.scan_items import Item
from wireproof.wire.writer import Writer, encode_uvarint

WRITE_BYTES: Final = protobuf.write_bytes


# --- streams ---


@mutant(PatchedHeka, "items", "heka-1221-header-kept-after-oversized")
def header_kept_after_oversized(row: Format, chunks: Iterable[bytes], options: Options) -> Iterator[Item]:
    """Finds nothing more in a stream behind the header of a message over the limit."""
    items = list(formats.scan(row, chunks, options))
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


@mutant(PatchedHeka, "encode", "heka-1204-record-limit-for-message")
def record_limit_for_message(request: Request) -> Outcome:
    """Writes a message over the limit if its header leaves it the room."""
    most = max_message_size(request.options) + MAX_HEADER
    lax = evolve(request, options=evolve(request.options, max_message=most))
    checked = partial(_header_in_a_record, most, stream.encode_header)
    with patch.object(stream, "encode_header", checked):
        return REFERENCE.encode(lax)


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


def _length_to_skip(reader: Reader, name: str) -> int:
    """Read a length, and slice the message at its sum with the position, which may be negative."""
    length = read_varint(reader, f"{name}.length")
    if length >> 63:
        raise reader.reject("length-past-end", name, f"length {length}", detail="length_overflow")
    if (reader.pos + length) >> 63:
        raise Panic("index out of range")
    return length


# --- values ---


@mutant(PatchedHeka, "patch_value", "heka-1284-empty-bytes-panic")
def empty_bytes_panic(value: Json) -> None:
    """Ends its process at a bytes value of no bytes."""
    if any("" in part.get("value_bytes", ()) for part in walk(value)):
        raise Panic("index out of range")


INT32_FIELDS: Final = {5: "severity", 8: "pid"}


def _of_five_bytes(reader: Reader, field: WireField) -> WireField:
    if field.number in INT32_FIELDS and field.wire == VARINT and field.length > 5:
        raise reader.reject("bad-varint", INT32_FIELDS[field.number], "more than 5 bytes", at=field.start)
    return field


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


@mutant(PatchedHeka, "patch_value", "protobuf-js-123-characters-in-16-bits")
def characters_in_16_bits(value: Json) -> None:
    """Keeps 16 bits of each character of a text, and so reads another one for each beyond U+FFFF."""
    for part in walk(value):
        part.update({name: _in_16_bits(part[name]) for name in TEXTS if part.get(name)})


# --- writing ---


def _room_for_one_byte_of_length(writer: Writer, name: str, number: int, data: bytes) -> None:
    """Make room for a text as if its length took one byte; a buffer of twice the size may have more room."""
    capacity = 16
    while capacity < writer.pos:
        capacity *= 2
    text = name.rpartition(".")[2].partition("[")[0] in TEXTS
    if text and len(data) > 0x7F and writer.pos + 1 + len(data) > 2 * capacity:
        raise Failed(name)
    WRITE_BYTES(writer, name, number, data)


# --- reading: heka.md, section 4 ---


def _packed_kept(read_array: ReadArray) -> ReadArray:
    def read(reader: Reader, name: str, field: WireField) -> list[Any]:
        found = read_array(reader, name, field)
        return found if field.wire == LENGTH_DELIMITED else []

    return read


_length = protobuf._length  # noqa: SLF001 - the part that is wrong in the mutant

BYTES_FIELDS: Final = frozenset({"uuid", "value_bytes", "hmac"})


def _length_at_most_left(reader: Reader, name: str) -> int:
    length = _length(reader, name)
    return min(length, reader.left) if name in BYTES_FIELDS else length


# --- writing: heka.md, section 1 ---

WriteField = Callable[[Writer, DynamicField, Options], None]


def _bytes_untyped(write: WriteField) -> WriteField:
    def write_field(writer: Writer, field: DynamicField, options: Options) -> None:
        if field.value_type != "BYTES" or field.representation is not None:
            write(writer, field, options)
            return
        inner = Writer(scope=writer.scope)
        write(inner, field, options)
        named = 1 + len(encode_uvarint(len(field.name))) + len(field.name)
        writer.put("", bytes(inner.data[:named] + inner.data[named + 2 :]))

    return write_field


@mutant(PatchedHeka, "patch_value_to_write", "tracker-heka-writes-payload-to-nul")
def writes_payload_to_nul(value: Json) -> None:
    """Writes a payload up to its first zero byte, as the output of lua_sandbox did."""
    for part in walk(value):
        if isinstance(part.get("payload"), str):
            part["payload"] = bytes.fromhex(part["payload"]).partition(b"\0")[0].hex()


LONG_ARRAY: Final = 3


def _last_first(write: WriteField) -> WriteField:
    def write_field(writer: Writer, field: DynamicField, options: Options) -> None:
        arrays = {name: getattr(field, name) for name in VALUE_ARRAYS}
        long = {name: values for name, values in arrays.items() if len(values) >= LONG_ARRAY}
        changed: dict[str, Any] = {name: (*values[-1:], *values[:-1]) for name, values in long.items()}
        write(writer, evolve(field, **changed), options)

    return write_field


def _pack_floats(pack_numbers: Callable[..., bytes]) -> Callable[..., bytes]:
    def packed(writer: Writer, name: str, kind: str, values: tuple[Any, ...]) -> bytes:
        if kind != "double":
            return pack_numbers(writer, name, kind, values)
        return b"".join(pack("<f", unpack(">d", bits)[0]) for bits in values)

    return packed


# --- other parts in the modules of the reference ---

patched(
    PatchedHeka,
    {
        "lua-sandbox-226-length-wraps": (
            "Takes a length that leads past the end if its sum with the position wraps at 32 bits.",
            ((protobuf, "_length", _length_in_32_bits),),
        ),
        "gogo-protobuf-579-negative-skip-panics": (
            "Ends its process at a length whose sum with the position is no positive number of 64 bits.",
            ((protobuf, "_length", _length_to_skip),),
        ),
        "bytebuffer-js-3-negative-int32-refused": (
            "Refuses an int32 of more than 5 bytes, which every negative one has.",
            in_fields(MESSAGE, _of_five_bytes),
        ),
        "bytebuffer-js-20-room-for-one-byte-of-length": (
            "Fails to write a text of more than 127 bytes, for whose length it makes room for one byte.",
            tuple(
                patch_of_codec
                for struct in (MESSAGE, FIELD, stream.HEADER)
                for patch_of_codec in in_codec(struct, _write_bytes=lambda _: _room_for_one_byte_of_length)
            ),
        ),
        "tracker-heka-unpacked-lost": (
            "Loses the numbers of a Field that are not packed, as the code did that gogo made for Heka.",
            in_arrays(_packed_kept),
        ),
        "tracker-heka-cut-bytes-taken": (
            "Takes as many bytes as there are if a field of bytes claims more, as ProtoBuf.js did.",
            ((protobuf, "_length", _length_at_most_left),),
        ),
        "tracker-heka-writes-bytes-untyped": (
            "Leaves out the type of a Field of bytes without a representation, so that it counts as STRING.",
            in_codec(MESSAGE, write_fields=_bytes_untyped),
        ),
        "tracker-heka-writes-arrays-out-of-order": (
            "Writes the values of a longer array out of order.",
            in_codec(MESSAGE, write_fields=_last_first),
        ),
        # The thread of heka-node only says that ProtoBuf.js wrote arrays of doubles wrongly, not which bytes.
        "tracker-heka-writes-doubles-short": (
            "Writes the doubles of a Field in four bytes each.",
            in_codec(FIELD, _pack=_pack_floats),
        ),
    },
)
