"""The checksums of the formats, each a function from bytes to an unsigned integer."""

import zlib
from typing import Final

import google_crc32c
import xxhash


def crc32c(data: bytes) -> int:
    """CRC-32C (Castagnoli) of a record batch: kafka.md, section 1.1."""
    value: int = google_crc32c.value(data)
    return value


def crc32(data: bytes | memoryview, start: int = 0) -> int:
    """CRC-32 (ISO-HDLC) of a legacy message (kafka.md, section 2.1) and of gzip; `start`: the CRC so far."""
    return zlib.crc32(data, start)


def xxh32(data: bytes | memoryview) -> int:
    """XXH32 with seed 0, of LZ4 blocks and contents: kafka.md, section 3."""
    return xxhash.xxh32_intdigest(data)


def lz4_header_byte(descriptor: bytes) -> int:
    """The second byte of XXH32 over an LZ4 frame descriptor: kafka.md, sections 2.3 and 3."""
    return xxh32(descriptor) >> 8 & 0xFF


def xxh3_64(data: bytes) -> int:
    """XXH3, 64 bits, with seed 0, of Iggy's batches: iggy.md."""
    return xxhash.xxh3_64_intdigest(data)


BATCH_HEAD: Final = 256
FRAME_HEAD: Final = 48
"""Bytes of the headers of an Iggy batch and of a frame in it: iggy.md, section 6."""


def iggy_batch(data: bytes) -> int:
    """XXH3-64 of a batch from its first byte to its last: its fields and the checksums of its frames.

    iggy.md, section 6: partition_id to batch_length, message_count, then the first eight bytes of each frame.
    """
    parts = [data[:40], data[48:52]]
    at = BATCH_HEAD
    while at + FRAME_HEAD <= len(data):
        parts.append(data[at : at + 8])
        sizes = (int.from_bytes(data[at + place : at + place + 4], "little") for place in (32, 36))
        at += FRAME_HEAD + sum(sizes)
    return xxh3_64(b"".join(parts))
