"""A small parser of Kafka's entries: the compressed bytes of one, and keys and values of what comes out of them.

It checks nothing that it does not need. Bytes that do not have the layout raise `LayoutError`.
"""

import struct
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

CODECS: Final = {1: "gzip", 2: "snappy", 3: "lz4", 4: "zstd"}
MAGIC: Final = 16  # its place, in every entry
V2_HEADER: Final = 61


class LayoutError(Exception):
    """The bytes do not have the layout of records."""


class Region(NamedTuple):
    """The compressed bytes of an entry, their codec, the magic byte, and the record count of a v2 header."""

    magic: int
    codec: str
    data: bytes
    records: int


def region_of(entry: bytes) -> Region | None:
    """Return the compressed bytes of one entry; None if nothing in it is compressed, or it has another layout."""
    if len(entry) <= MAGIC or entry[MAGIC] > 2:
        return None
    magic = entry[MAGIC]
    try:
        attributes = struct.unpack_from(">h", entry, 21)[0] if magic == 2 else entry[17]
        codec = CODECS.get(attributes & 7)
        if codec is None:
            return None
        if magic == 2:
            return Region(2, codec, entry[V2_HEADER:], struct.unpack_from(">i", entry, 57)[0])
        _, value, end = _message(entry, 0)
    except (LayoutError, struct.error, IndexError):
        return None
    return Region(magic, codec, value, 0) if value is not None and end == len(entry) else None


def keys_and_values(region: Region, data: bytes) -> list[Any]:
    """Return the key and value of each record or message of the unpacked bytes, in hex, as values show them."""
    try:
        return list(_records(data, region.records) if region.magic == 2 else _messages(data))
    except (struct.error, IndexError) as error:
        raise LayoutError(str(error)) from None


def _records(data: bytes, count: int) -> Iterator[Any]:
    place = 0
    for _ in range(count):
        size, start = _varint(data, place)
        _, at = _varint(data, start + 1)  # behind the attributes: the delta of the timestamp
        _, at = _varint(data, at)  # the delta of the offset
        key, at = _varint_bytes(data, at)
        value, at = _varint_bytes(data, at)
        number, at = _varint(data, at)
        for _ in range(2 * number):
            _, at = _varint_bytes(data, at)
        if at != start + size:
            raise LayoutError("a record has another length")
        place = at
        yield [_hex(key), _hex(value)]
    if place != len(data):
        raise LayoutError("bytes after the records")


def _messages(data: bytes) -> Iterator[Any]:
    place = 0
    while place < len(data):
        key, value, place = _message(data, place)
        yield [_hex(key), _hex(value)]


def _message(data: bytes, place: int) -> tuple[bytes | None, bytes | None, int]:
    size = struct.unpack_from(">i", data, place + 8)[0]
    at = place + (26 if data[place + MAGIC] else 18)
    key, at = _fixed_bytes(data, at)
    value, at = _fixed_bytes(data, at)
    if at != place + 12 + size:
        raise LayoutError("a message has another length")
    return key, value, at


def _fixed_bytes(data: bytes, at: int) -> tuple[bytes | None, int]:
    return _cut(data, at + 4, struct.unpack_from(">i", data, at)[0])


def _varint_bytes(data: bytes, at: int) -> tuple[bytes | None, int]:
    size, at = _varint(data, at)
    return _cut(data, at, size)


def _cut(data: bytes, at: int, size: int) -> tuple[bytes | None, int]:
    if size == -1:
        return None, at
    if size < 0 or at + size > len(data):
        raise LayoutError("a length goes past the end")
    return data[at : at + size], at + size


def _varint(data: bytes, at: int) -> tuple[int, int]:
    raw = shift = 0
    while True:
        byte = data[at]
        raw |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return raw >> 1 ^ -(raw & 1), at


def _hex(data: bytes | None) -> str | None:
    return None if data is None else data.hex()
