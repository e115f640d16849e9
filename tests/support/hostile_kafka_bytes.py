"""Kafka bytes for the tests of the peers, made with struct and checksums alone: kafka.md §1.1, §2.1."""

import gzip
import struct
import zlib

import google_crc32c

STAMP = 1_700_000_000_000


def batch(records: bytes, *, count: int = 1, magic: int = 2, attributes: int = 0, last: int = 0) -> bytes:
    """A v2 batch around `records`, its length and checksum right."""
    producer = (-1, -1, -1)
    tail = struct.pack(">hiqqqhii", attributes, last, STAMP, STAMP + last, *producer, count) + records
    crc = google_crc32c.value(tail)
    return struct.pack(">qiibI", 0, 9 + len(tail), 0, magic, crc) + tail


def message(value: bytes | None, *, attributes: int = 0, size: int | None = None, magic: int = 1) -> bytes:
    """A v0 or v1 message without a key and with a wrong `size`, under a correct checksum."""
    stamp = struct.pack(">q", STAMP) if magic else b""
    length = -1 if value is None else len(value)
    body = struct.pack(">bb", magic, attributes) + stamp + struct.pack(">ii", -1, length) + (value or b"")
    crc = zlib.crc32(body)
    return struct.pack(">qiI", 0, len(body) + 4 if size is None else size, crc) + body


def wrapper(inner: bytes, *, magic: int = 1) -> bytes:
    """A gzip wrapper around `inner`."""
    return message(gzip.compress(inner, mtime=0), attributes=1, magic=magic)
