"""The checksums of Iggy's messages and batches."""

from typing import Final

from wireproof.schema.layout import ChecksumAlgorithm
from wireproof.wire.checksums import crc32, xxh3_64

CRC32: Final = ChecksumAlgorithm("crc32", crc32)
"""CRC-32 (ISO-HDLC), zero-extended if the field has 64 bits: iggy.md, sections 3.3 and 5."""

XXH3: Final = ChecksumAlgorithm("xxh3-64", xxh3_64)
"""XXH3-64 with seed 0, since 0.8.0: iggy.md, sections 5 and 6."""

BATCH_HEADER_SIZE: Final = 256
"""Size of the header of an Iggy batch, in bytes: iggy.md, section 6."""

FRAME_HEADER_SIZE: Final = 48
"""Size of the header of a message frame in such a batch, in bytes: iggy.md, section 6."""


def batch_checksum(data: bytes) -> int:
    """Return the checksum of a whole Iggy batch: XXH3-64 of header fields and of its messages' checksums.

    The fields are partition_id to batch_length and message_count; then follow the first eight bytes of each
    message frame, which are its checksum: iggy.md, section 6. If the batch has a producer, its presence byte
    and its fields come before the checksums of the messages: iggy.md, section 6.1.
    """
    covered = [data[:40], data[48:52]]
    if data[52:53] == b"\1":
        covered += [data[52:53], data[56:66], data[68:72]]
    at = BATCH_HEADER_SIZE
    while at + FRAME_HEADER_SIZE <= len(data):
        covered.append(data[at : at + 8])
        sizes = (int.from_bytes(data[field : field + 4], "little") for field in (at + 32, at + 36))
        at += FRAME_HEADER_SIZE + sum(sizes)
    return xxh3_64(b"".join(covered))


BATCH_CHECKSUM: Final = ChecksumAlgorithm("iggy-batch", batch_checksum)
"""The checksum of a batch, over its header and the checksums of its messages: iggy.md, section 6."""
