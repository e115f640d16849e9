"""Size and magic of an entry, which are checked before anything else in it. kafka.md §1.4, §2.1, §5.

The offset, the size and the magic are at the same positions in all three formats. This module looks at them
without moving the reader. The codec of the magic then reads them under the field names of its format.
"""

from typing import Final

from attrs import frozen

from wireproof.kafka.batch import BATCH
from wireproof.kafka.layouts import BY_MAGIC
from wireproof.schema.layout import Checksum, Length
from wireproof.wire.reader import Reader
from wireproof.wire.rejection import Rejected

SIZE_AT, MAGIC_AT = BATCH.offset("batchLength"), BATCH.offset("magic")
"""Positions of size and magic in an entry."""

LOG_OVERHEAD: Final = SIZE_AT + 4
"""Bytes of the fields offset and size, which the size does not include."""

HEADER_SIZE_UP_TO_MAGIC: Final = MAGIC_AT + 1
"""Bytes from the start of an entry to its magic, inclusive."""

MIN_SIZE: Final = 14
"""The smallest size of any entry: §1.4 step 2."""

MAX_SIZE: Final = (1 << 31) - 1
"""The largest int32, the default limit of a size."""

OVERFLOWING_SIZE: Final = 2147483636
"""The smallest size for which size + 12 overflows an int32: §1.4 step 7."""

MIN_SIZE_BY_MAGIC: Final = tuple(layout.least_size - LOG_OVERHEAD for layout in BY_MAGIC)
"""The smallest size by magic, 14, 22 and 49: §2.1 for 0 and 1, §1.1 for 2."""

SIZE_FIELD: Final = tuple(
    next(part.name for part in layout.parts if isinstance(part, Length)) for layout in BY_MAGIC
)
"""The name of the size field by magic."""

CHECKSUM: Final = tuple(
    next((layout.offset(part.name), part.algorithm) for part in layout.parts if isinstance(part, Checksum))
    for layout in BY_MAGIC
)
"""The position of the checksum and its algorithm by magic: §1.1, §2.1. It covers all bytes after it."""


@frozen
class SizeAndMagic:
    """Size and magic of an entry.

    Attributes:
        magic: 0, 1 or 2.
        total: size of the whole entry in bytes, its first 12 bytes included.
    """

    magic: int
    total: int


def peek_whole_entry(reader: Reader, max_size: int = MAX_SIZE) -> SizeAndMagic | None:
    """Return size and magic of the entry at the current position, or None if the entry is cut: §1.4.

    The reader does not move.

    Args:
        reader: at the first byte of an entry.
        max_size: the configured maximum of a size (step 3).

    Raises:
        Rejected: `bad-length`, `limit-exceeded`, `bad-magic`, in the order of the steps.
    """
    prefix = peek_size_and_magic(reader, max_size)
    if prefix is None:
        return None
    size, magic = prefix.total - LOG_OVERHEAD, prefix.magic
    if reader.left < prefix.total:  # step 6
        if size >= OVERFLOWING_SIZE:  # step 7. No log contains such an entry, so it can only be cut: I14, I25
            reader.remark("size-overflow", SIZE_FIELD[magic], at=reader.pos + SIZE_AT)
        return None
    if size < MIN_SIZE_BY_MAGIC[magic]:  # §1.5, first row; I10, I11, I23
        raise _bad_size(reader, SIZE_FIELD[magic], size, f"{'BATCH' if magic > 1 else 'LEGACY'}_TOO_SMALL")
    return prefix


def peek_whole_segment_entry(reader: Reader, max_size: int = MAX_SIZE) -> SizeAndMagic | None:
    """Return size and magic of the entry at the current position of a segment file, or None at its end: §1.4.

    Kafka's reader of files looks at nothing of an entry that is cut but its size, and at nothing at all if no
    more bytes are left than those up to the magic.

    Raises:
        Rejected: as `peek_whole_entry`.
    """
    if reader.left <= HEADER_SIZE_UP_TO_MAGIC or _is_cut(reader):
        return None
    return peek_whole_entry(reader, max_size)


def peek_size_and_magic(reader: Reader, max_size: int = MAX_SIZE) -> SizeAndMagic | None:
    """Return size and magic of an entry that may be cut, or None if its first 17 bytes are cut: §1.4.

    Raises:
        Rejected: as `peek_whole_entry`, steps 1 to 5.
    """
    data, start, left = reader.data, reader.pos, reader.end - reader.pos
    if left < LOG_OVERHEAD:  # step 1
        return None
    size = int.from_bytes(data[start + SIZE_AT : start + LOG_OVERHEAD], "big", signed=True)
    if size < MIN_SIZE:  # step 2, even if only 12 bytes are left: I07, I19
        raise _bad_size(reader, "size", size, "SIZE_TOO_SMALL")
    if size > max_size:  # step 3
        text = f"size {size}, {max_size} allowed"
        raise reader.reject("limit-exceeded", "size", text, at=start + SIZE_AT, detail="RESOURCE_LIMIT")
    if left < HEADER_SIZE_UP_TO_MAGIC:  # step 4
        return None
    magic = data[start + MAGIC_AT]
    if magic > 2:  # step 5, also for an entry that is cut: I18
        raise reader.reject("bad-magic", "magic", f"magic {magic}", at=start + MAGIC_AT, detail="BAD_MAGIC")
    return SizeAndMagic(magic, size + LOG_OVERHEAD)


def has_valid_crc(data: bytes | bytearray, at: int, end: int) -> bool:
    """Return True if the CRC of the entry from `at` to `end` is valid; its magic must be valid."""
    crc_at, algorithm = CHECKSUM[data[at + MAGIC_AT]]
    first = at + crc_at + 4
    if first >= end:
        return False
    stored = int.from_bytes(data[at + crc_at : first], "big")
    return stored == algorithm.of(bytes(memoryview(data)[first:end]))


def is_inner_entry_cut(reader: Reader) -> bool:
    """Return True if the next entry of an inner set is cut: §2.2, row "inner set truncated".

    The magic does not matter: unlike the reader of a log, Kafka's reader of inner sets looks at it only when
    all bytes of the message are there. Measured with kafka-clients 4.4.0 on a cut message of magic 5.
    """
    return reader.left < LOG_OVERHEAD or _is_cut(reader)


def _is_cut(reader: Reader) -> bool:
    """Return True if the size of the next entry is possible, and more than is left."""
    field = reader.data[reader.pos + SIZE_AT : reader.pos + LOG_OVERHEAD]
    size = int.from_bytes(field, "big", signed=True)
    return size >= MIN_SIZE and reader.left < size + LOG_OVERHEAD


def _bad_size(reader: Reader, name: str, size: int, detail: str) -> Rejected:
    return reader.reject("bad-length", name, f"size {size}", at=reader.pos + SIZE_AT, detail=detail)
