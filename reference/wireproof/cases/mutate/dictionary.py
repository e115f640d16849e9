"""The words of each format, for fuzzers that splice them into bytes: constants and edges, as on the wire.

What a codec's own table says is taken from that table; what the rule books alone say is under its citation.
"""

import json
from collections.abc import Iterator
from struct import pack
from typing import Final

from wireproof.cases.mutate.sites import Kind, kind_of, parts_of
from wireproof.formats import Format
from wireproof.heka import header
from wireproof.heka import message as heka_message
from wireproof.heka.frame import RECORD_SEPARATOR, UNIT_SEPARATOR
from wireproof.iggy.identifier import TAGS
from wireproof.iggy.kinds import KINDS
from wireproof.iggy.layout import STATES
from wireproof.kafka.arithmetic import APPEND_TIME, CONTROL, HORIZON, TRANSACTIONAL
from wireproof.wire.compress import CODECS
from wireproof.wire.writer import Writer

LONGEST: Final = 64
"""Bytes of a word at most: libFuzzer takes no longer ones."""

EDGES: Final = {
    8: (0, 1, 0x7F, 0x80, 0xFF),
    16: (0, 1, 0x7FFF, 0x8000, 0xFFFF),
    32: (0, 1, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF),
    64: (0, 1, 0x7FFF_FFFF_FFFF_FFFF, 1 << 63, (1 << 64) - 1),
}
"""By bits: nothing, one, both ends of the signed range and the largest, as they stand on the wire."""

STEPS: Final = (0, 1, -1, 63, 64, -64, -65, 127, 128, 8191, 8192, (1 << 31) - 1, -(1 << 31))
"""Where a varint takes one more byte, and its ends at 32 bits."""

LONG_STEPS: Final = (*STEPS, (1 << 63) - 1, -(1 << 63))

OVERLONG: Final = (b"\x80\x00", b"\x80\x80\x80\x80\x00", b"\xff\xff\xff\xff\x1f", b"\x80" * 5, b"\xff" * 10)
"""Varints in more bytes than they need, and such as never end: kafka.md §4, heka.md, section 4."""


COMPUTED: Final = (
    b"header",
    b"user_headers",
    b"user_headers_length",
    b"payload_length",
    b"reserved",
    b"count",
    b"checksum",
)
"""Members of JSON bodies that are in no value: iggy.md section 8."""


def dictionary(row: Format) -> tuple[bytes, ...]:
    """The words of a row, each once, in an order that does not change; each of 1 to 64 bytes."""
    return tuple(dict.fromkeys(word for word in _words(row) if 1 <= len(word) <= LONGEST))


def _words(row: Format) -> Iterator[bytes]:
    match row.name.partition(".")[0]:
        case "kafka":
            yield from _edges(">")
            yield from _kafka(row)
        case "iggy" if ".json." in row.name:
            yield from _json(row)
        case "iggy":
            yield from _edges("<")
            yield from _iggy()
        case _:
            yield from _heka()


def _edges(order: str) -> Iterator[bytes]:
    """The integers of fixed width at their edges, in the byte order of the system."""
    for bits, numbers in EDGES.items():
        letter = {8: "B", 16: "H", 32: "I", 64: "Q"}[bits]
        yield from (pack(f"{order}{letter}", number) for number in numbers)


def _varint(kind: str, value: int) -> bytes:
    writer = Writer()
    getattr(writer, kind)("", value)
    return bytes(writer.data)


# --- kafka ---


def _kafka(row: Format) -> Iterator[bytes]:
    """Magics and attributes (§1.2, §2.1), markers (§1.9), varints (§4), heads of packed regions (§3)."""
    yield from (bytes([magic]) for magic in range(4))
    flags = (0, APPEND_TIME, TRANSACTIONAL, CONTROL, HORIZON, CONTROL | TRANSACTIONAL, APPEND_TIME | HORIZON)
    yield from (pack(">h", flag | codec) for flag in flags for codec in range(6))
    yield from (pack(">hh", 0, kind) for kind in range(7))
    yield from (pack(">qhi", -1, -1, -1), pack(">qhi", 7, 0, (1 << 31) - 1))
    yield from (_varint("varlong", step) for step in LONG_STEPS)
    yield from OVERLONG
    heads = [codec.pack(b"") for codec in CODECS.values()]
    yield from (head[:size] for head in heads for size in (4, 8, len(head)))
    if row.revision != "v2":  # §2.1: a head of its own, as the old formats have it
        yield from (bytes([magic, codec]) + b"\xff" * 4 for magic in (0, 1) for codec in range(5))


# --- iggy ---


def _iggy() -> Iterator[bytes]:
    """Tags (§2.2), kinds with the size of their values (§2.3), states (§3.3), and text that is none."""
    yield from (bytes([code]) for code in TAGS)
    yield from (bytes([kind.code]) + pack("<I", kind.size or 1) for kind in KINDS)
    yield from (bytes([code]) for code in STATES)
    yield pack("<I", 1) + b"k"
    yield from (b"\xc3\xa9", b"\xff\xfe", b"\xed\xa0\x80", bytes(16), b"\xff" * 16)


def _json(row: Format) -> Iterator[bytes]:
    """The names of the members, the words of the closed lists, and JSON's own traps: §8."""
    yield from (json.dumps(name).encode() + b":" for name in _names(row.value))
    yield from (b'"key":{"kind":"raw","value":"dg=="}', b'"kind":', b'"value":', b'"headers":null')
    yield from (b'"%s":' % name for name in COMPUTED)
    yield from (json.dumps(word).encode() for word in _closed(row.value))
    yield from (json.dumps(kind.name).encode() for kind in KINDS)
    yield from (b"null", b"true", b"false", b"-0", b"1e0", b"1.0", b"[]", b"{}", b'""', b'"AA=="', b'"AB=="')
    yield from (rb"\u0000", rb"\ud800", rb"\ud83d\ude00", rb"\/", b"[[[[[[[[", b"\xef\xbb\xbf", b"\xff")
    yield from (
        b"%d" % number for bits in (31, 32, 63, 64, 127, 128) for number in ((1 << bits) - 1, 1 << bits)
    )


def _parts(cls: type) -> Iterator[tuple[str, Kind]]:
    """The parts of a value class and of the classes in it; none of these formats holds itself."""
    todo: list[tuple[str, Kind]] = list(parts_of(cls))
    while todo:
        name, kind = todo.pop()
        yield name, kind
        if kind.holds in ("list", "pair"):
            todo += [("", kind_of(hint)) for hint in kind.of]
        elif kind.holds == "value":
            todo += [part for inner in kind.of for part in parts_of(inner)]


def _names(cls: type) -> list[str]:
    """`checksum` is a member that is computed."""
    return [*(name for name, _ in _parts(cls) if name), "checksum"]


def _closed(cls: type) -> list[str]:
    return [word for _, kind in _parts(cls) if kind.holds == "word" for word in kind.of]


# --- heka ---

SIGNERS: Final = (b"test", b"test_1", b"vic", b"trusted_signer", b"some_key", b"testkey")
"""Who signs in the rule book, and with what: heka.md, section 3."""


def _heka() -> Iterator[bytes]:
    """Separators, headers, keys of fields and varints: heka.md, sections 1 to 4."""
    head = bytes([RECORD_SEPARATOR])
    yield from (head, bytes([UNIT_SEPARATOR]), b"\x08", head + b"\x02\x08\x14\x1f", b"\x1e\x02\x08\x00\x1f")
    yield from SIGNERS
    yield b"\x22\x04test\x28\x01\x32\x10"
    yield from (_varint("uvarint", number << 3 | kind) for number in NUMBERS for kind in (0, 1, 2, 5))
    yield _UUID_FIELD
    yield from (_varint("uvarint", step % (1 << 64)) for step in LONG_STEPS)
    yield from OVERLONG
    yield from (b"\xc0\x80", b"\xed\xa0\x80", b"\xff", b"\xc3\x9f")


NUMBERS: Final = range(1, max(*heka_message.MESSAGE, *heka_message.FIELD, *header.HEADER) + 3)
"""Of the fields of every message of the format; `fields` is 10, and the last is one that none has."""

_UUID_FIELD: Final = bytes((1 << 3 | 2, heka_message.UUID)) + bytes(range(16))
