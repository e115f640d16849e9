"""The fuzzing dictionary of each format: constants and boundary values as they are encoded on the wire.

A family has the constants of its formats. The boundary values, and the words of JSON, are common.
"""

import json
from collections.abc import Iterable, Iterator
from struct import pack
from typing import Final

from wireproof.derive.mutate.values_of_type import PartType, encoded_fields, part_type
from wireproof.formats import Format, family_of
from wireproof.wire.writer import Writer

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


def dictionary(fmt: Format) -> tuple[bytes, ...]:
    """Return the distinct words of a format, of 1 to 64 bytes: libFuzzer ignores longer ones."""
    words = (family_of(fmt).dictionary or common_words)(fmt)
    return tuple(dict.fromkeys(word for word in words if 1 <= len(word) <= 64))


def dictionary_text(words: Iterable[bytes]) -> str:
    """Return words as the lines of a dictionary of libFuzzer, which AFL++ and Jazzer read too."""
    return "".join('"' + "".join(f"\\x{byte:02x}" for byte in word) + '"\n' for word in words)


def common_words(fmt: Format) -> Iterator[bytes]:
    """Yield the words of a format whose family has no dictionary: boundary values, or the words of JSON."""
    if fmt.is_json:
        yield from member_names(fmt.value)
        yield from (json.dumps(word).encode() for word in enumerated_words(fmt.value))
        yield from json_words()
        return
    yield from (*edges(">"), *edges("<"))
    yield from (varint("uvarint", step % (1 << 64)) for step in VARLONG_BOUNDARIES)
    yield from (varint("varlong", step) for step in VARLONG_BOUNDARIES)
    yield from INVALID_VARINTS


def edges(order: str) -> Iterator[bytes]:
    """Yield 0, 1, and the limits of signed and unsigned integers of a width, in a byte order of `struct`."""
    for bits, letter in ((8, "B"), (16, "H"), (32, "I"), (64, "Q")):
        half = 1 << bits - 1
        yield from (pack(f"{order}{letter}", number) for number in (0, 1, half - 1, half, 2 * half - 1))


def varint(kind: str, value: int) -> bytes:
    """Return a number as the writer encodes it: `varlong`, with zigzag, or `uvarint`."""
    writer = Writer()
    getattr(writer, kind)("", value)
    return bytes(writer.data)


def member_names(cls: type) -> Iterator[bytes]:
    """Yield the names of the fields of a value class, as members begin."""
    yield from (json.dumps(name).encode() + b":" for name, _ in _all_parts(cls) if name)


def enumerated_words(cls: type) -> list[str]:
    return [word for _, kind in _all_parts(cls) if kind.holds == "word" for word in kind.of]


def json_words() -> Iterator[bytes]:
    """Yield difficult JSON: literals, escapes, deep nesting, and numbers around the limits of integers."""
    yield from (b"null", b"true", b"false", b"-0", b"1e0", b"1.0", b"[]", b"{}", b'""')
    yield from (b"NaN", b"Infinity", b"01", b"+1", b".5", b"1e400", b"-1", b"%d" % ((1 << 53) + 1), b"//")
    yield from (rb"\u0000", rb"\ud800", rb"\ud83d\ude00", rb"\/", rb"\n", rb"\"")
    yield from (b"[[[[[[[[", b"\xef\xbb\xbf", b"\xff")
    yield from (
        b"%d" % number for bits in (31, 32, 63, 64, 127, 128) for number in ((1 << bits) - 1, 1 << bits)
    )


def _all_parts(cls: type) -> Iterator[tuple[str, PartType]]:
    """Yield the fields of a value class and of the classes in it, each class once: one may contain itself."""
    todo: list[tuple[str, PartType]] = list(encoded_fields(cls))
    seen = {cls}
    while todo:
        name, kind = todo.pop()
        yield name, kind
        if kind.holds in ("list", "pair"):
            todo += [("", part_type(hint)) for hint in kind.of]
        elif kind.holds == "value":
            todo += [part for inner in kind.of if inner not in seen for part in encoded_fields(inner)]
            seen.update(kind.of)
