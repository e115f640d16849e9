"""The checksums of all formats. Each is a function from bytes to an unsigned integer."""

import zlib

import google_crc32c
import xxhash


def crc32c(data: bytes) -> int:
    """Return the CRC-32C (Castagnoli) of a record batch: kafka.md, section 1.1."""
    value: int = google_crc32c.value(data)
    return value


def crc32(data: bytes | memoryview, start: int = 0) -> int:
    """Return the CRC-32 (ISO-HDLC) of a v0 or v1 message (kafka.md, section 2.1) or of gzip data.

    `start` is the CRC of the bytes before `data`.
    """
    return zlib.crc32(data, start)


def xxh32(data: bytes | memoryview) -> int:
    """Return XXH32 with seed 0, the checksum of LZ4 blocks and content: kafka.md, section 3."""
    return xxhash.xxh32_intdigest(data)


def lz4_header_checksum(descriptor: bytes) -> int:
    """Return the header checksum (HC) of an LZ4 frame: the second byte of XXH32 over its descriptor.

    kafka.md, sections 2.3 and 3.
    """
    return xxh32(descriptor) >> 8 & 0xFF


def xxh3_64(data: bytes) -> int:
    """Return XXH3 of 64 bits with seed 0, the checksum of Iggy's messages and batches: iggy.md, section 6."""
    return xxhash.xxh3_64_intdigest(data)
