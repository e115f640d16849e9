"""The checksums of all formats. Each is a function from bytes to an unsigned integer."""

import zlib
from typing import Final

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


IGGY_BATCH_HEADER_SIZE: Final = 256
"""Size of the header of an Iggy batch, in bytes: iggy.md, section 6."""

IGGY_FRAME_HEADER_SIZE: Final = 48
"""Size of the header of a message frame in such a batch, in bytes: iggy.md, section 6."""


def iggy_batch_checksum(data: bytes) -> int:
    """Return the checksum of a whole Iggy batch: XXH3-64 of header fields and of its messages' checksums.

    The fields are partition_id to batch_length and message_count; then follow the first eight bytes of each
    message frame, which are its checksum: iggy.md, section 6. If the batch has a producer, its presence byte
    and its fields come before the checksums of the messages: iggy.md, section 6.1.
    """
    covered = [data[:40], data[48:52]]
    if data[52:53] == b"\1":
        covered += [data[52:53], data[56:66], data[68:72]]
    at = IGGY_BATCH_HEADER_SIZE
    while at + IGGY_FRAME_HEADER_SIZE <= len(data):
        covered.append(data[at : at + 8])
        sizes = (int.from_bytes(data[field : field + 4], "little") for field in (at + 32, at + 36))
        at += IGGY_FRAME_HEADER_SIZE + sum(sizes)
    return xxh3_64(b"".join(covered))
