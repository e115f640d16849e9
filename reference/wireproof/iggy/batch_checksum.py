"""The checksum of a whole batch: iggy.md §6."""

from typing import Final

from wireproof.wire.checksums import xxh3_64

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
