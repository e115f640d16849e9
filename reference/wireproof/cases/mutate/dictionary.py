"""The fuzzing dictionary of each format: constants and boundary values as they are encoded on the wire.

Constants come from the tables of the codecs if these have them; others have a citation.
"""

import json
from collections.abc import Iterator
from struct import pack
from typing import Final

from wireproof.cases.mutate.edit_sites import PartType, encoded_fields, part_type
from wireproof.formats import Format
from wireproof.heka import header
from wireproof.heka import message as heka_message
from wireproof.heka.frame import RECORD_SEPARATOR, UNIT_SEPARATOR
from wireproof.iggy.header_kinds import HEADER_KINDS
from wireproof.iggy.identifier import TAGS
from wireproof.iggy.message import MESSAGE_STATES
from wireproof.kafka.attribute_bits import CONTROL, DELETE_HORIZON, LOG_APPEND_TIME, TRANSACTIONAL
from wireproof.wire.compression import COMPRESSION_CODECS
from wireproof.wire.writer import Writer

LONGEST_WORD: Final = 64
"""The largest size of a word, in bytes: libFuzzer ignores longer ones."""

BOUNDARIES: Final = {
    8: (0, 1, 0x7F, 0x80, 0xFF),
    16: (0, 1, 0x7FFF, 0x8000, 0xFFFF),
    32: (0, 1, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF),
    64: (0, 1, 0x7FFF_FFFF_FFFF_FFFF, 1 << 63, (1 << 64) - 1),
}
"""Number of bits to boundary values: 0, 1, the limits of the signed range, the largest unsigned number."""

VARINT_BOUNDARIES: Final = (0, 1, -1, 63, 64, -64, -65, 127, 128, 8191, 8192, (1 << 31) - 1, -(1 << 31))
"""Numbers at which a varint takes one more byte, and the limits of 32 bits."""

VARLONG_BOUNDARIES: Final = (*VARINT_BOUNDARIES, (1 << 63) - 1, -(1 << 63))

INVALID_VARINTS: Final = (
    b"\x80\x00",
    b"\x80\x80\x80\x80\x00",
    b"\xff\xff\xff\xff\x1f",
    b"\x80" * 5,
    b"\xff" * 10,
)
"""Varints with more bytes than they need, or without an end: kafka.md §4, heka.md, section 4."""


COMPUTED_MEMBERS: Final = (
    b"header",
    b"user_headers",
    b"user_headers_length",
    b"payload_length",
    b"reserved",
    b"count",
    b"checksum",
)
"""Members of JSON bodies that are not fields of a value: iggy.md, section 8."""


def dictionary(fmt: Format) -> tuple[bytes, ...]:
    """Return the distinct words of a format in a fixed order. A word has 1 to 64 bytes."""
    return tuple(dict.fromkeys(word for word in _words(fmt) if 1 <= len(word) <= LONGEST_WORD))


def _words(fmt: Format) -> Iterator[bytes]:
    match fmt.name.partition(".")[0]:
        case "kafka":
            yield from _edges(">")
            yield from _kafka(fmt)
        case "iggy" if ".json." in fmt.name:
            yield from _json(fmt)
        case "iggy":
            yield from _edges("<")
            yield from _iggy()
        case _:
            yield from _heka()


def _edges(order: str) -> Iterator[bytes]:
    """Yield boundary values of integers of fixed width, in the byte order of the system."""
    for bits, numbers in BOUNDARIES.items():
        letter = {8: "B", 16: "H", 32: "I", 64: "Q"}[bits]
        yield from (pack(f"{order}{letter}", number) for number in numbers)


def _varint(kind: str, value: int) -> bytes:
    writer = Writer()
    getattr(writer, kind)("", value)
    return bytes(writer.data)


# --- kafka ---


def _kafka(fmt: Format) -> Iterator[bytes]:
    """Yield magics, attributes (§1.2, §2.1), control records (§1.9), varints (§4), compressed data (§3)."""
    yield from (bytes([magic]) for magic in range(4))
    flags = (
        0,
        LOG_APPEND_TIME,
        TRANSACTIONAL,
        CONTROL,
        DELETE_HORIZON,
        CONTROL | TRANSACTIONAL,
        LOG_APPEND_TIME | DELETE_HORIZON,
    )
    yield from (pack(">h", flag | codec) for flag in flags for codec in range(6))
    yield from (pack(">hh", 0, kind) for kind in range(7))
    yield from (pack(">qhi", -1, -1, -1), pack(">qhi", 7, 0, (1 << 31) - 1))
    yield from (_varint("varlong", step) for step in VARLONG_BOUNDARIES)
    yield from INVALID_VARINTS
    heads = [codec.pack(b"") for codec in COMPRESSION_CODECS.values()]
    yield from (head[:size] for head in heads for size in (4, 8, len(head)))
    if fmt.revision != "v2":  # §2.1: the message header of the old formats
        yield from (bytes([magic, codec]) + b"\xff" * 4 for magic in (0, 1) for codec in range(5))


# --- iggy ---


def _iggy() -> Iterator[bytes]:
    """Yield tags (§2.2), kinds with the size of their values (§2.3), states (§3.3), and invalid UTF-8."""
    yield from (bytes([code]) for code in TAGS)
    yield from (bytes([kind.code]) + pack("<I", kind.size or 1) for kind in HEADER_KINDS)
    yield from (bytes([code]) for code in MESSAGE_STATES)
    yield pack("<I", 1) + b"k"
    yield from (b"\xc3\xa9", b"\xff\xfe", b"\xed\xa0\x80", bytes(16), b"\xff" * 16)


def _json(fmt: Format) -> Iterator[bytes]:
    """Yield the names of members, the words of enumerations, and difficult JSON: §8."""
    yield from (json.dumps(name).encode() + b":" for name in _names(fmt.value))
    yield from (b'"key":{"kind":"raw","value":"dg=="}', b'"kind":', b'"value":', b'"headers":null')
    yield from (b'"%s":' % name for name in COMPUTED_MEMBERS)
    yield from (json.dumps(word).encode() for word in _enumerated_words(fmt.value))
    yield from (json.dumps(kind.name).encode() for kind in HEADER_KINDS)
    yield from (b"null", b"true", b"false", b"-0", b"1e0", b"1.0", b"[]", b"{}", b'""', b'"AA=="', b'"AB=="')
    yield from (rb"\u0000", rb"\ud800", rb"\ud83d\ude00", rb"\/", b"[[[[[[[[", b"\xef\xbb\xbf", b"\xff")
    yield from (
        b"%d" % number for bits in (31, 32, 63, 64, 127, 128) for number in ((1 << bits) - 1, 1 << bits)
    )


def _all_parts(cls: type) -> Iterator[tuple[str, PartType]]:
    """Yield the fields of a value class and of the classes in it. No class contains itself."""
    todo: list[tuple[str, PartType]] = list(encoded_fields(cls))
    while todo:
        name, kind = todo.pop()
        yield name, kind
        if kind.holds in ("list", "pair"):
            todo += [("", part_type(hint)) for hint in kind.of]
        elif kind.holds == "value":
            todo += [part for inner in kind.of for part in encoded_fields(inner)]


def _names(cls: type) -> list[str]:
    """Return the names of the fields, and `checksum`, a member that is computed."""
    return [*(name for name, _ in _all_parts(cls) if name), "checksum"]


def _enumerated_words(cls: type) -> list[str]:
    """Return the words of the enumerations in a value class."""
    return [word for _, kind in _all_parts(cls) if kind.holds == "word" for word in kind.of]


# --- heka ---

SIGNERS: Final = (b"test", b"test_1", b"vic", b"trusted_signer", b"some_key", b"testkey")
"""The signers and keys in the examples of heka.md, section 3."""


def _heka() -> Iterator[bytes]:
    """Yield separators, headers, keys of fields and varints: heka.md, sections 1 to 4."""
    head = bytes([RECORD_SEPARATOR])
    yield from (head, bytes([UNIT_SEPARATOR]), b"\x08", head + b"\x02\x08\x14\x1f", b"\x1e\x02\x08\x00\x1f")
    yield from SIGNERS
    yield b"\x22\x04test\x28\x01\x32\x10"
    yield from (_varint("uvarint", number << 3 | kind) for number in FIELD_NUMBERS for kind in (0, 1, 2, 5))
    yield _UUID_FIELD
    yield from (_varint("uvarint", step % (1 << 64)) for step in VARLONG_BOUNDARIES)
    yield from INVALID_VARINTS
    yield from (b"\xc0\x80", b"\xed\xa0\x80", b"\xff", b"\xc3\x9f")


FIELD_NUMBERS: Final = range(
    1, max(*heka_message.MESSAGE_SCHEMA, *heka_message.FIELD_SCHEMA, *header.HEADER_SCHEMA) + 3
)
"""The protobuf field numbers of all messages of Heka (`fields` is 10), and unused numbers after them."""

_UUID_FIELD: Final = bytes((1 << 3 | 2, heka_message.UUID_SIZE)) + bytes(range(16))
